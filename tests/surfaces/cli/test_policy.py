"""`garden policy explain`, and the tools that `garden tools` shows for an actor."""

from pathlib import Path

import pytest

from garden.application import Garden
from garden.home.settings import TokenPolicy
from tests.surfaces.cli.conftest import Command

SETTINGS = """
[gateway]
phase = "tend"
preset = "strict"
[gateway.permissions]
"fs.*" = "ask"
[gateway.actors.guest]
phase = "observe"
[gateway.actors.guest.limits]
all_hour = 0
"""


@pytest.fixture
def settings(run: Command) -> Path:
    file = run.home / "garden.toml"
    with file.open("a") as opened:
        opened.write(SETTINGS)
    return file


@pytest.mark.usefixtures("settings")
def test_an_explanation_names_the_setting_that_decides(run: Command) -> None:
    words = ("policy", "explain", "--actor", "guest", "--tool", "fs_append")
    assert run(*words, "--json").json == {
        "actor": "guest",
        "tool": "fs.append",
        "roles": "agent, maintainer",
        "phase": "observe",
        "listed": False,
        "why": "it belongs to the phase tend, and yours is observe",
        "permission": "ask",
        "decidedBy": "gateway.permissions: 'fs.*'",
        "limits": {"all_minute": 103, "actor_minute": 13, "actor_hour": 203},
    }
    shown = run.well(*words)
    assert "it belongs to the phase tend" in shown
    assert "actor_minute: 13" in shown


def test_a_tokens_own_policy_counts_with_its_id(run: Command, garden: Garden) -> None:
    policy = TokenPolicy(phase="observe", permissions={"fs.read": "deny"})
    made = garden.tokens.create("ada", role="agent", actor="guest", expires_at=None, policy=policy)
    words = ("policy", "explain", "--actor", "guest", "--tool", "fs.read", "--json")
    assert run(*words).json["permission"] == "allow"
    with_token = run(*words, "--token", made.token.token_id).json
    assert (with_token["permission"], with_token["phase"]) == ("deny", "observe")
    assert with_token["decidedBy"] == "the token's policy: 'fs.read'"
    another = ("policy", "explain", "--actor", "other", "--tool", "fs.read", "--token", made.token.token_id)
    assert "actor is guest" in run.fails(*another, code=2)


def test_a_wrong_tool_or_a_broken_policy_is_explained(run: Command, settings: Path) -> None:
    assert "Did you mean fs.read" in run.fails("policy", "explain", "--actor", "a", "--tool", "fs.raed")
    settings.write_text("[gateway.permissions]\n'fs.raed' = 'ask'\n")
    said = run.fails("policy", "explain", "--actor", "a", "--tool", "fs.read")
    assert "garden.toml line 2: gateway.permissions names 'fs.raed'" in said


@pytest.mark.usefixtures("settings")
def test_tools_are_marked_that_an_actor_does_not_have(run: Command) -> None:
    for actor, refused in (("operator", {"fs.move"}), ("guest", {"fs.move", "fs.append"})):
        listed = run("tools", "--actor", actor, "--json").json
        allowed = {each["name"] for each in listed if each["allowed"]}
        assert "fs.read" in allowed
        assert not refused & allowed
    assert "writes, not for you" in run.well("tools", "--actor", "guest")
