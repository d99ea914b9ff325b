"""The documents tell the truth: commands run, links lead somewhere, tables match the code."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from events.database import connection
from garden.settings import setting_paths, variable_name
from tests.support.accounts import BEN, NOTES, Account

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted(
    path for path in REPOSITORY.glob("**/*.md") if ".venv" not in path.parts and "fixtures" not in path.parts
)
README = (REPOSITORY / "README.md").read_text("utf-8")


def console_commands(text: str) -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def test_every_command_of_the_readme_works_in_the_order_given(folder: Path) -> None:
    commands = console_commands(README)
    assert len(commands) >= 5
    script = 'set -eu\ngarden() { "$PYTHON" -m garden "$@"; }\n' + "\n".join(commands)
    shutil.copytree(REPOSITORY / "sample_users", folder / "sample_users")
    environment = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "my garden/users").is_dir()


def test_every_python_example_of_the_readme_runs(folder: Path) -> None:
    examples = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert examples
    for example in examples:
        done = subprocess.run(
            [sys.executable, "-c", example], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_the_sql_of_the_readme_shows_one_users_events(account: Account, database: str) -> None:
    account.edit("one\n")
    account.log("of somebody else", caller=BEN)
    (example,) = re.findall(r"^```sql\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    *setting, select = [f"{statement};".encode() for statement in example.split(";")[:-1]]
    with connection(database) as opened:
        for statement in setting:
            opened.execute(statement)
        assert [row[1] for row in opened.execute(select)] == [NOTES]


def test_every_make_target_named_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    named = {
        name
        for page in PAGES
        for name in re.findall(r"(?:`|^    )make ([a-z]+)", page.read_text("utf-8"), re.MULTILINE)
    }
    assert {"test", "demo"} <= named <= targets


def test_the_readme_lists_every_setting() -> None:
    listed = re.findall(r"^\| `(GARDEN_[A-Z_]+)` \|", README, re.MULTILINE)
    assert listed == [variable_name(*path) for path in setting_paths()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_map_names_every_module_of_the_application() -> None:
    described = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
    for path in (
        *REPOSITORY.glob("garden/*.py"),
        *REPOSITORY.glob("garden/tools/*.py"),
        *REPOSITORY.glob("events/*.py"),
    ):
        if not path.name.startswith("__"):
            assert f"{path.name}`" in described, path.name
