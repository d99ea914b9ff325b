import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import garden as package
from garden.events.migrations import shipped_migrations
from tests.support.processes import command, environment, garden

_SHOW_HELP_AND_MODULES = """
import sys
from garden.surfaces.cli.main import main
sys.argv[1:] = ["--help"]
try:
    main()
finally:
    print(*sys.modules)
"""
COMMANDS = [
    "ls", "cat", "search", "plant", "append", "patch", "lint", "events", "event", "call", "tools", "import",
    "export", "init", "config", "migrate", "doctor", "status", "reconcile", "demo", "database", "keys",
    "serve", "mcp", "token",
]  # fmt: skip


def test_help_lists_every_command_with_a_whole_sentence(folder: Path) -> None:
    shown = garden("--help", home=folder).stdout
    listed = {
        words[0]: line for line in shown.splitlines() if line.startswith("  ") and (words := line.split())
    }
    for name in COMMANDS:
        assert listed[name].endswith("."), listed[name]
        assert not listed[name].endswith("..."), listed[name]


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SHOW_HELP_AND_MODULES], capture_output=True, text=True, check=False
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "typer" in loaded
    assert not loaded & {"pydantic", "psycopg", "structlog", "rich", "asyncio", "markdown_it", "dramatiq"}


def test_the_version_is_the_packages(folder: Path) -> None:
    assert garden("--version", home=folder).stdout == f"memory-garden {package.__version__}\n"


@pytest.mark.parametrize(
    "words", [["nonsense"], ["init", "--nonsense"], ["config", "surplus"], ["database", "nonsense"]]
)
def test_a_misuse_exits_with_2_and_does_nothing(folder: Path, words: list[str]) -> None:
    done = garden(*words, home=folder / "home")
    assert done.returncode == 2
    assert done.stderr
    assert not (folder / "home").exists()


def test_a_problem_exits_with_1_and_a_hint_on_standard_error_only(folder: Path) -> None:
    done = garden("migrate", "--status", home=folder / "home")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: There is no garden home in ")
    assert "\nhint:  Create it with 'garden init'" in done.stderr


def test_a_wrong_setting_is_reported_before_anything_is_created(folder: Path) -> None:
    done = garden("init", home=folder / "home", env={"GARDEN_LOG_LEVEL": "loud"})
    assert done.returncode == 1
    assert "GARDEN_LOG_LEVEL is 'loud'; accepted is 'debug', 'info', 'warning' or 'error'." in done.stderr
    assert not (folder / "home").exists()


def test_init_makes_a_home_that_is_ready_and_can_be_repeated(folder: Path, empty_database: str) -> None:
    env = {"GARDEN_DATABASE_URL": empty_database}
    first, second = (garden("init", "--json", home=folder / "home", env=env) for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert "Applied migration 0001" in first.stderr
    assert "Applied" not in second.stderr


def test_init_is_not_ready_without_the_keys(folder: Path, database: str) -> None:
    env = {"GARDEN_DATABASE_URL": database}
    home = folder / "home"
    assert garden("init", home=home, env=env).returncode == 0
    (home / ".garden/keys").unlink()
    done = garden("init", home=home, env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert "The integrity keys can't be read from .garden/keys." in done.stderr
    assert "Put the file back from a backup" in done.stderr
    assert not (home / ".garden/keys").exists()


def test_home_on_the_command_line_goes_before_the_environment(folder: Path, database: str) -> None:
    done = garden(
        "--home", folder / "mine", "init", home=folder / "other", env={"GARDEN_DATABASE_URL": database}
    )
    assert done.returncode == 0
    assert (folder / "mine/users").is_dir()
    assert not (folder / "other").exists()


def test_migrate_shows_where_each_migration_stands(folder: Path, empty_database: str) -> None:
    env = {"GARDEN_DATABASE_URL": empty_database}
    home = folder / "home"
    garden("init", home=home, env=env)
    assert "0 applied; the database is up to date." in garden("migrate", home=home, env=env).stdout
    table = garden("migrate", "--status", home=home, env=env).stdout.splitlines()
    assert table[0].split() == ["number", "name", "applied"]
    assert len(table) == 1 + len(shipped_migrations())
    stands = json.loads(garden("migrate", "--status", "--json", home=home, env=env).stdout)
    assert [each["version"] for each in stands] == [each.version for each in shipped_migrations()]


def test_config_shows_each_setting_and_its_origin_and_no_secret(folder: Path) -> None:
    env = {"GARDEN_DATABASE_URL": "postgresql://me:hunter2@db/garden", "GARDEN_LOG_LEVLE": "info"}
    done = garden("config", home=folder, env=env)
    assert done.returncode == 0
    assert "hunter2" not in done.stdout + done.stderr
    assert "did you mean 'GARDEN_LOG_LEVEL'?" in done.stderr
    rows = {row["name"]: row for row in json.loads(garden("config", "--json", home=folder, env=env).stdout)}
    assert rows["database_url"]["origin"] == "environment"
    level = rows["log_level"]
    assert (level["value"], level["origin"], level["variable"]) == ("info", "default", "GARDEN_LOG_LEVEL")


def test_a_long_value_is_not_cut_where_there_is_no_terminal(folder: Path) -> None:
    long = "postgresql://db/" + "x" * 300
    assert long in garden("config", home=folder, env={"GARDEN_DATABASE_URL": long}).stdout


def test_the_embedded_database_can_be_started_found_and_stopped(folder: Path) -> None:
    home = folder / "home"
    assert garden("database", "start", home=home).returncode == 0
    url = garden("database", "url", home=home).stdout
    assert url.startswith("postgresql://")
    assert url.count("\n") == 1
    assert garden("database", "stop", home=home).stdout == "Stopped.\n"
    assert garden("database", "stop", home=home).stdout == "It was not running.\n"


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command("config"),
        env=environment(folder),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.stderr == ""


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


def test_an_empty_home_on_the_command_line_counts_as_none(folder: Path) -> None:
    shown = garden("--home", "", "config", "--json", home=folder / "home").stdout
    (home,) = [row for row in json.loads(shown) if row["name"] == "home"]
    assert (home["value"], home["origin"]) == (str(folder / "home"), "environment")


def test_a_full_device_is_told_in_one_line(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("config"),
            env=environment(folder),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_the_demo_ends_well_and_leaves_nothing_behind(folder: Path) -> None:
    done = garden("demo", home=folder / "home", env={"TMPDIR": str(folder)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the throw-away home and its server are gone" in done.stdout
    assert "✗" not in done.stdout
    assert list(folder.iterdir()) == []
