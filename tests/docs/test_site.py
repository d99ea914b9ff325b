"""The documentation as a site: it builds, its links and anchors exist, and it needs no other host."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from garden.tools.registry import REGISTRY
from garden.tools.wire import WriteRequest
from tests.docs.pages import REPOSITORY
from tools.markdown import prose


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", target],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    # Strict: a link to a missing page or heading fails the build.
    assert done.returncode == 0, done.stderr
    return target


def test_every_page_is_in_the_site(site: Path) -> None:
    for page in (REPOSITORY / "docs").rglob("*.md"):
        path = page.relative_to(REPOSITORY / "docs")
        built = path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")
        assert (site / built).is_file(), built


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        loaded = re.findall(
            r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?([^\"'> ]+)",
            page.read_text("utf-8"),
        )
        assert loaded
        assert not [address for address in loaded if re.match("(?:https?:)?//", address)], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)[\"' ]*(?:https?:)?//", sheet.read_text("utf-8")), sheet.name


def test_the_search_finds_words_of_the_pages(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert "writes.html" in index
    assert "stalled_before_write" in index


def test_diagrams_are_drawn_during_the_build(site: Path) -> None:
    pages = {path.name: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert pages["architecture.html"].count('<div class="diagram"><svg') == 2
    assert not [name for name, text in pages.items() if "language-mermaid" in text]


def test_descriptions_keep_the_characters_of_markdown(site: Path) -> None:
    """A glob such as `*.md, parts/*/notes.md` lost its stars to emphasis."""
    page = html.unescape(re.sub("<[^>]+>", "", (site / "tools.html").read_text("utf-8")))
    for model, field in (
        (REGISTRY["fs.list"].request, "glob"),
        (REGISTRY["fs.search"].request, "glob"),
        (WriteRequest, "if_match"),
    ):
        description = model.model_fields[field].description
        assert description is not None
        assert "*" in description
        assert description in page


@pytest.mark.parametrize("name", ["tools", "errors", "settings", "cli", "http-api"])
def test_no_generated_description_has_emphasis(site: Path, name: str) -> None:
    page = (site / f"{name}.html").read_text("utf-8")
    article = page.partition("<article")[2].partition("</article>")[0]
    assert re.findall("<(?:em|strong)>[^<]*", article) == []


def test_prose_escapes_emphasis_and_tags_outside_code() -> None:
    assert prose("*.md|_a_ <id> a_b `*.md|<id>`") == r"\*.md\|\_a\_ \<id> a_b `*.md|<id>`"
