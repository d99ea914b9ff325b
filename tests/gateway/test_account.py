"""The account of calls: every call has its row, and no row holds a secret."""

import gc
import json
import math
import weakref
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from garden.application import Garden
from garden.gateway.dispatcher import Envelope
from garden.tools.registry import REGISTRY
from tests.support.calls import calls_now, calls_of
from tests.support.planted import NOTES, PROFILE, ada, code_of, forget_heads, ok, patching, plant

# Shapes of real secrets that belong to no one.
TOKEN = "ghp_" + "a1B2" * 9
HIDDEN = f"ghp_{'a1B2' * 4}\u200b{'a1B2' * 5}"
PRIVATE = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
SECRETS = (TOKEN, HIDDEN, PRIVATE)


def last(garden: Garden) -> dict[str, Any]:
    return calls_now(garden)[-1]


def test_a_read_a_refusal_and_an_unknown_tool_each_have_a_row(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    session = garden.session(
        "ada", "critic", role="agent", transaction_id="turn-1", surface="http", request_id="r-1"
    )
    answers = [
        session.call("fs.read", {"path": NOTES}),
        session.call("fs.read", {"path": "users/ben/notes.md"}),
        session.call("fs.move", {"path": NOTES, "newPath": NOTES}),
        session.call("fs.shout", {"path": NOTES}),
        session.call("fs.read", "no object"),  # type: ignore[arg-type]
    ]
    rows = calls_now(garden)[-len(answers) :]
    codes = [None if each["ok"] else each["error"]["code"] for each in answers]
    assert [row["code"] for row in rows] == codes
    assert [row["status"] for row in rows] == ["success", *["refused"] * 4]
    assert [row["tool"] for row in rows] == ["fs.read", "fs.read", "fs.move", "unknown", "fs.read"]
    read = rows[0]
    assert (read["actor"], read["role"], read["surface"], read["calls"]) == ("critic", "agent", "http", 1)
    assert read["ids"] == {"requestId": "r-1", "transactionId": "turn-1"}
    assert (read["arguments"], read["event_id"]) == ({"path": NOTES}, None)
    assert read["tokens_in"] == math.ceil(len(json.dumps({"path": NOTES}, separators=(",", ":"))) / 4)
    assert read["tokens_out"] == answers[0]["meta"]["tokens"] == math.ceil(len(answers[0]["result"]) / 4)
    assert 0 < read["milliseconds"] < 60_000
    assert all(row["tokens_out"] > 0 for row in rows)


def test_the_row_of_a_write_stands_with_the_answer_and_names_its_event(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    asked = {"path": NOTES, "text": "Slept well.", "toolCallId": "call-7"}
    done = ok(ada(garden).call("fs.append", asked))
    # The batch has not been written yet.
    row = calls_of(garden)[-1]
    assert (row["tool"], row["status"], row["event_id"]) == (
        "fs.append",
        "success",
        UUID(done["meta"]["eventId"]),
    )
    assert row["ids"] == {"toolCallId": "call-7"}
    assert last(garden)["tokens_out"] > 0
    assert len(calls_of(garden)) == len(calls_now(garden))


def test_a_tried_plan_that_is_discarded_leaves_no_row_of_its_own(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    ok(ada(garden).call(*patching(NOTES, "s1 v1", "one")))
    before = len(calls_now(garden))
    (garden.home.path / NOTES).write_text((garden.home.path / NOTES).read_text() + "\nby hand\n")
    done = ok(ada(garden).call(*patching(NOTES, "s1 v1", "two")))
    row = calls_of(garden)[-1]
    assert (row["status"], row["event_id"]) == ("success", UUID(done["meta"]["eventId"]))
    assert len(calls_now(garden)) == before + 1
    assert calls_of(garden)[-1]["event_id"] == row["event_id"]


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("events.log", {"type": "observation", "op": "note", "rationale": "saw it"}),
        ("md.snapshot_history", {"path": PROFILE}),
        ("fs.move", {"path": NOTES, "newPath": "users/ada/parts/critic/notes.md"}),
    ],
)
def test_a_call_has_one_row_however_many_events_it_has(
    garden: Garden, tool: str, args: dict[str, Any]
) -> None:
    plant(ada(garden), NOTES)
    plant(ada(garden), PROFILE)
    before = len(calls_now(garden))
    ok(ada(garden).call(tool, args))
    standing = calls_of(garden)
    assert (len(standing), standing[-1]["tool"], standing[-1]["status"]) == (before + 1, tool, "success")
    assert standing[-1]["event_id"] is not None
    assert len(calls_now(garden)) == before + 1


def test_an_annotation_has_its_row_with_the_answer(garden: Garden) -> None:
    plant(ada(garden), PROFILE)
    tool, args = patching(PROFILE, "needs v1", "Rest")
    ok(ada(garden).call(tool, {**args, "toolCallId": "c-1"}))
    about = {"type": "profile_update", "filePath": PROFILE, "sectionAnchor": "needs v1", "rationale": "why"}
    logged = ok(ada(garden).call("events.log", {**about, "toolCallId": "c-1"}))
    assert logged["meta"]["annotated"]
    row = calls_of(garden)[-1]
    assert (row["tool"], row["status"]) == ("events.log", "success")


def test_replays_dry_runs_and_unchanged_edits_have_rows(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    asked = {"path": NOTES, "text": "once", "idempotencyKey": "a key of mine"}
    for args in (asked, asked, {**asked, "idempotencyKey": "other", "dryRun": True}):
        ok(ada(garden).call("fs.append", args))
    first, again, dry = calls_now(garden)[-3:]
    assert first["event_id"] == again["event_id"] != dry["event_id"]
    assert first["arguments"] == again["arguments"] == {"path": NOTES, "text": "once"}


def test_another_users_rows_are_not_read(garden: Garden) -> None:
    garden.session("ben", "companion").call("fs.list", {"path": "users/ben"})
    garden.services.calls.flush()
    assert calls_of(garden) == []
    assert ok(ada(garden).call("calls.stats"))["result"]["calls"] == 0
    assert ok(garden.session("ben", "other").call("calls.stats"))["result"]["calls"] == 1


def test_stats_tell_every_role_how_calls_went(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    for path in (NOTES, "users/ada/overview.md"):
        ada(garden).call("fs.read", {"path": path})
    for role in ("agent", "reviewer", "maintainer"):
        told = garden.session("ada", "x", role=role).call("calls.stats", {"tool": "fs.read", "period": "1h"})
        assert (told["result"]["calls"], told["result"]["successRate"]) == (2, 0.5)
        assert told["result"]["refusals"] == {"not_found": 1}
        assert told["result"]["latency"]["p50"] <= told["result"]["latency"]["p99"]
    [error] = told["result"]["errors"]
    assert (error["tool"], error["code"], error["status"], error["calls"]) == (
        "fs.read",
        "not_found",
        "refused",
        1,
    )
    assert code_of(ada(garden).call("calls.stats", {"period": "1y"})) == "invalid_input"


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_any_field_shows_up_nowhere(garden: Garden, secret: str) -> None:
    plant(ada(garden), NOTES)
    for tool in ("fs.append", "fs.search", "md.patch_section", "events.log", "garden.erase"):
        fields = REGISTRY[tool].request_schema["properties"]
        for field in fields:
            ada(garden).call(tool, {**REGISTRY[tool].example, field: secret})
            ada(garden).call(
                tool, {**REGISTRY[tool].example, field: {"deep": [{"er": f"see {'x' * 70} {secret}"}]}}
            )
        ada(garden).call(tool, {**REGISTRY[tool].example, secret: 1})
        ada(garden).call(tool, {"opts": {secret: {secret: secret}}})
    ada(garden).call(secret, {"path": secret})
    ada(garden).call(f"fs.{secret}", [secret])  # type: ignore[arg-type]
    garden.session("ada", "x", request_id=secret, transaction_id=secret).call(
        "fs.list", {"path": "users/ada"}
    )
    stored = json.dumps(calls_now(garden), default=str, ensure_ascii=False)
    assert len(calls_of(garden)) > 60
    for shape in (
        secret,
        secret[10:30],
        secret.splitlines()[min(1, secret.count("\n"))][:24],
        repr(secret)[1:-1],
    ):
        assert shape not in stored
    assert "characters]" in stored


def test_a_password_is_known_by_the_name_of_its_field(garden: Garden) -> None:
    ada(garden).call("fs.list", {"path": "users/ada", "password": "correct4horse7battery"})
    assert last(garden)["arguments"]["password"] == "[a password or key, 21 characters]"  # noqa: S105


def test_the_words_that_an_erasure_takes_away_are_never_recorded(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    asked = {"text": "Slept badly.", "reason": "asked", "preview": True}
    ok(ada(garden).call("garden.erase", asked))
    assert last(garden)["arguments"]["text"] == "[12 characters]"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("x" * 81, "x" * 80 + "… (81 characters)"),
        ("ä\nb\0\ud800", "ä\\nb\\x00\\ud800"),
        (math.nan, "[float]"),
        (10**400, "[int]"),
        (b"bytes", "[bytes]"),
        ([[[[[[1]]]]]], [[[["[list]"]]]]),
        (list(range(100)), list(range(30))),
        (["x" * 80] * 30, ["x" * 80] * 30),
    ],
)
def test_odd_values_are_shown_shortened(garden: Garden, given: object, shown: object) -> None:
    answer = ada(garden).call("fs.list", {"path": "users/ada", "odd": given})
    assert code_of(answer) == "invalid_input"
    assert last(garden)["arguments"]["odd"] == shown


def test_arguments_that_are_long_together_are_counted_only(garden: Garden) -> None:
    ada(garden).call("fs.list", {"path": "users/ada", "odd": [["x" * 80] * 30] * 2})
    assert last(garden)["arguments"] == "[5012 characters]"


def test_arguments_that_hold_themselves_have_a_row(garden: Garden) -> None:
    endless: dict[str, Any] = {"path": "users/ada"}
    endless["again"] = endless
    assert code_of(ada(garden).call("fs.list", endless)) == "invalid_input"
    assert last(garden)["arguments"]["path"] == "users/ada"


def erase(garden: Garden, **wish: Any) -> Envelope:
    return ok(ada(garden).call("garden.erase", {"reason": "asked", **wish}))


@pytest.mark.parametrize("wish", [{"text": "walked to the sea"}, {"path": NOTES}])
def test_an_erasure_takes_the_words_out_of_the_calls_before_it(garden: Garden, wish: dict[str, Any]) -> None:
    plant(ada(garden), NOTES)
    ok(ada(garden).call("fs.append", {"path": NOTES, "text": "She walked to the sea.", "toolCallId": "sea"}))
    # One is in the database, the others wait for their batch.
    garden.services.calls.flush()
    ada(garden).call("fs.search", {"root": "users/ada", "pattern": "walked to the sea"})
    erase(garden, **wish)
    ada(garden).call("fs.list", {"path": "users/ada"})
    *before, after = calls_now(garden)
    assert all((row["arguments"], row["ids"], row["summary"]) == (None, None, None) for row in before)
    assert after["arguments"] == {"path": "users/ada"}
    assert "walked" not in json.dumps([*before, after], default=str)
    assert before[0]["tool"] != before[-1]["tool"]


@pytest.mark.parametrize("wish", [{"text": "walked to the sea"}, {"everything": True}])
def test_an_erasure_that_finds_nothing_takes_the_words_out_of_calls(
    garden: Garden, wish: dict[str, Any]
) -> None:
    ada(garden).call("fs.search", {"root": "users/ada", "pattern": "walked to the sea"})
    erase(garden, **wish)
    assert "walked" not in json.dumps(calls_now(garden), default=str)


def test_a_call_that_writes_is_closed_with_its_event_if_the_clock_was_set_back(garden: Garden) -> None:
    garden.services.store._now = lambda: datetime.now(UTC) - timedelta(hours=2)
    plant(ada(garden), NOTES)
    row = calls_of(garden)[-1]
    assert row["event_id"] < row["call_id"]
    assert row["status"] == "success"


def test_an_erasure_of_everything_removes_the_calls(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    ada(garden).call("fs.read", {"path": NOTES})
    forget_heads(garden)
    erase(garden, everything=True)
    assert calls_now(garden) == []
    ada(garden).call("fs.list", {"path": "users/ada"})
    assert len(calls_now(garden)) == 1


class Words(dict[str, Any]):
    """Arguments that can be watched."""


@pytest.mark.parametrize("text", ["Slept well.", "x" * 2_000_000])
def test_the_words_of_a_call_are_gone_with_its_answer(garden: Garden, text: str) -> None:
    plant(ada(garden), NOTES)
    gc.disable()
    try:
        for tool in ("fs.append", "fs.read", "fs.shout"):
            words = Words(path=NOTES, text=text)
            watched = weakref.ref(words)
            ada(garden).call(tool, words)
            del words
            assert watched() is None, tool
    finally:
        gc.enable()
