"""Health: the jobs, interrupted changes, the log, storage, calls and rate limits."""

import math
from collections.abc import Iterator
from typing import Any

from garden.gateway.health import Health, JobState
from garden.surfaces.web.console.visits import Page, View, Visit

_PERIODS = {"1h": "Hour", "1d": "Day", "1w": "Week"}
_JOBS = {
    "sweep": "Settles interrupted changes",
    "adopt": "Records edits made outside the tools",
    "forget": "Removes what has expired",
    "verify": "Checks every seal and the log",
    "index": "Makes new text findable",
    "keep": "Keeps whole texts of long histories",
    "embed": "Makes the vectors for meaning",
    "checkpoint": "Signs the transparency log",
}
_SIZES = ("bytes", "KB", "MB", "GB", "TB")
_LEAST_MS, _DECADES = 0.1, 5
_SPANS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def show_health(visit: Visit) -> Page:
    """Show how the garden is doing, and to a maintainer how the home is."""
    period = visit.query.get("period", "1d")
    found = visit.garden.health.read(visit.access, period)
    by_tool = [each for each in found.calls if each.tool]
    by_actor = [each for each in found.calls if each.actor]
    values: dict[str, Any] = {"facts": found.facts, "troubles": found.troubles}
    values |= {"storage": found.storage, "home": found.home, "limits": found.limits}
    values["by"] = {"Tool": by_tool, "Actor": by_actor}
    values |= {"concerns": list(_concerns(found)), "period": period, "periods": _PERIODS, "job_texts": _JOBS}
    values |= {"share": share, "log_place": log_place, "state_of": _state_of}
    return Page("health.html", {**values, "span": span, "size": size, "took": took})


def _concerns(health: Health) -> Iterator[str]:
    """What needs a person, in sentences."""
    home, quarantined = health.home, sum(each.quarantined_at is not None for each in health.troubles)
    if quarantined:
        yield f"Interrupted changes left to a person: {quarantined}."
    elif health.facts["stalled"]:
        yield f"Interrupted changes that are not settled yet: {health.facts['stalled']}."
    if home is None:
        return
    for job in home.jobs:
        kind, state = _state_of(job)
        if kind in ("bad", "warn"):
            yield f"The job {job.name}: {state}."
    if home.facts["free_bytes"] < home.facts["floor_bytes"]:
        yield "The disk is nearly full, so nothing is written."


def _state_of(job: JobState) -> tuple[str, str]:
    """The kind and the words of a job's state."""
    faults = 0 if job.last is None else job.last.counts.get("faults", 0)
    if not job.every_seconds:
        return "", "switched off"
    if job.last is None:
        return "", "has not run yet"
    if job.last.counts.get("failed"):
        return "bad", "failed"
    if faults:
        return "bad", f"found {faults} fault{'s' if faults > 1 else ''}"
    return ("warn", "late") if job.is_late else ("good", "on time")


def span(seconds: int) -> str:
    """A length of time in its largest whole unit."""
    length, unit = next((each for each in _SPANS if seconds % each[0] == 0), (1, "s"))
    return f"{seconds // length} {unit}"


def size(count: float) -> str:
    """A number of bytes, to three digits or so."""
    power = min(4, int(math.log10(max(1, count)) / 3))
    count /= 1000**power
    return f"{count:.{0 if power == 0 or count >= 100 else 1}f} {_SIZES[power]}"


def took(milliseconds: float | None) -> str:
    """A time that calls took."""
    if milliseconds is None:
        return "-"
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def share(part: int, most: int) -> float:
    """A part of the largest, in a hundred; what is not nothing can be seen."""
    return round(max(1.5, 100 * part / most), 1) if part else 0.0


def log_place(milliseconds: float | None) -> float:
    """The place of a time between 0.1 ms and 10 s, in a hundred."""
    place = math.log10(max(milliseconds or 0, _LEAST_MS) / _LEAST_MS) / _DECADES
    return round(100 * min(1.0, place), 1)


VIEWS = (View("GET", "/health", show_health),)
