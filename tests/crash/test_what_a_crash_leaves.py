"""Every state a crash can leave, and how the next caller who opens the document settles it.

A write is run up to a step and abandoned; its lock is released as if its process had died.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from garden.application import Garden
from garden.events.payloads import payload_json
from garden.events.records import Event
from garden.events.saga import Status
from garden.events.stream import LockedStream
from garden.files.paths import GardenPath
from garden.tools.declaration import Call
from garden.tools.edits import request_identity
from garden.tools.registry import REGISTRY
from garden.tools.requests import parse_request
from garden.writing.outcomes import stored_response
from garden.writing.settlement import intended_response
from garden.writing.write_path import outcome_of
from tests.support.crowd import Asked
from tests.support.planted import NOTES, PROFILE, ada, code_of, ok, patching, plant
from tests.support.promises import broken_promises, text_of, told

ASKED = patching(PROFILE, "concerns v1", "said once;", idempotencyKey="the same")
NOTED: Asked = (
    "md.patch_section",
    {
        "path": NOTES,
        "sectionAnchor": "s3 v1",
        "change": {"replace": "- said once;"},
        "idempotencyKey": "the same",
    },
)
NEXT = {PROFILE: patching(PROFILE, "needs v1", "the next"), NOTES: patching(NOTES, "s4 v1", "the next")}


class Abandoned:
    """A write abandoned at a chosen step."""

    event: Event

    def __init__(self, garden: Garden, asked: Asked) -> None:
        self._garden = garden
        self._tool = REGISTRY[asked[0]]
        self.request = parse_request(self._tool, asked[1])
        self._call = Call(garden.services, ada(garden).caller, REGISTRY)
        self.path = GardenPath(asked[1]["path"])
        self.text = ""

    @property
    def file(self) -> Path:
        return self._garden.home.path / self.path.text

    @property
    def copy(self) -> Path:
        return self._garden.home.path / self.path.copy_of(self.event.created_at, self.event.event_id).text

    @contextmanager
    def begun(self) -> Iterator[LockedStream]:
        """Record the intent, and release the lock without finishing."""
        services, edits = self._garden.services, self._tool.edits
        assert edits is not None
        intent = edits.intent(self._call, self.path, self.request)
        asked = request_identity(self._call, intent.tool, intent.path, self.request)
        with services.store.document(self._call.caller, self.path.text, asked) as stream:
            standing = services.write_path.open_and_adopt(stream, self.path).current
            name = stream.next_name()
            plan = services.write_path.planner.plan(intent, standing, name)
            answer = stored_response(outcome_of(plan, edits.result(plan), None))
            self.event = stream.begin(plan.statement(answer), plan.change(), name)
            self.text = plan.after.text
            yield stream

    def link(self) -> None:
        """Link the old version into the history."""
        self.copy.parent.mkdir(parents=True, exist_ok=True)
        self.copy.hardlink_to(self.file)

    def replace(self) -> None:
        """Replace the file with the new text."""
        fresh = self.file.with_name(f".new-{self.file.name}-{'0' * 16}")
        fresh.write_text(self.text)
        fresh.chmod(0o600)
        fresh.replace(self.file)

    def leave_stray(self) -> Path:
        stray = self.file.with_name(f".new-{self.file.name}-{'f' * 16}")
        stray.write_text("half a te")
        return stray


def status_of(garden: Garden, write: Abandoned) -> tuple[Status, str | None]:
    event = garden.services.reader.event("ada", write.event.event_id)
    assert event is not None
    return event.status, event.error["code"] if event.error else None


def previewed(garden: Garden, asked: Asked) -> dict[str, Any]:
    return ok(ada(garden).call(asked[0], {**asked[1], "dryRun": True}))


@pytest.fixture(params=[ASKED, NOTED], ids=["profile", "notes"])
def asked(request: pytest.FixtureRequest, garden: Garden) -> Asked:
    plant(ada(garden), PROFILE)
    plant(ada(garden), NOTES)
    ok(ada(garden).call(*patching(PROFILE, "strengths v1", "there before")))
    chosen: Asked = request.param
    return chosen


def test_a_change_that_never_wrote_fails_and_frees_its_key(garden: Garden, asked: Asked) -> None:
    write = Abandoned(garden, asked)
    before = write.file.read_text()
    with write.begun():
        stray = write.leave_stray()
    assert "replayed" not in previewed(garden, asked)["meta"]
    assert status_of(garden, write) == (Status.PENDING, None)
    ok(ada(garden).call(*NEXT[write.path.text]))
    assert status_of(garden, write) == (Status.FAILED, "stalled_before_write")
    assert before in told(garden, write.path.text).replay().texts.values()
    assert not stray.exists()
    assert "replayed" not in ok(ada(garden).call(*asked))["meta"]
    assert text_of(garden, write.path.text).count("said once;") == 1
    assert broken_promises(garden) == []


def test_a_change_that_only_made_its_history_link_loses_the_link(garden: Garden, asked: Asked) -> None:
    write = Abandoned(garden, asked)
    with write.begun():
        write.link()
    # A refused call writes nothing, but settles the open change.
    tool, args = NEXT[write.path.text]
    assert code_of(ada(garden).call(tool, {**args, "ifMatch": "none"})) == "precondition_failed"
    assert status_of(garden, write) == (Status.FAILED, "stalled_before_write")
    assert not write.copy.exists()
    assert write.file.stat().st_nlink == 1
    assert broken_promises(garden) == []


@pytest.mark.parametrize("marked", [False, True], ids=["pending", "written"])
@pytest.mark.parametrize("linked", [False, True], ids=["copy missing", "copy there"])
@pytest.mark.parametrize("next_comes", ["the same request", "another"])
def test_a_change_that_wrote_is_finished_and_answers_as_intended(
    garden: Garden, asked: Asked, marked: bool, linked: bool, next_comes: str
) -> None:
    write = Abandoned(garden, asked)
    before = write.file.read_text()
    with write.begun() as stream:
        if linked:
            write.link()
        write.replace()
        if marked:
            stream.mark_written(write.event)
    if next_comes == "another":
        ok(ada(garden).call(*NEXT[write.path.text]))
    preview = previewed(garden, asked)
    again = ok(ada(garden).call(*asked))
    assert status_of(garden, write) == (Status.COMMITTED, None)
    assert write.copy.read_text() == before
    assert again["meta"]["replayed"]
    assert again["meta"]["eventId"] == str(write.event.event_id)
    assert again["result"] == preview["result"] == intended_response(write.event)["result"]
    assert preview["meta"]["effectStands"] == again["meta"]["effectStands"] is True
    assert text_of(garden, write.path.text).count("said once;") == 1
    changed = [warning for warning in again["meta"]["warnings"] if "has changed since" in warning]
    assert bool(changed) is (next_comes == "another")
    assert broken_promises(garden) == []


def edit_outside(write: Abandoned, text: str) -> str:
    """Save in place where the text only grows, else by a new file as most editors do."""
    if text.startswith(write.file.read_text()):
        write.file.write_text(text)
    else:
        swap = write.file.with_suffix(".swp")
        swap.write_text(text)
        swap.replace(write.file)
    return text


@pytest.mark.parametrize("marked", [False, True], ids=["pending", "written"])
@pytest.mark.parametrize("linked", [False, True], ids=["no link", "link"])
@pytest.mark.parametrize("replaced", [False, True], ids=["before the write", "over what was written"])
def test_an_outside_edit_without_the_change_is_a_conflict_and_both_texts_are_kept(
    garden: Garden, asked: Asked, marked: bool, linked: bool, replaced: bool
) -> None:
    write = Abandoned(garden, asked)
    before = write.file.read_text()
    with write.begun() as stream:
        if linked:
            write.link()
        if replaced:
            write.replace()
        if marked:
            stream.mark_written(write.event)
    by_hand = edit_outside(write, f"{before}\nby hand;\n")
    ok(ada(garden).call(*NEXT[write.path.text]))
    assert status_of(garden, write) == (Status.FAILED, "conflict")
    adopted = told(garden, write.path.text).committed[-2]
    assert (adopted.statement.type, adopted.caller.actor) == ("external_edit", "external")
    texts = list(told(garden, write.path.text).replay().texts.values())
    assert texts[-3:-1] == [before, by_hand]
    assert write.copy.exists() is (linked and replaced)
    assert broken_promises(garden) == []


@pytest.mark.parametrize("marked", [False, True], ids=["pending", "written"])
@pytest.mark.parametrize("linked", [False, True], ids=["copy missing", "copy there"])
@pytest.mark.parametrize("by_hand", ["{text}\nby hand;\n", "{text}"], ids=["in place", "by a new file"])
def test_an_outside_edit_of_a_written_change_comes_after_it(
    garden: Garden, asked: Asked, marked: bool, linked: bool, by_hand: str
) -> None:
    """The sender may have received an answer, and may send again if not."""
    write = Abandoned(garden, asked)
    before = write.file.read_text()
    with write.begun() as stream:
        if linked:
            write.link()
        write.replace()
        if marked:
            stream.mark_written(write.event)
    edited = by_hand.format(text=write.text)
    edited = edit_outside(
        write, edited if edited != write.text else edited.replace("\n# ", "\n# By hand: ", 1)
    )
    again = ok(ada(garden).call(*asked))
    assert status_of(garden, write) == (Status.COMMITTED, None)
    assert again["meta"]["replayed"]
    assert text_of(garden, write.path.text).count("said once;") == 1
    ok(ada(garden).call(*NEXT[write.path.text]))
    texts = list(told(garden, write.path.text).replay().texts.values())
    assert texts[-4:-1] == [before, write.text, edited]
    assert write.copy.read_text() == before
    assert broken_promises(garden) == []


def test_a_late_write_is_adopted_and_names_its_failed_event(garden: Garden, asked: Asked) -> None:
    write = Abandoned(garden, asked)
    with write.begun():
        pass
    tool, args = NEXT[write.path.text]
    assert code_of(ada(garden).call(tool, {**args, "ifMatch": "none"})) == "precondition_failed"
    write.replace()
    answer = ok(ada(garden).call(tool, args))
    assert status_of(garden, write) == (Status.FAILED, "stalled_before_write")
    adopted = told(garden, write.path.text).committed[-2]
    assert (payload_json(adopted.statement.edit) or {})["failedEvent"] == str(write.event.event_id)
    assert str(adopted.event_id) == answer["meta"]["adoptedEventId"]
    assert broken_promises(garden) == []


@pytest.mark.parametrize("open_event", [False, True], ids=["all ended", "one begun"])
def test_a_missing_file_is_reported_and_not_made_again(
    garden: Garden, asked: Asked, open_event: bool
) -> None:
    write = Abandoned(garden, asked)
    if open_event:
        with write.begun():
            pass
    text = write.file.read_text()
    write.file.unlink()
    for tool, args in (NEXT[write.path.text], asked, ("md.plant", {"path": write.path.text})):
        error = ada(garden).call(tool, args)["error"]
        assert error["code"] == "document_damaged"
        assert "history" in error["hint"]
    assert not write.file.exists()
    write.file.write_text(text)
    ok(ada(garden).call(*asked))
    assert broken_promises(garden) == []


def test_a_document_is_settled_though_its_history_copy_was_edited(garden: Garden, asked: Asked) -> None:
    """An editor that had the file open writes into what is now the history copy."""
    write = Abandoned(garden, asked)
    with write.begun():
        write.link()
        with write.file.open("a") as editor:
            write.replace()
            editor.write("\ntoo late;\n")
    again = ok(ada(garden).call(*asked))
    assert again["meta"]["replayed"]
    assert "too late;" in write.copy.read_text()
    assert text_of(garden, write.path.text).count("said once;") == 1
    ok(ada(garden).call(*NEXT[write.path.text]))


def test_a_document_never_written_can_be_planted_after_a_crash(garden: Garden) -> None:
    asked = "md.plant", {"path": "users/ada/overview.md"}
    write = Abandoned(garden, asked)
    with write.begun():
        write.file.parent.mkdir(parents=True, exist_ok=True)
        write.leave_stray()
    assert "replayed" not in ok(ada(garden).call(*asked))["meta"]
    assert status_of(garden, write) == (Status.FAILED, "stalled_before_write")
    assert broken_promises(garden) == []
