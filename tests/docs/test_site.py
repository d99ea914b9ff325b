"""The documentation as a site: it can be built, leads nowhere that is not there, and needs no other host."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import REPOSITORY


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
    # Strict: a link to a page or a heading that is not there ends the build.
    assert done.returncode == 0, done.stderr
    return target


def test_every_page_of_the_documents_is_in_the_site(site: Path) -> None:
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


def test_the_search_knows_the_words_of_the_pages(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert "writes.html" in index
    assert "stalled_before_write" in index


def test_diagrams_are_drawn_while_the_site_is_built(site: Path) -> None:
    pages = {path.name: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert pages["architecture.html"].count('<div class="diagram"><svg') == 2
    assert not [name for name, text in pages.items() if "language-mermaid" in text]
