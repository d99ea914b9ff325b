"""The background jobs, and the timer that runs them."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import structlog
from structlog.testing import capture_logs

from garden.application import Garden
from garden.events.database import DatabaseUnavailableError, connection
from garden.events.records import Caller
from garden.files.errors import StorageError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.home.folder import Home
from garden.home.settings import Upkeep
from garden.session import Session
from garden.upkeep.tasks import Job, JobCounts, Timer, jobs, run_job
from garden.writing.services import Services
from garden.writing.write_path import WritePath
from tests.events.test_verifier import tamper
from tests.support.gardens import CRITIC, NOTES, edit_outside, events_of, file_of, ok, plant
from tests.support.planted import ada, opened
from tests.support.served import served
from tests.support.stalled import leave_open
from tests.support.waiting import until

AT_ONCE = Upkeep(sweep_seconds=1, stalled_seconds=0, adopt_seconds=1)
NOT_ALLOWED = "This path is not allowed:"
PART_NOTES = "users/ada/parts/critic/notes.md"
ENDED = {"append_file committed", "append_file failed"}


@contextmanager
def ticking(garden: Garden, *chosen: Job) -> Iterator[Timer]:
    timer = Timer(garden.services, chosen or jobs(AT_ONCE).values())
    timer.start()
    try:
        yield timer
    finally:
        timer.close()


def last_of(garden: Garden, path: str = NOTES) -> str:
    return events_of(ada(garden), path)[-1]


def test_the_timer_settles_sagas_and_adopts_outside_edits(garden: Garden) -> None:
    plant(ada(garden), NOTES, PART_NOTES)
    leave_open(garden, PART_NOTES, "more", written=True)
    edit_outside(garden, NOTES, "# Notes", "# Notes, by hand")
    with ticking(garden) as timer:
        until(lambda: last_of(garden, PART_NOTES) in ENDED)
        until(lambda: last_of(garden) == "external_edit committed")
        until(lambda: {("adopt", "adopted"), ("sweep", "finished")} <= timer.totals.keys())
        assert timer.totals["sweep", "finished"] == 1
        # Counted after each job, also after one that had ended before the sweep had.
        until(lambda: (timer.open_sagas, timer.quarantined_sagas) == (0, 0))
        # Not only at the start.
        leave_open(garden, NOTES, "and more")
        until(lambda: last_of(garden) in ENDED)


def test_a_failing_job_stops_no_other(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    leave_open(garden, NOTES, "more")

    def fail(_services: Services) -> Iterator[JobCounts]:
        raise RuntimeError

    failing = Job("failing", 1, fail)
    with ticking(garden, failing, jobs(AT_ONCE)["sweep"]) as timer:
        until(lambda: last_of(garden) in ENDED)
        until(lambda: timer.totals.get(("failing", "failed"), 0) >= 2)


@pytest.mark.own_database
def test_a_database_that_is_away_for_a_while_is_waited_for(garden: Garden, database: str) -> None:
    plant(ada(garden), NOTES)
    leave_open(garden, NOTES, "more")
    with ExitStack() as stack:
        stack.enter_context(away(database))
        with ticking(garden, jobs(AT_ONCE)["sweep"]) as timer:
            until(lambda: ("sweep", "failed") in timer.totals)
            stack.close()
            until(lambda: last_of(garden) in ENDED)


@contextmanager
def away(database: str) -> Iterator[None]:
    """Close the database to connections, and end those that are open."""
    name = database.partition("?")[0].rpartition("/")[2]
    with connection(database.replace(f"/{name}", "/postgres")) as server:
        server.execute(f'alter database "{name}" with allow_connections false'.encode())
        server.execute(
            b"select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = %s", [name]
        )
        yield
        server.execute(f'alter database "{name}" with allow_connections true'.encode())


def test_a_job_with_interval_0_never_runs_by_itself(garden: Garden) -> None:
    none = Upkeep(sweep_seconds=0, adopt_seconds=0, forget_seconds=0, verify_seconds=0)
    with ticking(garden, *jobs(none).values()) as timer:
        pass
    assert timer.totals == {}


def test_a_job_may_stop_between_its_steps(garden: Garden) -> None:
    taken = []

    def steps(_services: Services) -> Iterator[JobCounts]:
        for number in range(10):
            taken.append(number)
            yield JobCounts(steps=1)

    report = run_job(Job("long", 1, steps), garden.services, lambda: len(taken) < 3)
    assert (report, taken) == (JobCounts(steps=3), [0, 1, 2])


def test_adopting_may_stop_after_each_user(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    plant(garden.session("ben"), "users/ben/notes.md")
    assert list(jobs(AT_ONCE)["adopt"].steps(garden.services)) == [JobCounts(), JobCounts()]


def test_expired_requests_are_deleted_in_one_step_per_batch(
    garden: Garden, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("garden.upkeep.reconciliation._BATCH_REQUESTS", 1)
    plant(ada(garden), NOTES)
    for key in ("one", "two"):
        ok(ada(garden), "fs.append", path=NOTES, text=key, idempotencyKey=key)
    tamper(database, "update garden.idempotency_records set expires_at = now() - interval '1 hour'")
    assert list(jobs(AT_ONCE)["forget"].steps(garden.services)) == [JobCounts(forgotten=1)] * 2


@pytest.fixture
def three(garden: Garden) -> list[Session]:
    """Three users; the last has an outside edit."""
    sessions = [garden.session(user, role="maintainer") for user in ("ada", "bob", "cyd")]
    for session in sessions:
        plant(session, f"users/{session.caller.user_id}/notes.md")
    edit_outside(garden, "users/cyd/notes.md", "# Notes", "# Notes, by hand")
    return sessions


def adopted(garden: Garden, job: Job | None = None) -> tuple[JobCounts, list[tuple[str, str]]]:
    """Run the job; return its counts and the findings it logged."""
    structlog.reset_defaults()
    with capture_logs() as logs:
        report = run_job(job or jobs(AT_ONCE)["adopt"], garden.services)
    return report, [(each["path"], each["reason"]) for each in logs if each["log_level"] == "warning"]


def replace_by_link(garden: Garden, path: str) -> None:
    file_of(garden, path).rename(garden.home.path / "elsewhere")
    file_of(garden, path).symlink_to(garden.home.path / "elsewhere")


def test_a_garden_that_can_t_be_listed_is_logged_once_and_delays_no_other(
    garden: Garden, three: list[Session]
) -> None:
    replace_by_link(garden, "users/bob")
    job = jobs(AT_ONCE)["adopt"]
    report, logged = adopted(garden, job)
    assert report == JobCounts({"adopted": 1, "needs a person": 2})
    assert logged == [
        (
            "users/bob",
            f"This folder can't be listed. {NOT_ALLOWED} something else is in the place of a folder.",
        ),
        ("users/bob/notes.md", f"{NOT_ALLOWED} a link is on the way."),
    ]
    assert events_of(three[2], "users/cyd/notes.md")[-1] == "external_edit committed"
    assert adopted(garden, job) == (JobCounts({"needs a person": 2}), [])


def test_a_folder_that_can_t_be_listed_delays_no_document_beside_it(
    garden: Garden, three: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(three[2], "users/cyd/parts/critic/profile.md")
    whole = GardenFiles.list_folder

    def listed(files: GardenFiles, path: GardenPath) -> tuple[GardenPath, ...]:
        if path.text == "users/cyd/parts":
            raise StorageError("The file system refused: Permission denied.")
        return whole(files, path)

    monkeypatch.setattr(GardenFiles, "list_folder", listed)
    report, logged = adopted(garden)
    assert report == JobCounts({"adopted": 1, "needs a person": 1})
    reason = "This folder can't be listed. The file system refused: Permission denied."
    assert logged == [("users/cyd/parts", reason)]


def test_a_history_that_can_t_be_listed_is_logged_and_delays_no_other(
    garden: Garden, three: list[Session]
) -> None:
    (garden.home.path / "history").mkdir(exist_ok=True)
    (garden.home.path / "history/ada").symlink_to(garden.home.path)
    stray = file_of(garden, f"users/cyd/.new-notes.md-{'0' * 16}")
    stray.write_text("half")
    report, logged = adopted(garden)
    assert report == JobCounts({"adopted": 1, "cleared": 1, "needs a person": 1})
    assert [path for path, _ in logged] == ["history/ada"]
    assert not stray.exists()
    assert len(three) == 3


def test_a_stray_that_can_t_be_removed_is_logged_once_and_delays_no_other(
    garden: Garden, three: list[Session]
) -> None:
    file_of(garden, f"users/ada/.new-notes.md-{'0' * 16}").mkdir()
    job = jobs(AT_ONCE)["adopt"]
    report, logged = adopted(garden, job)
    assert report == JobCounts({"adopted": 1, "needs a person": 1})
    [(path, reason)] = logged
    assert path == NOTES
    assert reason.startswith("A file named like one of its temporary files can't be removed. ")
    assert events_of(three[2], "users/cyd/notes.md")[-1] == "external_edit committed"
    assert adopted(garden, job) == (JobCounts({"needs a person": 1}), [])


@pytest.mark.usefixtures("three")
def test_events_that_no_service_wrote_are_logged_and_hide_no_other_user(
    garden: Garden, database: str
) -> None:
    tamper(database, "update garden.documents set updated_at = 'infinity' where user_id = 'ada'")
    report, logged = adopted(garden)
    assert report == JobCounts({"adopted": 1, "needs a person": 1})
    assert logged == [
        ("users/ada", "Its events are not as they were written. 'garden keys verify' tells more.")
    ]
    tamper(database, "update garden.events set created_at = 'infinity' where user_id = 'ada'")
    assert run_job(jobs(AT_ONCE)["verify"], garden.services) == JobCounts(events=3, faults=1)


@pytest.mark.usefixtures("three")
def test_a_lost_database_ends_the_job_at_once(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def gone(_: WritePath, caller: Caller, path: GardenPath, _search: object) -> None:
        asked.append((caller.user_id, path.text))
        raise DatabaseUnavailableError("The database is not available.")

    monkeypatch.setattr(WritePath, "settle_and_adopt", gone)
    for user in ("ada", "bob"):
        edit_outside(garden, f"users/{user}/notes.md", "# Notes", "# Notes, by hand")
    assert run_job(jobs(AT_ONCE)["adopt"], garden.services) == JobCounts(failed=1)
    assert asked == [("ada", NOTES)]


def test_expired_requests_and_old_notes_of_context_are_deleted(garden: Garden, database: str) -> None:
    plant(ada(garden), NOTES)
    for name in ("old", "new"):
        garden.services.usage.note_given("ada", "companion", [name])
    given = "update garden.recall_given set given_at = given_at - interval '90 days' where passages = '{old}'"
    tamper(database, given)
    for key in ("one", "two"):
        ok(ada(garden), "fs.append", path=NOTES, text=key, idempotencyKey=key)
    tamper(database, "update garden.idempotency_records set expires_at = now() - interval '1 hour'")
    assert run_job(jobs(AT_ONCE)["forget"], garden.services) == JobCounts(forgotten=2)
    with connection(database) as asking:
        assert asking.execute(b"select passages from garden.recall_given").fetchall() == [(["new"],)]


def test_a_fault_in_the_events_is_logged(garden: Garden, database: str) -> None:
    plant(ada(garden), NOTES)
    assert run_job(jobs(AT_ONCE)["verify"], garden.services) == JobCounts(events=1, faults=0)
    tamper(database, "update garden.events set rationale = 'forged'")
    structlog.reset_defaults()
    with capture_logs() as logs:
        report = run_job(jobs(AT_ONCE)["verify"], garden.services)
    assert report["faults"] == 1
    [entry] = (entry for entry in logs if entry["log_level"] == "error")
    assert entry["place"] == NOTES


def test_a_deleted_copy_is_logged_and_an_outside_edit_is_not(garden: Garden) -> None:
    plant(ada(garden), CRITIC)
    ok(ada(garden), "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"})
    edit_outside(garden, CRITIC, "- Rest", "- Play")
    assert run_job(jobs(AT_ONCE)["verify"], garden.services)["faults"] == 0
    for copy in garden.home.path.glob("history/**/*.md"):
        copy.unlink()
    assert run_job(jobs(AT_ONCE)["verify"], garden.services)["faults"] == 1


def test_an_event_that_is_not_as_it_was_logged_is_a_fault(garden: Garden, database: str) -> None:
    plant(ada(garden), NOTES)
    run_job(jobs(AT_ONCE)["checkpoint"], garden.services)
    tamper(database, "delete from garden.log_leaves")
    assert run_job(jobs(AT_ONCE)["verify"], garden.services)["faults"] == 1


def test_a_service_sweeps_by_itself_and_counts_it(ready_home: Home) -> None:
    with opened(ready_home) as garden:
        plant(ada(garden), NOTES)
        leave_open(garden, NOTES, "more")
    settings = {"GARDEN_UPKEEP_STALLED_SECONDS": "0", "GARDEN_UPKEEP_SWEEP_SECONDS": "1"}
    with served(ready_home, env=settings) as service, service.client(None) as client:
        until(lambda: last_of(service.garden) in ENDED)
        counted = re.compile(r'^garden_upkeep_total\{job="sweep",outcome="undone"\} 1.0$', re.MULTILINE)
        until(lambda: counted.search(client.get("/metrics").text))
        until(lambda: re.search(r"^garden_sagas_open 0.0$", client.get("/metrics").text, re.MULTILINE))
        assert service.stop() == 0
    assert "more" not in file_of(service.garden, NOTES).read_text()
