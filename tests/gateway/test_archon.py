"""The Archon envelope: several calls in one request."""

from typing import Any

import pytest

from garden.application import Garden
from garden.gateway.archon import DENIED
from garden.grammar.errors import GardenError
from garden.session import Session
from tests.support.gardens import NOTES, plant, result

SHAPE: dict[str, Any] = {"phase": "EXECUTE", "intent": "tool_call", "summary": "Tend the notes."}


def asked(*calls: tuple[str, dict[str, Any]], **others: Any) -> dict[str, Any]:
    return {**SHAPE, "tools": [{"name": name, "args": args} for name, args in calls], **others}


@pytest.fixture
def ada(garden: Garden) -> Session:
    session = garden.session("ada", "companion")
    plant(session, NOTES)
    return session


def test_the_calls_run_in_order_under_their_own_names(ada: Session) -> None:
    done = ada.archon(
        asked(
            ("archon.fs.edit", {"path": NOTES, "find": "# Notes", "replace": "# Mine"}),
            ("archon.fs.find", {"base": "users/ada", "pattern": "^# M"}),
            ("archon.fs.read", {"path": NOTES}),
            ("archon.tools.list", {}),
            ("archon.tools.help", {"tool": "fs.read"}),
            ("md.list_sections", {"path": NOTES}),
        )
    )
    assert set(done) == {"success", "results"}
    assert done["success"] is True
    edited, found, read, *_ = (each["result"]["result"] for each in done["results"])
    assert edited["matchCount"] == 1
    assert found == [{"path": NOTES, "line": 7, "match": "# Mine"}]
    assert read == result(ada, "fs.read", path=NOTES)
    assert [each["tool"] for each in done["results"]][:2] == ["archon.fs.edit", "archon.fs.find"]


def test_an_error_of_a_tool_does_not_stop_the_calls_after_it(ada: Session) -> None:
    done = ada.archon(asked(("archon.fs.read", {"path": "users/ada/overview.md"}), ("archon.tools.list", {})))
    assert done["success"] is False
    assert [each["result"]["ok"] for each in done["results"]] == [False, True]
    assert "denied" not in done


def test_a_delete_meets_the_hard_block(ada: Session) -> None:
    done = ada.archon(asked(("archon.fs.delete", {"path": NOTES}), ("archon.fs.read", {"path": NOTES})))
    (tried,) = done["results"]
    assert tried["result"]["error"]["code"] == "delete_not_allowed"
    assert done["denied"] == ["archon.fs.delete", "archon.fs.read"]
    assert done["message"] == "No tool deletes documents."


def test_the_first_call_that_the_gate_refuses_stops_the_rest(garden: Garden, ada: Session) -> None:
    before = result(ada, "fs.read", path=NOTES)
    reviewer = garden.session("ada", "reader", role="reviewer")
    done = reviewer.archon(
        asked(
            ("archon.fs.read", {"path": NOTES}),
            ("archon.fs.write", {"path": NOTES, "content": "x"}),
            ("archon.tools.list", {}),
        )
    )
    assert (done["success"], done["message"]) == (False, DENIED)
    assert [each["result"]["ok"] for each in done["results"]] == [True, False]
    assert done["denied"] == ["archon.fs.write", "archon.tools.list"]
    assert result(ada, "fs.read", path=NOTES) == before


def test_a_field_given_by_both_names_is_refused(ada: Session) -> None:
    both = {"base": "users/ada", "root": "users/ada", "pattern": "x"}
    (tried,) = ada.archon(asked(("archon.fs.find", both)))["results"]
    assert tried["result"]["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (None, "the request"),
        ([], "the request"),
        ({}, "phase"),
        (asked(("a", {}), phase="PLAN"), "phase"),
        (asked(("a", {}), intent="chat"), "intent"),
        (asked(), "tools"),
        (asked(*[("a", {})] * 51), "tools"),
        (asked(("a", {}), requires_permission="yes"), "requires_permission"),
        (asked(("a", {}), extra=1), "extra"),
        ({**SHAPE, "tools": [{"name": "a", "args": []}]}, "tools.0.args"),
        ({**SHAPE, "tools": [{"args": {}}]}, "tools.0.name"),
    ],
)
def test_a_request_of_another_shape_runs_nothing(ada: Session, request_: object, field: str) -> None:
    with pytest.raises(GardenError) as caught:
        ada.archon(request_)
    assert caught.value.code == "invalid_input"
    assert caught.value.details == {"field": field}


def test_requires_permission_asks_before_a_write_and_never_before_a_read(ada: Session) -> None:
    calls = ("archon.fs.read", {"path": NOTES}), ("fs.append", {"path": NOTES, "text": "Slept well."})
    asked_first = ada.archon(asked(*calls, requires_permission=True))
    assert [each["result"]["ok"] for each in asked_first["results"]] == [True, False]
    assert asked_first["denied"] == ["fs.append"]
    assert ada.archon(asked(*calls, requires_permission=False))["success"]
