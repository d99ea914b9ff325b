"""What is so of every command: help with examples that run, one JSON value, a page in the documents."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from garden.application import Garden
from garden.surfaces.cli.main import app
from tests.support.processes import environment
from tests.surfaces.cli.conftest import Command
from tools import cli_docs

REPOSITORY = Path(__file__).parents[3]


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for each, inner in command.commands.items():
        yield from _commands(inner, f"{name} {each}".strip())


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does_and_gives_an_example_and_json(name: str) -> None:
    command = COMMANDS[name]
    told, _, examples = command.help.partition("\n\nExample")
    assert told.split("\n")[0].endswith(".")
    assert f"garden {name}" in examples.replace("garden --home ./my-garden ", "garden ")
    names = {option for each in command.params for option in each.opts}
    assert "--json" in names or name in {"serve", "mcp", "worker", "schedule"}, name
    for each in command.params:
        assert each.help, (name, each.opts)
        assert each.help.endswith((".", "!")), (name, each.help)


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    "words",
    [
        "ls", "cat notes.md", "search slept", "append notes.md x",
        "patch parts/critic/profile.md needs --append x",
        "lint", "events", "plant", "call tools.list", "tools", "tools fs.read", "config", "migrate",
        "migrate --status", "migrate --print-roles", "doctor", "status", "reconcile", "init", "keys list",
        "keys verify", "keys rotate", "database url",
    ],
)  # fmt: skip
def test_json_is_one_value_on_standard_output_whatever_it_is_printed_on(run: Command, words: str) -> None:
    # It holds the address of a database, and the doctor wants that kept from others.
    (run.home / "garden.toml").chmod(0o600)
    for tty in (False, True):
        ran = run(*words.split(), "--json", tty=tty)
        assert ran.json is not None
        assert ran.code == (1 if words == "search slept" else 0)


@pytest.mark.parametrize("words", ["ls", "keys list", "status", "export out", "events", "migrate"])
def test_a_problem_is_an_envelope_where_json_is_wanted(run: Command, words: str) -> None:
    (run.home / "garden.toml").write_text("log_level = 'loud'\n")
    ran = run(*words.split(), "--json")
    assert (ran.code, ran.json["ok"], ran.json["error"]["code"]) == (1, False, "invalid_input")
    assert "GARDEN_LOG_LEVEL" in ran.json["error"]["message"] or "log_level" in ran.json["error"]["message"]


def _sayable(examples: list[str], event: str, token: str) -> list[str]:
    """Put in the examples what is different in every garden."""
    known = re.sub(r"(garden event|--event) [0-9a-f-]+", rf"\1 {event}", "\n".join(examples))
    return re.sub(r"token revoke [0-9a-f]+", f"token revoke {token}", known).splitlines()


def test_every_example_runs_in_the_order_of_the_page(garden: Garden, folder: Path) -> None:
    examples = cli_docs.examples()
    assert len(examples) > 40
    session = garden.session("ada", "companion")
    assert session.call("md.plant", {"path": "users/ada/notes.md"})["ok"]
    planted = session.call("md.plant", {"path": "users/ada/parts/critic/profile.md"})
    for path in ("users/ada/overview.md", "users/ada/parts/critic/notes.md"):
        assert session.call("md.plant", {"path": path})["ok"]
    said = '- "A deadline (ev:s12-m40)", she wrote'
    change = {"path": "users/ada/notes.md", "sectionAnchor": "inbox", "change": {"append": said}}
    assert session.call("md.patch_section", change)["ok"]
    (folder / "new.md").write_text("She is well.\n")
    proposed = session.call(
        "propose_change",
        {"tool": "fs.append", "args": {"path": "users/ada/notes.md", "text": "From a diff."}},
    )
    (folder / "change.diff").write_text(proposed["result"]["diff"])
    token = garden.tokens.create("ada", role="agent", actor="companion", expires_at=None).token.token_id
    shutil.copytree(REPOSITORY / "sample_users", folder / "sample_users")
    env = environment(
        garden.home.path, {"GARDEN_USER": "ada", "PYTHON": sys.executable, "PYTHONPATH": str(REPOSITORY)}
    )
    for example in _sayable(examples, planted["meta"]["eventId"], token):
        if not _may_run(example):
            continue
        script = 'set -eu\ngarden() { "$PYTHON" -m garden "$@"; }\n' + example
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode in ({0, 1} if example.startswith(_MAY_FIND) else {0}), (example, done.stderr)
        assert "Traceback" not in done.stderr
        if "--json" in shlex.split(example):
            json.loads(done.stdout)


_MAY_FIND = (
    "garden status",
    "garden search",
    "garden doctor",
    "garden cat notes.md --at",
    "garden restore notes.md --at",
)


_STARTS_SERVERS = (
    "garden database", "garden demo", "psql", "garden --home", "garden serve", "garden mcp", "garden worker",
    "garden schedule", "GARDEN_BROKER_URL=",
)  # fmt: skip


def _may_run(example: str) -> bool:
    """Whether an example runs beside others; what starts servers has tests of its own."""
    return not example.startswith(_STARTS_SERVERS)
