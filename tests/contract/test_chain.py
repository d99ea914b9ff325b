"""Every surface holds each call to the same rules, in the same order, and accounts for it once."""

from collections.abc import Iterator
from typing import Any

import pytest

from garden.application import Garden
from garden.home.folder import Home
from tests.contract.surfaces import ACTOR, SURFACES
from tests.support.calls import calls_now
from tests.support.gardens import NOTES, plant
from tests.support.planted import code_of, opened

RULES = f"""
[gateway.permissions]
"fs.append" = "ask"
"fs.write" = "deny"

[gateway.limits]
burst = 0
"fs.hash" = 1
"fs.write" = 2

[gateway.actors.{ACTOR}]
remove = ["fs.search"]
"""
APPEND: tuple[str, dict[str, Any]] = ("fs.append", {"path": NOTES, "text": "Slept well."})
LOST = {"path": "users/ada/parts/none/notes.md", "content": "x", "ifMatch": "sha256:" + "0" * 64}
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("fs.shout", {}, "unknown_tool"),
    ("fs.delete", {"path": NOTES}, "delete_not_allowed"),
    # An unlisted tool is refused before its arguments are looked at; so is one of another role.
    ("fs.search", {"no": 1}, "permission_denied"),
    ("fs.move", {"no": 1}, "permission_denied"),
    # What is invalid costs no call of the limit: one is left.
    ("fs.hash", {"no": 1}, "invalid_input"),
    ("fs.hash", {"path": "users/ben/notes.md"}, "path_not_allowed"),
    ("fs.hash", {"path": NOTES}, "ok"),
    ("fs.hash", {"path": NOTES}, "rate_limited"),
    # A denied call costs one, and reaches no file: it does not learn that this one is not there.
    ("fs.write", {"no": 1}, "invalid_input"),
    ("fs.write", LOST, "permission_denied"),
    ("fs.write", LOST, "permission_denied"),
    ("fs.write", LOST, "rate_limited"),
    (*APPEND, "permission_required"),
]


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    file = ready_home.path / "garden.toml"
    with opened(ready_home) as garden:
        plant(garden.session("ada", "planter"), NOTES)
    file.write_text(file.read_text() + RULES)
    with opened(ready_home) as garden:
        yield garden


@pytest.mark.parametrize("surface", SURFACES)
def test_the_chain_is_the_same_on_every_surface(garden: Garden, surface: str) -> None:
    known = len(calls_now(garden))
    notes = garden.home.path / NOTES
    before = notes.read_bytes()
    with SURFACES[surface](garden, "ada") as ask:
        answers = [ask("agent", tool, args) for tool, args, _ in CALLS]
        assert [code_of(each) for each in answers] == [code for *_, code in CALLS]
        assert answers[9]["error"]["message"] == "Access denied by creator."
        assert answers[7]["error"]["details"]["retryAfterMs"] > 0
        assert notes.read_bytes() == before
        approval = answers[-1]["error"]["details"]["approvalId"]
        approver = garden.session("ada", "grace", role="reviewer").caller
        garden.decisions.decide(approver, approval, "approved")
        assert code_of(ask("agent", *APPEND)) == "ok"
        again = {**APPEND[1], "idempotencyKey": "again"}
        assert code_of(ask("agent", "fs.append", again)) == "permission_required"
    assert notes.read_text().count("Slept well.") == 1
    # The surface has closed its garden, and with that written all rows.
    rows = calls_now(garden)[known:]
    codes = [*(code for *_, code in CALLS), "ok", "permission_required"]
    assert [row["code"] or "ok" for row in rows] == codes
    assert {row["surface"] for row in rows} == {
        {"command line": "cli"}.get(surface, surface.split()[0].lower())
    }
    assert all((row["status"] == "success") == (row["code"] is None) for row in rows)
    assert [row["event_id"] is not None for row in rows].count(True) == 1
