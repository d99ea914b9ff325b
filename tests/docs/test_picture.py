"""The picture of the demonstration shows what the demonstration says, and nothing of other hosts."""

import html
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import REPOSITORY

PICTURE = (REPOSITORY / "docs/images/demo.svg").read_text("utf-8")


def told_in(text: str) -> set[str]:
    """The lines, without the figures and times that differ from run to run."""
    lines = (re.sub(r"\d+", "0", line.replace("\xa0", " ").strip()) for line in text.splitlines())
    return {line for line in lines if line}


def lines_of_the_picture() -> str:
    rows: dict[str, str] = {}
    for y, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>(.*?)</text>', PICTURE):
        rows[y] = rows.get(y, "") + html.unescape(text)
    return "\n".join(rows.values())


def test_every_line_of_the_picture_is_one_that_the_demonstration_says(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "garden", "demo"],
        cwd=REPOSITORY,
        env={"TMPDIR": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    said = told_in(done.stdout)
    drawn = told_in(lines_of_the_picture()) - {"$ make demo", "⋮"}
    assert len(drawn) > 20
    for line in drawn:
        start = line.removesuffix("…")
        assert any(each.startswith(start) for each in said), f"run: python tools/demo_picture.py ({line})"


def test_the_picture_asks_no_other_host_for_anything() -> None:
    assert set(re.findall(r"https?://[^\"' )]+", PICTURE)) == {"http://www.w3.org/2000/svg"}
