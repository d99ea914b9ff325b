"""The documents are right: their links exist, and their tables match the code."""

import re
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from garden.clients.known import CLIENTS
from garden.events.database import connection
from garden.home.settings import setting_paths, variable_name
from tests.docs.pages import PAGES, REPOSITORY, name_of
from tools import docs, event_docs


def test_all_generated_files_are_up_to_date() -> None:
    """A changed snapshot in tests/tools/schemas is a changed wire shape: other programs depend on it."""
    stale = [str(path.relative_to(REPOSITORY)) for path, _ in docs.changes()]
    assert stale == [], "run 'make docs' and read the difference"


def test_every_make_target_named_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    named = {
        name
        for page in PAGES
        for name in re.findall(r"(?:`|^    )make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE)
    }
    assert {"test", "demo"} <= named <= targets


def test_the_settings_page_lists_every_setting() -> None:
    page = (REPOSITORY / "docs/settings.md").read_text("utf-8")
    listed = re.findall(r"^\| `(GARDEN_[A-Z_]+)` \|", page, re.MULTILINE)
    assert listed == [variable_name(*path) for path in setting_paths()]


def test_the_events_page_lists_every_column(database: str) -> None:
    page = (REPOSITORY / "docs/events.md").read_text("utf-8")
    for table in re.findall(r"^## garden\.(\w+)$", page, re.MULTILINE):
        section = page.partition(f"## garden.{table}\n")[2].partition("\n## ")[0]
        listed = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
        with connection(database) as opened:
            found = opened.execute(
                "select column_name from information_schema.columns"
                " where table_schema = 'garden' and table_name = %s order by ordinal_position",
                [table],
            ).fetchall()
        assert listed == [name for (name,) in found]


def test_the_events_page_lists_every_field_on_the_wire() -> None:
    for table, view in event_docs.VIEWS.items():
        listed = {event_docs.wire_name(table, column) for column in event_docs.columns(table)}
        fields = {to_camel(name) for name in view.model_fields}
        assert fields - {"splices", "annotations"} <= listed


def test_the_page_of_integrations_has_every_client_with_the_seconds_of_the_installation() -> None:
    install, integrations = (
        (REPOSITORY / f"docs/{name}.md").read_text("utf-8") for name in ("install", "integrations")
    )
    measured = re.findall(r"^\| uvx, `setup (\S+)` \| (\d+) \| (\d+) \|$", install, re.MULTILINE)
    line = r"^\| (.*?) \| `uvx --from \. memory-garden setup (\S+)` \| (\d+) \| (\d+) \|$"
    listed = {name: (title, *rest) for title, name, *rest in re.findall(line, integrations, re.MULTILINE)}
    assert listed == {name: (CLIENTS[name].title, *rest) for name, *rest in measured}
    assert set(listed) == set(CLIENTS)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_within_the_project_exists(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_the_map_names_every_room() -> None:
    described = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
    for path in REPOSITORY.glob("garden/*"):
        if path.is_dir() and not path.is_symlink() and path.name != "__pycache__":
            assert f"`garden/{path.name}/`" in described, path.name
