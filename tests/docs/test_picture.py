"""The README's picture shows what the demonstration prints today, and loads nothing from another host."""

import html
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import REPOSITORY

PICTURE = (REPOSITORY / "docs/images/demo.svg").read_text("utf-8")


VARIES = re.compile(
    r"""\d+\.\d+\ s\b                                     # a duration
    | \d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?Z?            # a date and time
    | \b\d\d:\d\d(?::\d\d)?\b                             # a time
    | [0-9a-f]{4,}(?:-[0-9a-f]+)*                         # an id or a hash
    """,
    re.VERBOSE,
)
"""Durations, times and ids: what differs from run to run."""


def stable_lines(text: str) -> set[str]:
    """The lines, with every part that differs from run to run replaced by a dot."""
    lines = (VARIES.sub("·", line.replace("\xa0", " ").strip()) for line in text.splitlines())
    return {line for line in lines if line}


def lines_of_the_picture() -> str:
    rows: dict[str, str] = {}
    for y, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>(.*?)</text>', PICTURE):
        rows[y] = rows.get(y, "") + html.unescape(text)
    return "\n".join(rows.values())


def test_every_line_of_the_picture_is_one_that_the_demonstration_prints(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "garden", "demo"],
        cwd=REPOSITORY,
        env={"TMPDIR": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    printed = stable_lines(done.stdout)
    drawn = stable_lines(lines_of_the_picture()) - {"$ make demo", "⋮"}
    assert len(drawn) > 20
    for line in drawn:
        start = line.removesuffix("…")
        assert any(each.startswith(start) for each in printed), f"run: make picture ({line})"


def test_the_picture_loads_nothing_from_another_host() -> None:
    assert set(re.findall(r"https?://[^\"' )]+", PICTURE)) == {"http://www.w3.org/2000/svg"}
