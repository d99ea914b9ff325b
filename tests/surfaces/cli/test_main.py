"""The command itself: help, exit codes, streams, and the commands that need no garden."""

import subprocess
import sys
from pathlib import Path

import pytest

import garden as package
from garden.events.migrations import shipped_migrations
from tests.support.prepared_home import copy_prepared_home
from tests.support.processes import command, environment, garden
from tests.surfaces.cli.conftest import Command
from tests.surfaces.cli.test_every_command import COMMANDS

_RUN_AND_SHOW_MODULES = """
import sys
from garden.surfaces.cli.main import main
try:
    main()
finally:
    print(*sys.modules)
"""


@pytest.fixture
def fresh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, with a home that does not exist yet."""
    return Command(folder / "home", monkeypatch)


def test_help_lists_every_command_with_a_whole_sentence(fresh: Command) -> None:
    shown = fresh.well("--help", columns=80)
    listed = {
        words[0]: line for line in shown.splitlines() if line.startswith("  ") and (words := line.split())
    }
    for name in {name.split()[0] for name in COMMANDS}:
        assert listed[name].endswith("."), listed[name]
        assert not listed[name].endswith("..."), listed[name]


def test_help_loads_nothing_heavy() -> None:
    loaded = modules_loaded("-c", _RUN_AND_SHOW_MODULES, "--help")
    assert "typer" in loaded
    heavy = {"pydantic", "psycopg", "structlog", "rich", "asyncio", "markdown_it", "dramatiq", "numpy"}
    assert not loaded & heavy


@pytest.mark.usefixtures("ada")
def test_a_listing_loads_neither_the_grammar_nor_the_write_path(run: Command) -> None:
    loaded = modules_loaded("-c", _RUN_AND_SHOW_MODULES, "ls", home=run.home)
    assert "garden.tools.read_files" in loaded
    heavy = {"markdown_it", "yaml", "rich", "structlog", "psutil", "dramatiq", "fastapi", "mcp", "uvloop"}
    heavy.add("numpy")
    ours = {
        "garden.lint.linter",
        "garden.grammar.parser",
        "garden.writing.write_path",
        "garden.tools.markdown",
    }
    assert not loaded & (heavy | ours)
    assert {each for each in loaded if each.startswith("garden.surfaces.cli.")} == {
        f"garden.surfaces.cli.{name}"
        for name in ("answers", "desk", "main", "options", "read", "render", "typer_classes", "usage")
    }


@pytest.mark.usefixtures("ada")
def test_storing_memories_and_counting_them_load_no_embedder(run: Command) -> None:
    store = ("memory", "store", "Wants to sail.", "--category", "life-goal")
    for words, module in ((store, "garden.tools.memory_edits"), (("status",), "garden.recall.backlog")):
        loaded = modules_loaded("-c", _RUN_AND_SHOW_MODULES, *words, home=run.home)
        assert module in loaded
        assert not loaded & {"numpy", "garden.recall.index", "garden.recall.embedders.static"}


def test_importing_the_package_loads_no_other_module_of_it() -> None:
    loaded = modules_loaded("-c", "import sys, garden; print(*sys.modules)")
    assert {each for each in loaded if each.startswith("garden")} == {"garden"}
    assert not loaded & {"pathlib", "pydantic", "psycopg", "asyncio"}


def modules_loaded(*words: str, home: Path | None = None) -> set[str]:
    """The modules that a program has loaded at its end; it prints them last."""
    variables = environment(home) if home is not None else None
    done = subprocess.run(
        [sys.executable, "-I", *words], capture_output=True, text=True, check=False, env=variables
    )
    return set(done.stdout.splitlines()[-1].split())


def test_the_version_is_the_packages(fresh: Command) -> None:
    assert fresh.well("--version") == f"memory-garden {package.__version__}\n"


@pytest.mark.parametrize(
    "words", [["nonsense"], ["init", "--nonsense"], ["config", "surplus"], ["database", "nonsense"]]
)
def test_wrong_usage_exits_with_2_and_does_nothing(fresh: Command, words: list[str]) -> None:
    assert fresh.fails(*words, code=2)
    assert not fresh.home.exists()


def test_a_problem_exits_with_1_and_a_hint_on_standard_error_only(folder: Path) -> None:
    done = garden("migrate", "--status", home=folder / "home")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: There is no garden home in ")
    assert "\nhint:  Create it with 'garden init'" in done.stderr


def test_a_wrong_setting_is_reported_before_anything_is_created(fresh: Command) -> None:
    text = fresh.fails("init", GARDEN_LOG_LEVEL="loud")
    assert "GARDEN_LOG_LEVEL is 'loud'; accepted is 'debug', 'info', 'warning' or 'error'." in text
    assert not fresh.home.exists()


def test_init_makes_a_home_that_is_ready_and_can_be_repeated(fresh: Command, empty_database: str) -> None:
    first, second = (fresh("init", "--json", GARDEN_DATABASE_URL=empty_database) for _ in range(2))
    assert first.code == second.code == 0, first.err
    assert first.json == second.json
    assert "Applied migration 0001" in first.err
    assert "Applied" not in second.err


def test_init_is_not_ready_without_the_keys(fresh: Command, database: str) -> None:
    fresh.well("init", GARDEN_DATABASE_URL=database)
    keys = fresh.home / ".garden/keys"
    keys.unlink()
    text = fresh.fails("init", GARDEN_DATABASE_URL=database)
    assert "The integrity keys can't be read from .garden/keys." in text
    assert "Put the file back from a backup" in text
    assert not keys.exists()


def test_home_on_the_command_line_goes_before_the_environment(
    fresh: Command, folder: Path, database: str
) -> None:
    fresh.well("--home", folder / "mine", "init", GARDEN_DATABASE_URL=database)
    assert (folder / "mine/users").is_dir()
    assert not fresh.home.exists()


def test_migrate_shows_which_migrations_are_applied(
    fresh: Command, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_DATABASE_URL", empty_database)
    fresh.well("init")
    assert "0 applied; the database is up to date." in fresh.well("migrate")
    table = fresh.well("migrate", "--status").splitlines()
    assert table[0].split() == ["number", "name", "applied"]
    assert len(table) == 1 + len(shipped_migrations())
    migrations = fresh("migrate", "--status", "--json").json
    assert [each["version"] for each in migrations] == [each.version for each in shipped_migrations()]


def test_config_shows_each_setting_and_its_origin_and_no_secret(
    fresh: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_DATABASE_URL", "postgresql://me:hunter2@db/garden")
    monkeypatch.setenv("GARDEN_LOG_LEVLE", "info")
    ran = fresh("config")
    assert ran.code == 0
    assert "hunter2" not in ran.out + ran.err
    assert "did you mean 'GARDEN_LOG_LEVEL'?" in ran.err
    rows = {row["name"]: row for row in fresh("config", "--json").json}
    assert rows["database_url"]["origin"] == "environment"
    level = rows["log_level"]
    assert (level["value"], level["origin"], level["variable"]) == ("info", "default", "GARDEN_LOG_LEVEL")


def test_a_long_value_is_not_cut_without_a_terminal(fresh: Command) -> None:
    long = "postgresql://db/" + "x" * 300
    assert long in fresh.well("config", GARDEN_DATABASE_URL=long)


def test_the_embedded_database_can_be_started_found_and_stopped(fresh: Command) -> None:
    copy_prepared_home(fresh.home)
    assert garden("database", "start", home=fresh.home).returncode == 0
    url = fresh.well("database", "url")
    assert url.startswith("postgresql://")
    assert url.count("\n") == 1
    assert fresh.well("database", "stop") == "Stopped.\n"
    assert fresh.well("database", "stop") == "It was not running.\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_error(folder: Path, closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *command("config")],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_empty_home_on_the_command_line_counts_as_none(fresh: Command) -> None:
    rows = fresh("--home", "", "config", "--json").json
    (home,) = [row for row in rows if row["name"] == "home"]
    assert (home["value"], home["origin"]) == (str(fresh.home), "environment")


def test_the_demo_ends_well_and_leaves_nothing_behind(folder: Path) -> None:
    done = garden("demo", home=folder / "home", env={"TMPDIR": str(folder)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the throw-away home and its server are gone" in done.stdout
    assert "✗" not in done.stdout
    assert list(folder.iterdir()) == []
