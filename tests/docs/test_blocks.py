"""The commands and programs in the documents work, in the order of each page."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from garden.events.database import connection
from tests.docs.pages import (
    PAGES,
    REAL_COMMAND,
    REPOSITORY,
    blocks_of,
    name_of,
    pages_with,
    run_script,
    script_of,
)
from tests.support.accounts import BEN, NOTES, Account

CONFIGURATION = {"json": json.loads, "toml": tomllib.loads}
# The last few are only read: notation, diagrams, other programs' settings, usage of commands.
LANGUAGES = {"console", "python", "sql", *CONFIGURATION, "markdown", "diff", "text", "sh", "mermaid"}
# These pages are about the embedded server; the others use a fresh database of the run's server.
EMBEDDED = {"README.md", "docs/operating.md", "docs/start/operator.md"}
# This page starts every `garden` as a program of its own; the others fork one that has been imported.
STARTED = {"docs/start/operator.md"}
# The programs of this page need the frameworks: `make integrations` runs them.
FRAMEWORKS = {"docs/integrations.md"}
PROGRAMS = [page for page in pages_with("console", "python") if name_of(page) not in FRAMEWORKS]


@pytest.mark.parametrize("page", PROGRAMS, ids=name_of)
def test_the_commands_and_programs_of_a_page_work_in_its_order(
    page: Path, folder: Path, database: str, forked_command: str
) -> None:
    for name in ("sample_users", "examples"):
        shutil.copytree(REPOSITORY / name, folder / name)
    command = REAL_COMMAND if name_of(page) in STARTED else forked_command
    settings = {} if name_of(page) in EMBEDDED else {"GARDEN_DATABASE_URL": database}
    done = run_script(script_of(page, folder), folder, command, **settings)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", pages_with(*CONFIGURATION), ids=name_of)
def test_the_configuration_in_a_page_can_be_read(page: Path) -> None:
    for block in blocks_of(page):
        if block.language in CONFIGURATION:
            CONFIGURATION[block.language](block.text)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_known_language(page: Path) -> None:
    assert {block.language for block in blocks_of(page)} <= LANGUAGES


def test_the_readme_shows_commands_and_python() -> None:
    shown = [block.language for block in blocks_of(REPOSITORY / "README.md")]
    assert {"console", "python"} <= set(shown)


def test_the_sql_for_the_reviewer_shows_one_users_events(account: Account, database: str) -> None:
    account.edit("one\n")
    account.log("another user's event", caller=BEN)
    (page,) = pages_with("sql")
    (example,) = [block.text for block in blocks_of(page) if block.language == "sql"]
    *setting, select = [f"{statement};".encode() for statement in example.split(";")[:-1]]
    with connection(database) as opened:
        for statement in setting:
            opened.execute(statement)
        assert [row[1] for row in opened.execute(select)] == [NOTES]
