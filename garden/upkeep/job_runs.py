"""When each job last ran and how that ended: a small file for each, which every process can read."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.home.state_files import write_note


@dataclass(frozen=True)
class JobRun:
    """The last run of a job: when it ended, how long it took, and how often it had each outcome."""

    job: str
    ended_at: datetime
    seconds: float
    counts: Mapping[str, int]


def note_run(home: Home, job: str, seconds: float, counts: Mapping[str, int]) -> None:
    """Note a run that has just ended; a job never fails by it."""
    done = {"job": job, "at": time.time(), "seconds": seconds, "counts": counts}
    with suppress(GardenError):
        write_note(home.state / f"job-{job}.json", json.dumps(done).encode())


def last_runs(home: Home) -> Mapping[str, JobRun]:
    """The last run of each job that has run, by the job's name."""
    return {run.job: run for run in _read(home)}


def _read(home: Home) -> Iterator[JobRun]:
    for file in home.state.glob("job-*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            done = json.loads(file.read_bytes())
            ended_at = datetime.fromtimestamp(done["at"], UTC)
            yield JobRun(done["job"], ended_at, done["seconds"], done["counts"])
