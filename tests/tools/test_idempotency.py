import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from garden.application import Garden, open_garden
from garden.files.errors import StorageError
from garden.files.prepared_file import PreparedFile
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, events_of, ok, plant, refused, result, rows

BADLY = {"path": NOTES, "text": "slept badly"}


def _entries(session: Session, words: str = "slept badly") -> int:
    text: str = result(session, "fs.read", path=NOTES)
    return text.count(words)


@pytest.mark.parametrize("key", [{}, {"idempotencyKey": "mine"}], ids=["computed", "of one's own"])
def test_the_same_request_is_carried_out_once_and_answered_again(ada: Session, key: dict[str, str]) -> None:
    plant(ada, NOTES)
    first = ok(ada, "fs.append", **BADLY, **key)
    again = ok(ada, "fs.append", **BADLY, **key)
    assert again["result"] == first["result"]
    assert again["meta"]["eventId"] == first["meta"]["eventId"]
    assert again["meta"]["replayed"]
    assert "idempotencyKey" in again["meta"]["hint"]
    assert _entries(ada) == 1
    assert events_of(ada, NOTES) == ["plant committed", "append_file committed"]


def test_the_same_words_are_recorded_again_under_another_key(ada: Session) -> None:
    plant(ada, NOTES)
    for key in ("monday", "tuesday"):
        ok(ada, "fs.append", **BADLY, idempotencyKey=key)
    assert _entries(ada) == 2


def test_each_tool_call_is_a_scope_of_its_own(ada: Session) -> None:
    plant(ada, NOTES)
    for call in ("call-1", "call-2", "call-1"):
        ok(ada, "fs.append", **BADLY, toolCallId=call)
    assert _entries(ada) == 2


def test_the_tool_call_does_not_matter_beside_a_key_of_ones_own(ada: Session) -> None:
    plant(ada, NOTES)
    for call in ("call-1", "call-2"):
        ok(ada, "fs.append", **BADLY, toolCallId=call, idempotencyKey="mine")
    assert _entries(ada) == 1


def test_the_event_bears_the_key(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", **BADLY, idempotencyKey="mine")
    assert rows(ada)[0]["idempotencyKey"] == "caller:mine"


def test_a_key_of_one_request_is_refused_for_another(ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    ok(ada, "fs.append", **BADLY, idempotencyKey="mine")
    others: list[tuple[str, dict[str, Any]]] = [
        ("fs.append", {**BADLY, "text": "slept well"}),
        ("fs.append", {**BADLY, "path": CRITIC}),
        ("fs.append", {**BADLY, "rationale": "For another reason."}),
        ("md.patch_section", {"path": NOTES, "sectionAnchor": "inbox v1", "change": {"append": "a"}}),
        ("md.plant", {"path": "users/ada/overview.md"}),
        ("events.log", {"type": "observation", "rationale": "slept badly"}),
    ]
    for tool, args in others:
        refused(ada, tool, "idempotency_conflict", **args, idempotencyKey="mine")
    assert len(rows(ada)) == 3


def test_keys_of_two_users_do_not_meet(garden: Garden, ada: Session) -> None:
    ben = garden.session("ben", "companion")
    plant(ada, NOTES)
    plant(ben, "users/ben/notes.md")
    ok(ada, "fs.append", **BADLY, idempotencyKey="mine")
    envelope = ok(ben, "fs.append", path="users/ben/notes.md", text="hello", idempotencyKey="mine")
    assert "replayed" not in envelope["meta"]


@pytest.mark.parametrize("key", ["", "a" * 1000, "a\nb"])
def test_an_invalid_key_is_refused(ada: Session, key: str) -> None:
    plant(ada, NOTES)
    refused(ada, "fs.append", "invalid_input", **BADLY, idempotencyKey=key)


def test_another_process_answers_again_as_well(garden: Garden, ada: Session, home: Home) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", **BADLY)
    with open_garden(home.path) as other:
        assert ok(other.session("ada", "companion"), "fs.append", **BADLY)["meta"]["replayed"]
    assert garden.home.path == home.path


def test_a_refused_request_may_be_sent_again(ada: Session) -> None:
    refused(ada, "fs.append", "not_found", **BADLY, idempotencyKey="mine")
    plant(ada, NOTES)
    assert "replayed" not in ok(ada, "fs.append", **BADLY, idempotencyKey="mine")["meta"]


def test_a_failed_request_is_recorded_as_that_and_may_be_sent_again(
    ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, NOTES)

    def full(*_: object, **__: object) -> None:
        raise StorageError("The disk is full.", hint="Make room.")

    with monkeypatch.context() as patched:
        patched.setattr(PreparedFile, "put", full)
        code = ada.call("fs.append", {**BADLY, "idempotencyKey": "mine"})["error"]["code"]
    failed = rows(ada)[0]
    assert (failed["status"], failed["afterHash"]) == ("failed", None)
    assert failed["error"]["code"] == code
    assert failed["failedAt"]
    assert "replayed" not in ok(ada, "fs.append", **BADLY, idempotencyKey="mine")["meta"]
    assert _entries(ada) == 1
    assert events_of(ada, NOTES) == ["plant committed", "append_file failed", "append_file committed"]


def test_a_dry_run_uses_up_no_key(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", **BADLY, idempotencyKey="mine", dryRun=True)
    assert "replayed" not in ok(ada, "fs.append", **BADLY, idempotencyKey="mine")["meta"]
    assert _entries(ada) == 1


def test_a_request_sent_by_many_at_once_has_one_effect(ada: Session) -> None:
    plant(ada, NOTES)
    together = threading.Barrier(6)

    def send() -> dict[str, Any]:
        together.wait()
        return ada.call("fs.append", BADLY)

    with ThreadPoolExecutor(6) as pool:
        answers = [future.result() for future in [pool.submit(send) for _ in range(6)]]
    assert all(answer["ok"] for answer in answers), answers
    assert len({answer["meta"]["eventId"] for answer in answers}) == 1
    assert sum("replayed" not in answer["meta"] for answer in answers) == 1
    assert _entries(ada) == 1


def test_edits_of_different_sections_at_once_all_succeed(ada: Session) -> None:
    plant(ada, CRITIC)
    anchors = ["summary v1", "concerns v1", "needs v1", "strengths v1", "what_helps v1", "questions v1"]
    together = threading.Barrier(len(anchors))
    known = {anchor: result(ada, "fs.hash", path=CRITIC, sectionAnchor=anchor) for anchor in anchors}

    def send(anchor: str) -> dict[str, Any]:
        together.wait()
        change = {"replace": f"- {anchor}"}
        args = {"path": CRITIC, "sectionAnchor": anchor, "change": change, "ifMatch": known[anchor]}
        return ada.call("md.patch_section", args)

    with ThreadPoolExecutor(len(anchors)) as pool:
        answers = list(pool.map(send, anchors))
    assert all(answer["ok"] for answer in answers), answers
    assert len(rows(ada, path=CRITIC, op="replace_section")) == len(anchors)


def test_of_two_edits_of_one_section_at_once_the_later_is_refused(ada: Session) -> None:
    plant(ada, CRITIC)
    known = result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1")
    together = threading.Barrier(2)

    def send(text: str) -> str:
        together.wait()
        change = {"replace": text}
        args = {"path": CRITIC, "sectionAnchor": "needs v1", "change": change, "ifMatch": known}
        envelope = ada.call("md.patch_section", args)
        return "ok" if envelope["ok"] else envelope["error"]["code"]

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(send, ["- Rest", "- Play"])) == ["ok", "precondition_failed"]
