"""`garden worker` with jobs that wait at their fourth document until they must stop.

    python -m tests.upkeep.held_worker --home HOME worker

So a kill or a stop signal always arrives while a job runs.
"""

import itertools
import time
from collections.abc import Callable
from unittest import mock

from garden.files.failpoints import Failpoint, watch_failpoints
from garden.surfaces.cli.main import main
from garden.upkeep import worker
from garden.upkeep.tasks import Job, JobCounts, run_job
from garden.writing.services import Services

DONE_BEFORE = 3
_LOOK_SECONDS = 0.01


def held(job: Job, services: Services, go_on: Callable[[], bool]) -> JobCounts:
    """Run a job that waits at a document while it may go on."""
    documents = itertools.count()

    def hold(step: Failpoint) -> None:
        if step is Failpoint.LOCKED and next(documents) == DONE_BEFORE:
            while go_on():
                time.sleep(_LOOK_SECONDS)

    with watch_failpoints(hold):
        return run_job(job, services, go_on)


if __name__ == "__main__":
    with mock.patch.object(worker, "run_job", held):
        main()
