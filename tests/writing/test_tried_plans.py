"""Plans made before the lock is taken: each succeeds, or leaves no trace and is made once more."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from unittest import mock
from unittest.mock import DEFAULT
from uuid import uuid4

import pytest

from garden.application import Garden, open_garden
from garden.events.records import Caller, DocumentChange, Statement
from garden.events.stream import OutdatedPlanError
from garden.files.errors import SyncFailedError
from garden.files.failpoints import Failpoint, watch_failpoints
from tests.support.planted import NOTES, PROFILE, ada, code_of, ok, patching, plant
from tests.support.promises import broken_promises, text_of, told
from tests.support.waiting import until_a_lock_is_awaited
from tests.writing.test_costs import steps_of


@pytest.fixture
def other(garden: Garden) -> Iterator[Garden]:
    """The same home, opened once more as another process would."""
    plant(ada(garden), PROFILE)
    with open_garden(garden.home.path) as other:
        yield other


@contextmanager
def once_prepared(work: Callable[[], object]) -> Iterator[None]:
    """Do something as soon as the next write has its temporary file."""
    left = [work]

    def reached(step: Failpoint) -> None:
        if step is Failpoint.PREPARED and left:
            left.pop()()

    with watch_failpoints(reached):
        yield


def said(words: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return patching(PROFILE, "concerns v1", words, **more)


def test_a_plan_for_another_head_leaves_no_trace(garden: Garden, other: Garden) -> None:
    edits: list[dict[str, Any]] = []

    def edit() -> None:
        with once_prepared(lambda: ok(ada(other).call(*said("said elsewhere;")))):
            edits.append(ok(ada(garden).call(*said("said here;", idempotencyKey="k"))))

    steps = steps_of(edit)
    assert steps.count("add_event") == 3
    events = told(garden, PROFILE).events
    assert [event.status for event in events] == ["committed"] * 3
    assert str(events[-1].event_id) == edits[0]["meta"]["eventId"]
    text = text_of(garden, PROFILE)
    assert text.index("said elsewhere;") < text.index("said here;")
    assert broken_promises(garden) == []
    # Nor does the lock stay behind.
    ok(ada(other).call(*said("said elsewhere too;")))


def test_a_plan_for_a_head_that_was_rebuilt_is_not_begun(other: Garden) -> None:
    store, caller = other.services.store, Caller("ada", "companion")
    with store.document(caller, PROFILE) as stream:
        head = stream.head
    with store.attempt(caller, PROFILE, None) as tried, open_garden(other.home.path) as third:
        assert tried is not None
        with third.services.store.document(caller, PROFILE) as stream:
            stream.rebuild_head(head._replace(head_event_id=uuid4()))
        change = DocumentChange(
            splices=(),
            intended_hash=head.content_hash or "",
            intended_raw_hash=head.raw_hash or "",
            sealed_text="",
        )
        with pytest.raises(OutdatedPlanError):
            tried.begin(Statement(type="t", op="o", tool="t", path=PROFILE), change)


def test_a_plan_does_not_wait_for_a_lock_that_is_held(garden: Garden, other: Garden, database: str) -> None:
    """It is dropped, its file too, and the edit waits for the lock before it is planned once more."""
    seen: list[Failpoint] = []
    writer = Thread(target=lambda: ok(ada(garden).call(*said("said here;"))))
    with (
        other.services.store.document(Caller("ada", "other"), PROFILE),
        watch_failpoints(seen.append),
    ):
        writer.start()
        until_a_lock_is_awaited(database)
        assert seen == [Failpoint.PLANNED, Failpoint.PREPARED]
        assert broken_promises(garden) == []
    writer.join()
    assert text_of(garden, PROFILE).count("said here;") == 1
    assert len(told(garden, PROFILE).events) == 2


def test_words_erased_since_the_plan_do_not_come_back(garden: Garden, other: Garden) -> None:
    plant(ada(garden), NOTES)
    words = "the debts of her brother"
    ok(ada(other).call("fs.append", {"path": NOTES, "text": words}))

    def erase() -> None:
        ok(ada(other).call("garden.erase", {"text": words, "reason": "She asked."}))

    with once_prepared(erase):
        assert code_of(ada(garden).call(*said(words))) == "erased"
    assert words not in text_of(garden, PROFILE)
    assert [event.status for event in told(garden, PROFILE).events] == ["committed"]


def test_a_damaged_document_stays_closed_after_a_preview_of_a_mended_file(garden: Garden) -> None:
    plant(ada(garden), PROFILE)
    file = garden.home.path / PROFILE
    whole = file.read_text()
    damaged = whole.replace("\n## Section 3\n<!-- @anchor: s3 v1 -->\n", "")
    preview = patching(PROFILE, "strengths v1", "said", dryRun=True)
    file.write_text(damaged)
    assert code_of(ada(garden).call(*said("said here;"))) == "document_damaged"
    file.write_text(whole)
    ok(ada(garden).call(*preview))
    file.write_text(damaged)
    assert code_of(ada(garden).call(*said("said here again;"))) == "document_damaged"


def test_a_sync_that_failed_is_not_tried_again_under_the_lock(garden: Garden) -> None:
    plant(ada(garden), PROFILE)
    fails_once = [SyncFailedError(replaced=False), DEFAULT]
    with mock.patch.object(
        garden.services.files, "confirm_way", wraps=garden.services.files.confirm_way
    ) as way:
        way.side_effect = fails_once
        assert code_of(ada(garden).call(*said("said here;"))) == "unavailable"
    assert [event.status for event in told(garden, PROFILE).events] == ["committed"]
    assert broken_promises(garden) == []


def test_a_thread_makes_no_plan_without_the_lock_where_another_one_is(other: Garden) -> None:
    store, caller = other.services.store, Caller("ada", "companion")
    # Both connections are idle then.
    with store.document(caller, PROFILE), store.document(caller, NOTES):
        pass
    with store.attempt(caller, PROFILE, None) as first, store.attempt(caller, PROFILE, None) as second:
        assert first is not None
        assert second is None
    with store.document(caller, PROFILE), store.attempt(caller, PROFILE, None) as third:
        assert third is None
    assert other.pools["writers"].in_use == 0
