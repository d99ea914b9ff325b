"""Answers name commands and options, never tools and fields."""

import re
from typing import Any

import pytest
import typer.main

from garden.application import Garden
from garden.surfaces.cli.answers import COMMANDS, OPTIONS, in_shell_words
from garden.surfaces.cli.main import app
from garden.tools.registry import REGISTRY
from tests.support.gardens import CRITIC, edit_outside, file_of, ok
from tests.surfaces.cli.conftest import Command

PROFILE = "parts/critic/profile.md"
TOOLS = re.compile("|".join(map(re.escape, REGISTRY)))
FIELDS = re.compile(
    "|".join({alias for tool in REGISTRY.values() for alias in tool.request_schema["properties"]
              if not alias.islower()})
)  # fmt: skip


def test_every_tool_command_and_field_named_exists() -> None:
    group: Any = typer.main.get_command(app)
    known = {name: group.get_command(None, name) for name in group.commands}
    assert set(COMMANDS) <= set(REGISTRY)
    assert {command.split()[1] for command in COMMANDS.values()} <= set(known)
    fields = {field for tool in REGISTRY.values() for field in tool.request_schema["properties"]}
    assert {field.partition(":")[0] for field in OPTIONS} <= fields
    commands = [
        each for command in known.values() for each in getattr(command, "commands", {"": command}).values()
    ]
    options = {option for command in commands for each in command.params for option in each.opts}
    assert {option for option in OPTIONS.values() if option.startswith("--")} <= options


def test_a_command_already_named_by_a_hint_is_named_once() -> None:
    assert in_shell_words("Have md.restore ('garden restore') do it.") == "Have 'garden restore' do it."


def test_other_words_stay_as_they_are() -> None:
    for words in (
        "His amd.plant, she said.",
        "profile.md.lint",
        "fs.listing",
        "ifMatched",
        "'garden repair' mends that.",
    ):
        assert in_shell_words(words) == words


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["append", "parts/nobody/notes.md", "Hm."], "'garden plant'"),
        (["append", "memories/tea.md", "Hm."], "'garden call fs.write'"),
        (["ls", "memories/trips"], "'garden call fs.write'"),
        (["patch", PROFILE, "needs", "--append", "- Rest", "--if-match", f"sha256:{'0' * 64}"], "--if-match"),
        (["append", "notes.md", "Hm.", "--evidence", "a\nb"], "'garden append --help'"),
    ],
)
def test_a_refusal_names_commands_and_options(run: Command, words: list[str], wanted: str) -> None:
    message = run.fails(*words)
    assert wanted in message
    assert not TOOLS.search(re.sub(r"'garden call \S+'", "", message))
    assert not FIELDS.search(message)


@pytest.mark.usefixtures("ada")
def test_a_full_section_asks_for_the_option(run: Command) -> None:
    for number in range(7):
        run.well("patch", PROFILE, "evidence", "--append", f"- so {number} (ev:{number})")
    eighth = ["patch", PROFILE, "evidence", "--append", "- once more (ev:8)"]
    assert "--override-rationale" in run.fails(*eighth)
    assert "Needs an --override-rationale" in run.well(*eighth, "--dry-run")
    assert "overrideRationale" in run(*eighth, "--json").json["error"]["hint"]


@pytest.mark.usefixtures("ada")
def test_damaged_and_missing_documents_are_refused_with_commands(run: Command, garden: Garden) -> None:
    edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
    message = run.fails("patch", PROFILE, "needs", "--append", "- Rest")
    assert "'garden repair'" in message
    assert "'garden restore'" in message
    assert not TOOLS.search(message)
    file_of(garden, CRITIC).unlink()
    message = run.fails("patch", PROFILE, "needs", "--append", "- Rest")
    assert "'garden restore'" in message
    assert not TOOLS.search(message)


def test_an_empty_garden_shows_how_to_begin(run: Command, garden: Garden) -> None:
    assert "'garden plant' begins one" in run.fails("ls", "--user", "ada")
    assert "md.plant" in ok(garden.session("ada"), "fs.list", path="users/ada")["meta"]["hint"]
