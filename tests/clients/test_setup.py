"""`garden setup` shows a change of a client's settings, makes it, and takes it back to the byte."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

import garden
from garden.clients.known import CLIENTS
from garden.clients.program import find_program
from garden.clients.setup import ClientError, make_change, plan_setup
from tests.support.first_memory import remember
from tests.support.processes import command, environment
from tests.surfaces.cli.conftest import Command

FILES = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
}
OTHERS = {
    "codex": '# mine\nmodel = "x"\n[mcp_servers.other]\ncommand = "y"\n',
    "vscode": '{\n\t// mine\n\t"inputs": [],\n}',
}
OTHER = '{"token": "hunter2", "mcpServers": {"other": {"command": "y"}}, "key": "hunter3"}'


@pytest.fixture
def person(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a person who uses every client, and none is set up."""
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GARDEN_USER", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in (".claude", ".codex", ".config/Claude", ".config/Code", ".cursor"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture
def setup(person: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(person / "my garden", monkeypatch)


def entry_in(file: Path) -> dict[str, Any]:
    """The entry, as the client's own parser reads it."""
    text = file.read_text("utf-8")
    if file.suffix == ".toml":
        found: dict[str, Any] = tomllib.loads(text)["mcp_servers"]["memory-garden"]
        return found
    settings = json.loads(re.sub(r"//.*|,(?=\s*})", "", text))
    entry: dict[str, Any] = (settings.get("mcpServers") or settings["servers"])["memory-garden"]
    return entry


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("has_file", [False, True])
def test_a_client_is_set_up_once_and_taken_back_exactly(
    setup: Command, person: Path, name: str, has_file: bool
) -> None:
    file = person / FILES[name]
    before = OTHERS.get(name, OTHER).encode() if has_file else None
    if before is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(before)
        file.chmod(0o640)
    shown = setup.well("setup", name, "--dry-run")
    assert "+" in shown
    assert file.exists() == has_file
    written = setup.well("setup", name, "--user", "ada", "--yes")
    assert f"Written: {file}" in written
    entry = entry_in(file)
    assert entry["args"][-5:] == ["mcp", "--user", "ada", "--actor", name]
    assert entry["env"] == {"GARDEN_HOME": str(setup.home)}
    assert entry.get("type") == ("stdio" if name in {"claude-code", "vscode"} else None)
    assert file.stat().st_mode & 0o777 == (0o640 if has_file else 0o600)
    made = file.read_bytes()
    assert f"Nothing to change in {file}" in setup.well("setup", name, "--user", "ada", "--yes")
    assert file.read_bytes() == made
    setup.well("setup", name, "--user", "ada", "--profile", "full", "--yes")
    assert entry_in(file)["args"][-2:] == ["--profile", "full"]
    undone = setup.well("setup", name, "--undo", "--yes")
    assert f"{'Written' if has_file else 'Removed'}: {file}" in undone
    assert (file.read_bytes() if file.exists() else None) == before
    assert [each.name for each in file.parent.iterdir() if "memory-garden" in each.name] == []
    assert "Nothing to change" in setup.well("setup", name, "--undo", "--yes")
    assert not setup.home.exists()


def test_undo_takes_only_the_entry_out_of_a_file_that_was_changed_since(setup: Command, person: Path) -> None:
    file = person / FILES["claude-code"]
    file.write_text('{"mcpServers": {"memory-garden": {"command": "mine"}}, "starts": 1}')
    setup.well("setup", "claude-code", "--yes")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"starts": 2}))
    setup.well("setup", "claude-code", "--undo", "--yes")
    assert json.loads(file.read_text()) == {"mcpServers": {"memory-garden": {"command": "mine"}}, "starts": 2}
    setup.well("setup", "claude-code", "--undo", "--yes")
    assert json.loads(file.read_text()) == {"mcpServers": {}, "starts": 2}


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("others", [OTHER, '{"token": "hunter2"}'])
def test_the_diff_shows_no_words_that_stay(
    setup: Command, person: Path, others: str, indent: int | None
) -> None:
    file = person / FILES["cursor"]
    file.write_text(json.dumps(json.loads(others), indent=indent))
    shown = json.loads(setup.well("setup", "cursor", "--yes", "--json"))
    assert shown["written"]
    assert shown["entry"] == entry_in(file)
    assert '+    "memory-garden": {' in shown["diff"]
    undone = json.loads(setup.well("setup", "cursor", "--undo", "--yes", "--json"))
    assert "hunter" not in shown["diff"] + undone["diff"]


def test_a_file_of_another_account_stays(setup: Command, person: Path) -> None:
    file = person / FILES["cursor"]
    file.write_text("{}")
    if os.geteuid() == 0:
        os.chown(file, 1234, 1234)
        assert "different accounts" in setup.fails("setup", "cursor", "--yes")
        assert (file.stat().st_uid, file.read_text()) == (1234, "{}")


