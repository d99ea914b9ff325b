"""What a writer that went away leaves behind, and what the next one makes of it."""

import pytest

from garden.application import Garden
from garden.events.stream import LockedStream
from garden.files.prepared_file import PreparedFile
from garden.session import Session
from tests.support.gardens import CRITIC, edit_outside, events_of, file_of, ok, plant, refused, result, rows

FIRST = {
    "path": CRITIC,
    "sectionAnchor": "needs v1",
    "change": {"replace": "- Rest"},
    "idempotencyKey": "first",
}
SECOND = {"path": CRITIC, "sectionAnchor": "concerns v1", "change": {"replace": "- Late"}}


class _GoneError(BaseException):
    pass


def _gone_at(monkeypatch: pytest.MonkeyPatch, owner: type, step: str, session: Session) -> None:
    """Let a writer go away right before a step."""

    def gone(*_: object, **__: object) -> None:
        raise _GoneError

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, gone)
        with pytest.raises(_GoneError):
            session.call("md.patch_section", FIRST)
    assert events_of(session, CRITIC) == ["plant committed", "replace_section pending"]


def test_a_change_that_was_never_written_fails_and_may_be_sent_again(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CRITIC)
    before = file_of(garden, CRITIC).read_bytes()
    _gone_at(monkeypatch, PreparedFile, "put", ada)
    assert file_of(garden, CRITIC).read_bytes() == before
    ok(ada, "md.patch_section", **SECOND)
    (failed,) = rows(ada, status="failed")
    assert failed["error"]["code"] == "stalled_before_write"
    assert "replayed" not in ok(ada, "md.patch_section", **FIRST)["meta"]
    assert "- Rest" in result(ada, "fs.read", path=CRITIC)


def test_a_change_that_was_written_is_sealed_with_its_history_and_its_answer(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CRITIC)
    before = file_of(garden, CRITIC).read_text()
    _gone_at(monkeypatch, LockedStream, "finish", ada)
    again = ok(ada, "md.patch_section", **FIRST)
    assert again["meta"]["replayed"]
    assert again["result"]["afterHash"] == result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1")
    assert events_of(ada, CRITIC) == ["plant committed", "replace_section committed"]
    (copy,) = result(ada, "fs.list", path="history/ada/parts/critic/profile")
    assert result(ada, "fs.read", path=copy) == before


def test_an_edit_from_outside_in_between_keeps_both_versions(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CRITIC)
    _gone_at(monkeypatch, LockedStream, "finish", ada)
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    ok(ada, "md.patch_section", **SECOND)
    assert events_of(ada, CRITIC) == [
        "plant committed", "replace_section committed", "external_edit committed", "replace_section committed"
    ]  # fmt: skip
    text = result(ada, "fs.read", path=CRITIC)
    assert "- Rest" in text
    assert "# The Critic" in text


def test_an_edit_from_outside_that_took_the_change_away_keeps_both_versions(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CRITIC)
    _gone_at(monkeypatch, LockedStream, "finish", ada)
    edit_outside(garden, CRITIC, "- Rest\n", "- Something else\n")
    ok(ada, "md.patch_section", **SECOND)
    assert events_of(ada, CRITIC) == [
        "plant committed", "replace_section failed", "external_edit committed", "replace_section committed"
    ]  # fmt: skip
    (failed,) = rows(ada, status="failed")
    assert failed["error"]["code"] == "conflict"
    assert "- Rest" in str(failed["splices"])
    assert "- Something else" in result(ada, "fs.read", path=CRITIC)


def test_a_writer_that_wakes_up_late_is_adopted_with_the_name_of_its_event(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CRITIC)
    before = file_of(garden, CRITIC).read_bytes()
    _gone_at(monkeypatch, LockedStream, "finish", ada)
    written = file_of(garden, CRITIC).read_bytes()
    file_of(garden, CRITIC).write_bytes(before)
    refused(ada, "md.patch_section", "anchor_not_found", **{**SECOND, "sectionAnchor": "nowhere"})
    (failed,) = rows(ada, status="failed")
    file_of(garden, CRITIC).write_bytes(written)
    ok(ada, "md.patch_section", **SECOND)
    (adopted,) = rows(ada, type="external_edit")
    assert adopted["edit"]["failedEvent"] == failed["eventId"]


def test_a_preview_of_an_open_change_settles_nothing(ada: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(ada, CRITIC)
    _gone_at(monkeypatch, PreparedFile, "put", ada)
    ok(ada, "md.patch_section", **SECOND, dryRun=True)
    assert events_of(ada, CRITIC) == ["plant committed", "replace_section pending"]
    ok(ada, "md.patch_section", **SECOND)


def test_a_snapshot_settles_an_open_change(ada: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(ada, CRITIC)
    _gone_at(monkeypatch, LockedStream, "finish", ada)
    copy = result(ada, "md.snapshot_history", path=CRITIC)["historyPath"]
    assert "- Rest" in result(ada, "fs.read", path=copy)
    assert rows(ada, op="replace_section")[0]["status"] == "committed"
