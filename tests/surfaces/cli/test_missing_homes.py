"""A mistyped home: commands that read never make one, and the others say where they made it."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

import garden as package
from garden.home.folder import HomeMissingError
from tests.support.foreign import put_mem0
from tests.support.mcp_lines import INITIALIZE
from tests.support.processes import spawn_garden
from tests.surfaces.cli.conftest import Command
from tests.surfaces.cli.test_every_command import COMMANDS, REPOSITORY

MAKES_A_HOME = {"init", "import", "mcp", "plant", "serve"}
NEEDS_NO_HOME = {"config", "policy explain", "tools show"}
# It makes a throw-away home of its own; its test looks at what it leaves.
REST = sorted(COMMANDS.keys() - MAKES_A_HOME - NEEDS_NO_HOME - {"demo", "setup"})


def example_of(name: str) -> list[str]:
    """The words of a command's first example that starts with its name."""
    examples = COMMANDS[name].help.partition("\n\nExample")[2].splitlines()
    found = next(each for each in examples if f"garden {name}" in each)
    return shlex.split(found[found.index(f"garden {name}") :].split(" | ")[0].split(')"')[0])[1:]


@pytest.mark.parametrize("name", REST)
def test_a_command_on_a_missing_home_names_it_and_makes_nothing(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GARDEN_BROKER_URL", "redis://127.0.0.1:1")
    empty, better = folder / "empty", folder / "better.json"
    empty.mkdir()
    better.write_text("{}")
    for home, user in ((folder / "lost" / "home", "ada"), (empty, "")):
        ran = Command(home, monkeypatch)(*example_of(name), GARDEN_USER=user)
        assert ran.code == 1, ran
        assert str(home) in ran.out + ran.err
        assert name == "doctor" or "garden init" in ran.out + ran.err
        assert set(folder.rglob("*")) == {empty, better}


@pytest.mark.parametrize("name", sorted(NEEDS_NO_HOME))
def test_a_command_that_needs_no_home_makes_none(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Command(folder / "home", monkeypatch).well(*example_of(name))
    assert list(folder.iterdir()) == []


def test_a_dry_run_of_an_import_makes_no_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Command(folder / "home", monkeypatch)
    export = put_mem0(folder / "all.json", "Mends clocks")
    message = run.fails("import", "--from", "mem0", export, "--user", "ada", "--dry-run")
    assert f"There is no garden home in {run.home}." in message
    assert not run.home.exists()


@pytest.mark.parametrize("name", sorted(MAKES_A_HOME))
def test_a_command_that_makes_a_home_says_where_on_standard_error(
    name: str, folder: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: dict[str, list[str | Path]] = {
        "import": [REPOSITORY / "sample_users"],
        "serve": ["--port", "0"],
        "init": [],
    }
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    new = folder / "new"
    started = spawn_garden(name, *words.get(name, ["--user", "ada"]), home=new, stdin=subprocess.PIPE)
    if name == "mcp":
        assert started.stdin is not None
        started.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
        )
        started.stdin.write("\n")
    elif name == "serve":
        assert started.stdout is not None
        assert started.stdout.readline().startswith("Listening on ")
        started.terminate()
    out, err = started.communicate(timeout=60)
    assert f"Made a new garden home: {new}" in err
    assert "Made a new" not in out


def test_the_python_api_makes_a_home_unless_it_may_not(
    folder: Path, database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    with pytest.raises(HomeMissingError, match=str(folder / "new")):
        package.open(folder / "new", create=False)
    assert list(folder.iterdir()) == []
    package.open(folder / "new").close()
    assert f"Made a new garden home: {folder / 'new'}" in caplog.messages


@pytest.mark.usefixtures("ada")
def test_the_home_may_be_named_after_the_command_too(run: Command, folder: Path) -> None:
    elsewhere = Command(folder / "nowhere", run._patch)
    for words in (
        ("ls", "--home", run.home),
        ("memory", "--home", run.home, "list"),
        ("--home", run.home, "ls"),
    ):
        assert elsewhere(*words).code == 0
    lost = folder / "lost"
    assert f"There is no garden home in {lost}." in run.fails("--home", run.home, "ls", "--home", lost)
