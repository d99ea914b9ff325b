"""Rules for every command: help with examples that run, and JSON that is one value."""

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
from tests.support.foreign import put_mem0
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, ok, plant, result
from tests.support.processes import environment
from tests.surfaces.cli.conftest import Command
from tools import cli_docs

REPOSITORY = Path(__file__).parents[3]


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for each in command.commands:
        yield from _commands(command.get_command(None, each), f"{name} {each}".strip())


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_summary_an_example_and_json(name: str) -> None:
    command = COMMANDS[name]
    text, _, examples = command.help.partition("\n\nExample")
    assert text.split("\n")[0].endswith(".")
    assert f"garden {name}" in examples.replace("garden --home ./my-garden ", "garden ")
    names = {option for each in command.params for option in each.opts}
    assert "--json" in names or name in {"console", "serve", "mcp", "worker", "schedule"}, name
    for each in command.params:
        assert each.help, (name, each.opts)
        assert each.help.endswith((".", "!")), (name, each.help)


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    "words",
    [
        "ls", "cat notes.md", "search slept", "append notes.md x",
        "patch parts/critic/profile.md needs --append x",
        "lint", "events", "plant", "call tools.list", "tools", "tools fs.read",
        "tools prompt", "tools export --format mcp", "config", "migrate",
        "migrate --status", "migrate --print-roles", "doctor", "status", "stats", "recall slept",
        "memory list", "memory store x", "memory context", "summaries due", "reconcile", "init",
        "keys list", "keys verify", "keys rotate", "verify", "database url", "checkpoint",
        "checkpoint --keys",
    ],
)  # fmt: skip
def test_json_is_one_value_on_a_terminal_and_elsewhere(run: Command, words: str) -> None:
    # The doctor fails if others can read the database address in this file.
    (run.home / "garden.toml").chmod(0o600)
    for tty in (False, True):
        ran = run(*words.split(), "--json", tty=tty)
        assert ran.json is not None
        assert ran.code == (1 if words == "search slept" else 0)


@pytest.mark.parametrize("words", ["ls", "keys list", "status", "export out", "events", "migrate"])
def test_a_problem_is_an_envelope_with_json(run: Command, words: str) -> None:
    (run.home / "garden.toml").write_text("log_level = 'loud'\n")
    ran = run(*words.split(), "--json")
    assert (ran.code, ran.json["ok"], ran.json["error"]["code"]) == (1, False, "invalid_input")
    assert "GARDEN_LOG_LEVEL" in ran.json["error"]["message"] or "log_level" in ran.json["error"]["message"]


def _examples(planted: str, edited: str, token: str, memory: str) -> list[str]:
    """The page's examples, with the ids that this garden has."""
    text = re.sub(
        r"(garden event|garden prove|--event) [0-9a-f-]+", rf"\1 {planted}", "\n".join(cli_docs.examples())
    )
    text = re.sub(r"garden (undo|show) [0-9a-f]{8}", rf"garden \1 {edited}", text)
    text = re.sub(r"memory forget \w+", f"memory forget {memory}", text)
    return re.sub(r"token revoke [0-9a-f]+", f"token revoke {token}", text).splitlines()


def test_every_example_runs_in_the_order_of_the_page(
    run: Command, garden: Garden, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = garden.session("ada", "companion")
    plant(session, NOTES)
    planted = ok(session, "md.plant", path=CRITIC)
    plant(session, OVERVIEW, *(f"users/ada/parts/{part}/notes.md" for part in ("critic", "critik")))
    quote = {"append": '- "A deadline (ev:s12-m40)", she wrote'}
    edited = ok(session, "md.patch_section", path=NOTES, sectionAnchor="inbox", change=quote)
    (folder / "new.md").write_text("She is well.\n")
    (folder / "passage.txt").write_text("A deadline")
    change = {"tool": "fs.append", "args": {"path": NOTES, "text": "From a diff."}}
    (folder / "change.diff").write_text(result(session, "propose_change", **change)["diff"])
    calls = {"phase": "EXECUTE", "intent": "tool_call", "tools": [{"name": "archon.tools.list"}]}
    (folder / "request.json").write_text(json.dumps(calls))
    token = garden.tokens.create("ada", role="agent", actor="companion", expires_at=None).token.token_id
    memory = result(session, "memory.store", content="Likes rain.")["id"].rpartition("/")[2]
    shutil.copytree(REPOSITORY / "sample_users", folder / "sample_users")
    put_mem0(folder / "memories.json", "Mends clocks")
    monkeypatch.chdir(folder)
    examples = [
        each
        for each in _examples(planted["meta"]["eventId"], edited["meta"]["eventId"], token, memory)
        if not each.startswith(_STARTS_A_SERVER_OR_RUNS_ON)
    ]
    assert len(examples) > 40
    for example in examples:
        words = shlex.split(example)
        code, out, err = _run_example(run, example, words)
        assert code in ({0, 1} if example.startswith(_MAY_FIND) else {0}), (example, err)
        assert "Traceback" not in err
        if "--json" in words:
            json.loads(out)


def _run_example(run: Command, example: str, words: list[str]) -> tuple[int, str, str]:
    """Run an example in this process, or in a shell if it needs one, as for a pipe."""
    if words[0] == "garden":
        ran = run(*words[1:], GARDEN_USER="ada")
        return ran.code, ran.out, ran.err
    extra = {"GARDEN_USER": "ada", "PYTHON": sys.executable, "PYTHONPATH": str(REPOSITORY)}
    script = 'set -eu\ngarden() { "$PYTHON" -m garden "$@"; }\n' + example
    done = subprocess.run(
        ["bash", "-c", script], env=environment(run.home, extra), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


_MAY_FIND = (
    "garden status",
    "garden search",
    "garden doctor",
    # Where Citus is not installed.
    "garden migrate --distribute",
    # The day of the example may be before the first version.
    "garden cat notes.md --at",
    "garden diff parts/critic/profile.md 2026",
    "garden show parts/critic/profile.md 2026",
    "garden show . yesterday",
    "garden restore notes.md --at",
)
# These have tests of their own.
_STARTS_A_SERVER_OR_RUNS_ON = (
    "garden console", "garden database", "garden demo", "psql", "garden --home", "garden serve", "garden mcp",
    "garden worker", "garden schedule", "garden setup", "garden install-service", "GARDEN_BROKER_URL=",
    "garden migrate --distribute",
    "garden approvals show", "garden approvals approve", "garden approvals deny", "garden approvals undo",
)  # fmt: skip
