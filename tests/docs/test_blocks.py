"""What the documents tell a reader to type works, in the order in which it stands there."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from garden.events.database import connection
from tests.docs.pages import (
    PAGES,
    REPOSITORY,
    blocks_of,
    name_of,
    pages_with,
    run_script,
    script_of,
)
from tests.support.accounts import BEN, NOTES, Account

CONFIGURATION = {"json": json.loads, "toml": tomllib.loads}
# Of these the last few are there to be read: notation, other programs' settings, usage of commands.
LANGUAGES = {"console", "python", "sql", *CONFIGURATION, "markdown", "diff", "text", "sh"}


@pytest.mark.parametrize("page", pages_with("console", "python"), ids=name_of)
def test_what_a_page_tells_to_type_works_in_the_order_given(page: Path, folder: Path) -> None:
    for brought in ("sample_users", "examples"):
        shutil.copytree(REPOSITORY / brought, folder / brought)
    done = run_script(script_of(page, folder), folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", pages_with(*CONFIGURATION), ids=name_of)
def test_a_configuration_that_a_page_shows_can_be_read(page: Path) -> None:
    for block in blocks_of(page):
        if block.language in CONFIGURATION:
            CONFIGURATION[block.language](block.text)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    assert {block.language for block in blocks_of(page)} <= LANGUAGES


def test_the_front_door_shows_commands_and_python() -> None:
    shown = [block.language for block in blocks_of(REPOSITORY / "README.md")]
    assert {"console", "python"} <= set(shown)


def test_the_sql_for_the_reviewer_shows_one_users_events(account: Account, database: str) -> None:
    account.edit("one\n")
    account.log("of somebody else", caller=BEN)
    (page,) = pages_with("sql")
    (example,) = [block.text for block in blocks_of(page) if block.language == "sql"]
    *setting, select = [f"{statement};".encode() for statement in example.split(";")[:-1]]
    with connection(database) as opened:
        for statement in setting:
            opened.execute(statement)
        assert [row[1] for row in opened.execute(select)] == [NOTES]