def test_without_a_terminal_nothing_is_written_unless_yes_is_given(setup: Command, person: Path) -> None:
    ran = setup("setup", "cursor")
    assert (ran.code, "Add --yes" in ran.err) == (2, True)
    assert list((person / ".cursor").iterdir()) == []


@pytest.mark.parametrize(("answer", "code", "files"), [(b"n\n", 1, 0), (b"y\n", 0, 2)])
def test_on_a_terminal_a_person_is_asked_after_the_change_was_shown(
    person: Path, answer: bytes, code: int, files: int
) -> None:
    ours, theirs = os.openpty()
    os.write(ours, answer)
    done = subprocess.run(
        command("setup", "cursor"),
        env=environment(person / "home"),
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert done.returncode == code, done.stderr
    assert "GARDEN_HOME" in done.stdout.partition("Write this?")[0]
    assert len(list((person / ".cursor").iterdir())) == files


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("words", [["--yes"], ["--undo", "--yes"]])
def test_a_client_that_is_not_there_is_refused(setup: Command, name: str, words: list[str]) -> None:
    folder = CLIENTS[name].folder()
    folder.rmdir()
    assert f"there is no {folder}" in setup.fails("setup", name, *words)
    assert not folder.exists()


def test_a_malformed_file_a_link_and_no_file_are_refused_and_stay(setup: Command, person: Path) -> None:
    file = person / FILES["cursor"]
    for content in (b"{", b"\xff", b'{"mcpServers": 5}'):
        file.write_bytes(content)
        assert "hint:" in setup.fails("setup", "cursor", "--yes")
        assert file.read_bytes() == content
    file.rename(person / "elsewhere.json")
    file.symlink_to(person / "elsewhere.json")
    assert "is a link" in setup.fails("setup", "cursor", "--yes")
    file.unlink()
    file.mkdir()
    assert "is a link or no file" in setup.fails("setup", "cursor", "--yes")
    assert [each.name for each in (person / ".cursor").iterdir()] == ["mcp.json"]


@pytest.mark.usefixtures("person")
def test_a_file_changed_after_the_plan_is_refused() -> None:
    change = plan_setup(CLIENTS["cursor"], {"command": "x"})
    change.path.write_text("{}")
    with pytest.raises(ClientError, match="just been changed"):
        make_change(change)
    assert change.path.read_text() == "{}"


def test_the_settings_are_looked_for_where_each_client_keeps_them(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("CLAUDE_CONFIG_DIR", "/c"), ("CODEX_HOME", "/x"), ("XDG_CONFIG_HOME", "/d")):
        monkeypatch.setenv(name, value)
    named = {name: str(client.file()) for name, client in CLIENTS.items()}
    assert named["claude-code"] == "/c/.claude.json"
    assert named["codex"] == "/x/config.toml"
    assert named["vscode"] == "/d/Code/User/mcp.json"
    monkeypatch.setattr("sys.platform", "darwin")
    support = person / "Library/Application Support"
    assert CLIENTS["vscode"].file() == support / "Code/User/mcp.json"
    assert CLIENTS["claude-desktop"].file() == support / "Claude/claude_desktop_config.json"


def test_the_program_of_an_installation_is_named_with_its_full_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = folder / "garden"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(script), "setup"])
    assert find_program() == [str(script)]
    # Whatever started this process, it is not a script of ours that anybody can start again.
    script.chmod(0o644)
    assert find_program()[1:] == ["-m", "garden"]


@pytest.mark.parametrize(
    ("prefix", "runner", "words"),
    [
        (".cache/uv/archive-v0/3xK", "uvx", ["--from"]),
        (".cache/pipx/3c07", "pipx", ["run", "--spec"]),
    ],
)
def test_a_program_in_a_cache_is_started_by_what_keeps_the_cache(
    folder: Path, monkeypatch: pytest.MonkeyPatch, prefix: str, runner: str, words: list[str]
) -> None:
    monkeypatch.setattr("sys.prefix", str(folder / prefix))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("UV", raising=False)
    with pytest.raises(ClientError, match=runner):
        find_program()
    program = folder / runner
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    read = PathDistribution.read_text
    record = json.dumps({"url": "file:///my%20wheels/garden.whl", "archive_info": {}})
    for found, source in ((None, f"memory-garden=={garden.__version__}"), (record, "/my wheels/garden.whl")):
        monkeypatch.setattr(
            PathDistribution,
            "read_text",
            lambda self, name, found=found: found if name == "direct_url.json" else read(self, name),
        )
        assert find_program() == [str(program), *words, source, "memory-garden"]


def test_the_command_that_was_written_keeps_a_first_memory_and_recalls_it(
    setup: Command, person: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    setup.well("setup", "codex", "--yes")
    entry = entry_in(person / FILES["codex"])
    assert "--user me" in shlex.join(entry["args"])
    found = remember(entry, {"GARDEN_DATABASE_URL": database})
    assert "Wants to sail the Baltic" in found
