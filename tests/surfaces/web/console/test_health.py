"""Health in the console: what each role sees of the garden, its calls and the home."""

from datetime import UTC, datetime, timedelta

import pytest

from garden.gateway.health import JobState
from garden.home.settings import TokenPolicy
from garden.surfaces.web.console.health import _state_of, log_place, share, size, span, took
from garden.upkeep.job_runs import JobRun
from tests.support.served import Person, Service
from tests.support.stalled import leave_open
from tests.support.visitors import Visitor, visiting
from tests.support.waiting import until

HOME = ("Background jobs", "Free on the disk", "Last checkpoint", "In the whole home")
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_a_maintainer_sees_the_garden_and_the_home(owner: Visitor) -> None:
    words = owner.text("/health")
    for expected in (
        "No interrupted change waits for a person",
        "Documents 1 Events 1",
        "of 1 settled events",
        *HOME,
    ):
        assert expected in words
    until(lambda: "sweep on time just now" in owner.text("/health"))


def test_a_reviewer_sees_the_garden_alone(reviewer: Visitor) -> None:
    words = reviewer.text("/health")
    assert "Documents 1 Events 1" in words
    for hidden in HOME:
        assert hidden not in words


def test_an_empty_garden_says_so(service: Service) -> None:
    with service.person() as person, visiting(service, person) as visitor:
        words = visitor.text("/health")
    assert "Last change none yet" in words
    assert "No tool was called in this period." in words
    assert "No rate limits are set." in words


def test_calls_are_drawn_and_told_in_numbers_by_tool_and_actor(
    owner: Visitor, ada: Person, ben: Person
) -> None:
    for _ in range(3):
        ada.ok("fs.read", path=ada.notes)
    ada.call("fs.read", path="users/ada/none.md")
    ben.ok("memory.list")
    page, words = owner.page("/health?period=1h"), owner.text("/health?period=1h")
    assert "fs.read 4 1" in words
    assert "md.plant 1 0" in words
    assert "companion 5 1" in words
    assert "memory.list" not in words
    assert page.count('class="calls"') == 6
    assert 'aria-current="true">Hour' in page
    assert " style=" not in page


def test_an_unknown_period_is_refused(owner: Visitor) -> None:
    assert owner.get("/health?period=1y").status_code == 400


def test_a_token_without_the_account_of_calls_is_refused(service: Service, ada: Person) -> None:
    policy = TokenPolicy(remove=("calls.stats",))
    issued = service.garden.tokens.create(
        ada.user_id, role="maintainer", actor="mira", expires_at=None, policy=policy
    )
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": issued.secret})
        assert client.get("/console/health").status_code == 403


def test_changes_that_are_left_to_a_person_are_named_with_the_way_out(service: Service) -> None:
    with service.person(user_id="ada") as person:
        person.ok("md.plant", path=person.notes)
        leave_open(service.garden, person.notes, "more")
        recoveries = service.garden.services.recoveries
        for _ in range(2):
            recoveries.claim(timedelta(0), limit=1, user_id="ada", attempts_max=1, pause_seconds=0)
        with visiting(service, person, "reviewer") as visitor:
            words = visitor.text("/health")
        # The next write settles it, so that no other test meets it.
        person.ok("fs.append", path=person.notes, text="and more")
    assert "Interrupted changes left to a person: 1." in words
    assert "users/ada/notes.md 2 attempts since" in words
    assert "garden reconcile --quarantined" in words


@pytest.mark.parametrize(
    ("every", "ago", "counts", "state"),
    [
        (60, 30, {}, ("good", "on time")),
        (60, 300, {}, ("warn", "late")),
        (60, 30, {"failed": 1}, ("bad", "failed")),
        (60, 30, {"faults": 2, "events": 9}, ("bad", "found 2 faults")),
        (0, 9999, {}, ("", "switched off")),
    ],
)
def test_a_job_is_judged_by_its_last_run(
    every: int, ago: int, counts: dict[str, int], state: tuple[str, str]
) -> None:
    run = JobRun("sweep", datetime.now(UTC) - timedelta(seconds=ago), 1.0, counts)
    assert _state_of(JobState("sweep", every, run)) == state
    assert _state_of(JobState("sweep", 60, None)) == ("", "has not run yet")


def test_figures_are_drawn_against_the_largest_and_on_a_logarithmic_scale() -> None:
    assert [share(part, 1000) for part in (1000, 250, 1, 0)] == [100.0, 25.0, 1.5, 0.0]
    assert [log_place(took) for took in (None, 0.01, 0.1, 10, 1000, 1e9)] == [0, 0, 0, 40, 80, 100]


def test_amounts_are_told_in_the_unit_that_fits() -> None:
    assert [span(each) for each in (15, 600, 3600, 86400, 90)] == ["15 s", "10 min", "1 h", "1 d", "90 s"]
    assert [size(each) for each in (0, 999, 1500, 250_000_000)] == [
        "0 bytes",
        "999 bytes",
        "1.5 KB",
        "250 MB",
    ]
    assert [took(each) for each in (None, 0.25, 12.6, 1500)] == ["-", "0.2 ms", "13 ms", "1.5 s"]
