"""Policies: whose tools, whose permissions, and when a change of the settings takes effect."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from garden.events.database import connection
from garden.gateway import policies
from garden.gateway.policies import NotListedError, Rules
from garden.home.folder import Home
from garden.home.settings import ActorPolicy, Gateway, SettingsError, TokenPolicy
from garden.tools.registry import REGISTRY
from tests.gateway.test_limits import limited
from tests.support.planted import NOTES, code_of, ok, plant

NAMES = ("fs.read", "fs.append", "fs.move")


def rules(token: dict[str, Any] | None = None, actor: dict[str, Any] | None = None, **gateway: Any) -> Rules:
    own = ActorPolicy(**(actor or {}))
    return Rules(Gateway(**gateway), own, "companion", TokenPolicy(**(token or {})))


@pytest.mark.parametrize(
    ("made", "has"),
    [
        (rules(), {*NAMES}),
        (rules(phase="observe"), {"fs.read"}),
        (rules(phase="observe", actor={"phase": "tend"}), {"fs.read", "fs.append"}),
        (rules(phase="observe", actor={"add": ["fs.move"]}), {"fs.read", "fs.move"}),
        (rules(actor={"add": ["fs.read"], "remove": ["fs.read"]}), {"fs.append", "fs.move"}),
        # A token narrows, and never widens.
        (rules({"phase": "maintain"}, phase="observe"), {"fs.read"}),
        (rules({"phase": "observe"}, actor={"add": ["fs.move"]}), {"fs.read"}),
        (rules({"remove": ["fs.read"]}, phase="tend"), {"fs.append"}),
    ],
)
def test_a_phase_has_its_tools_and_policies_add_and_remove_some(made: Rules, has: set[str]) -> None:
    assert {name for name in NAMES if made.has(REGISTRY[name])} == has
    for name in {*NAMES} - has:
        with pytest.raises(NotListedError) as refusal:
            made.check_listed(REGISTRY[name])
        assert name in refusal.value.message
        assert f"phase {REGISTRY[name].traits.phase}" in refusal.value.message


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (rules(), ("allow", "the default")),
        (rules(permissions={"*": "deny", "fs.*": "ask"}), ("ask", "gateway.permissions: 'fs.*'")),
        (
            rules(permissions={"fs.move": "deny"}, actor={"permissions": {"*": "allow"}}),
            ("allow", "gateway.actors.companion.permissions: '*'"),
        ),
        (rules({"permissions": {"fs.move": "ask"}}), ("ask", "the token's policy: 'fs.move'")),
        (
            rules({"permissions": {"*": "allow"}}, permissions={"*": "deny"}),
            ("deny", "gateway.permissions: '*'"),
        ),
    ],
)
def test_the_longest_name_of_the_actor_then_of_all_decides_and_a_token_tightens(
    made: Rules, verdict: tuple[str, str]
) -> None:
    assert made.verdict(REGISTRY["fs.move"]) == verdict


@pytest.mark.parametrize(
    ("made", "most"),
    [
        (rules(), {}),
        (
            rules(preset="strict"),
            {"all_minute": 103, "all_hour": 2003, "actor_minute": 13, "actor_hour": 203, "fs.read": 8},
        ),
        (
            rules(preset="default", limits={"all_hour": 0, "burst": 0}, actor={"limits": {"fs.read": 7}}),
            {"all_minute": 2000, "actor_minute": 200, "actor_hour": 4000, "fs.read": 7},
        ),
        (
            rules({"preset": "strict"}, limits={"actor_minute": 5, "all_hour": 0, "burst": 1}),
            {"all_minute": 101, "all_hour": 2001, "actor_minute": 6, "actor_hour": 201, "fs.read": 6},
        ),
        (
            rules({"preset": "strict"}, preset="default"),
            {"all_minute": 103, "all_hour": 2003, "actor_minute": 13, "actor_hour": 203, "fs.read": 8},
        ),
    ],
)
def test_single_limits_change_those_of_the_preset_and_a_token_takes_the_smaller(
    made: Rules, most: dict[str, int]
) -> None:
    assert {window.name: window.most for window in made.windows(REGISTRY["fs.read"])} == most


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "\n[gateway.permissions]\n'fs.raed' = 'ask'\n",
            "line 4: gateway.permissions names 'fs.raed', which does not exist; did you mean 'fs.read'?",
        ),
        (
            "[gateway.actors.ai]\nadd = [\n  'fs.moove',\n]\n",
            "line 3: gateway.actors.ai.add names 'fs.moove', which does not exist; did you mean 'fs.move'?",
        ),
        (
            "[gateway.actors.ai]\nremove = ['fs.*']\n",
            "line 3: gateway.actors.ai.remove names 'fs.*', which does not exist",
        ),
        (
            "[gateway.limits]\nall_minutes = 5\n",
            "line 3: gateway.limits names 'all_minutes', which does not exist; did you mean 'all_minute'?",
        ),
    ],
)
def test_a_wrong_name_is_refused_with_its_line_and_the_nearest_one(
    ready_home: Home, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError) as refusal, limited(ready_home, text):
        pass
    assert refusal.value.message.startswith(f"garden.toml {complaint}")


def test_a_change_of_the_settings_takes_effect_and_a_broken_one_does_not(
    ready_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "_RENEW_SECONDS", 0)
    file = ready_home.path / "garden.toml"
    whole = file.read_text()
    with limited(ready_home, "") as session:
        plant(session, NOTES)
        write = "fs.append", {"path": NOTES, "text": "Slept well."}
        file.write_text(f"{whole}[gateway]\nphase = 'observe'\n")
        assert code_of(session.call(*write)) == "permission_denied"
        with capture_logs() as logs:
            for broken in ("[gateway]\nphase = 'watch'", "[gate", "[gateway.limits]\n'fs.raed' = 1", ""):
                file.write_text(broken)
                assert [code_of(session.call(*write)) for _ in range(2)] == ["permission_denied"] * 2
            file.unlink()
            assert code_of(session.call(*write)) == "permission_denied"
        assert len(logs) == 3
        assert str(ready_home.path) not in str(logs)
        assert "garden.toml line 2: gateway.phase is 'watch'" in logs[0]["problem"]
        file.write_text(whole)
        ok(session.call(*write))


def test_the_chain_refuses_in_its_order_and_only_a_valid_request_costs_a_call(
    ready_home: Home, database: str
) -> None:
    text = "[gateway]\nphase = 'tend'\n[gateway.limits]\nactor_minute = 2\n"
    with limited(ready_home, text) as session:
        for tool, args, code in (
            ("fs.delete", {}, "delete_not_allowed"),
            ("fs.raed", {}, "unknown_tool"),
            # Not listed, before the request is looked at.
            ("fs.move", {"surplus": 1}, "permission_denied"),
            ("fs.read", {"surplus": 1}, "invalid_input"),
            ("fs.read", {"path": "users/ben/notes.md"}, "path_not_allowed"),
            ("fs.write", {"path": NOTES, "content": "ghp_" + "a1B2" * 9}, "invalid_input"),
        ):
            assert code_of(session.call(tool, args)) == code, tool
        with connection(database) as asking:
            assert asking.execute("select from garden.call_counts").fetchall() == []
        plant(session, NOTES)
        assert code_of(session.call("fs.read", {"path": "users/ada/parts/none/profile.md"})) == "not_found"
        # Out of calls: a write is refused before it reaches the file.
        before = (ready_home.path / NOTES).read_text()
        append = {"path": NOTES, "text": "Slept well."}
        assert code_of(session.call("fs.append", append)) == "rate_limited"
        assert (ready_home.path / NOTES).read_text() == before
        assert code_of(session.call("fs.move", {})) == "permission_denied"


def test_lists_show_what_the_policy_allows(ready_home: Home) -> None:
    with limited(
        ready_home, "[gateway.actors.companion]\nphase = 'observe'\nadd = ['fs.append']\n"
    ) as session:
        listed = {each["name"]: each["allowed"] for each in ok(session.call("tools.list"))["result"]}
    expected = {name for name, tool in REGISTRY.items() if not tool.traits.writes} | {"fs.append"}
    assert {name for name, allowed in listed.items() if allowed} == expected
