"""How a garden is doing: its storage, the limits in use, and the last run of each job."""

from collections.abc import Iterator

import pytest

from garden.application import Garden
from garden.files.paths import GardenPath
from garden.gateway.health import LimitUse
from garden.home.folder import Home
from garden.upkeep.job_runs import last_runs
from garden.upkeep.tasks import Job, JobCounts, run_job
from garden.writing.services import Services
from tests.support.planted import NOTES, ada, ok, opened, plant
from tests.support.waiting import until


def test_the_files_of_a_garden_are_counted_aside_and_the_count_is_kept(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    copies = garden.home.path / GardenPath(NOTES).history.text
    copies.mkdir(parents=True)
    (copies / "copy").write_text("one copy")
    (copies / "link").symlink_to(garden.home.path / NOTES)
    reading = garden.health
    until(lambda: reading.read(ada(garden).access, "1d").storage is not None)
    counted = reading.read(ada(garden).access, "1d").storage
    assert counted == (1, (garden.home.path / NOTES).stat().st_size, 1, len("one copy"))
    ok(ada(garden).call("fs.append", {"path": NOTES, "text": "more"}))
    assert reading.read(ada(garden).access, "1d").storage == counted


def test_limits_in_use_are_those_of_the_rules_and_of_every_actor(ready_home: Home) -> None:
    with (ready_home.path / "garden.toml").open("a") as settings:
        settings.write('[gateway.limits]\nactor_hour = 50\nburst = 5\n"fs.list" = 10\n')
    with opened(ready_home) as garden:
        companion, critic = (garden.session("ada", name) for name in ("companion", "critic"))
        for session in (companion, companion, critic):
            ok(session.call("fs.list", {"path": "users/ada"}))
        limits = garden.health.read(companion.access, "1h").limits
    assert {each.actor for each in limits} == {"companion", "critic"}
    assert LimitUse("critic", "fs.list", 60, 1, 15) in limits
    assert LimitUse("companion", None, 3600, 3, 55) in limits
    assert [each.used / each.most for each in limits] == sorted(
        (each.used / each.most for each in limits), reverse=True
    )


def test_the_home_is_for_maintainers(garden: Garden) -> None:
    assert garden.health.read(garden.session("ada", role="agent").access, "1d").home is None
    home = garden.health.read(ada(garden).access, "1d").home
    assert home is not None
    assert home.facts["database_bytes"] > 1_000_000
    assert home.facts["checkpoint_at"] is None


@pytest.mark.parametrize("fails", [False, True])
def test_the_end_of_each_job_is_noted_for_every_process(garden: Garden, *, fails: bool) -> None:
    def steps(_services: Services) -> Iterator[JobCounts]:
        yield JobCounts(settled=2)
        if fails:
            raise RuntimeError

    try:
        run_job(Job("sweep", 1, steps), garden.services)
    except RuntimeError:
        assert fails
    (garden.home.state / "job-adopt.json").write_text("[")
    runs = last_runs(garden.home)
    assert list(runs) == ["sweep"]
    assert runs["sweep"].counts == ({"settled": 2, "failed": 1} if fails else {"settled": 2})


def test_a_job_does_not_fail_because_it_can_t_be_noted(garden: Garden) -> None:
    (garden.home.state / "job-sweep.json").mkdir()
    counts = run_job(Job("sweep", 1, lambda _: iter([JobCounts(settled=1)])), garden.services)
    assert counts == {"settled": 1}
    assert last_runs(garden.home) == {}
