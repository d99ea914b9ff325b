"""Draw docs/images/demo.svg: an excerpt of a real run of `make demo`, as a terminal shows it.

`make picture` runs it. A test fails when the picture shows a line that the demonstration no longer prints.
"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

TARGET = Path(__file__).parents[1] / "docs" / "images" / "demo.svg"
COLUMNS = 92
# The scenes of the story that fit into a picture; a mark stands where others were left out.
SHOWN = (
    "A new home",
    "Import the gardens",
    "She says something new",
    "Try what every tool refuses",
    "Verify every file",
)
LEFT_OUT = Text("  ⋮", style="dim")
THEME = TerminalTheme(
    (24, 28, 26),
    (214, 219, 212),
    [
        (60, 66, 62), (224, 108, 96), (134, 192, 108), (214, 176, 92),
        (110, 160, 220), (188, 134, 200), (106, 190, 190), (214, 219, 212),
    ],
)  # fmt: skip
# Rich's own frame takes its letters from another host. This one takes what the reader has.
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>make demo</title>
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
    font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def terminal_output() -> str:
    """Run the demonstration on a terminal of its own, and give what it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 200, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    command = [sys.executable, "-m", "garden", "demo"]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as running:
        os.close(theirs)
        shown = bytearray()
        while piece := _read(ours):
            shown += piece
    os.close(ours)
    if running.returncode:
        sys.exit(shown.decode())
    return shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # a terminal reports its closed end as an error
        return b""


def excerpt(output: str) -> list[Text]:
    """Choose the scenes to be shown."""
    chosen: list[Text] = []
    for scene in output.strip("\n").split("\n\n"):
        lines = [Text.from_ansi(line) for line in scene.splitlines()]
        if lines[0].plain.startswith(SHOWN):
            chosen += [*lines, Text()]
        elif LEFT_OUT not in chosen[-2:]:
            chosen += [LEFT_OUT, Text()]
    return chosen


def picture(lines: list[Text]) -> str:
    """Draw the lines."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, highlight=False)
    for line in (Text("$ make demo", style="bold"), Text(), *lines):
        console.print(line, no_wrap=True, crop=True, overflow="ellipsis")
    return console.export_svg(title="", theme=THEME, code_format=FRAME, unique_id="demo")


def main() -> None:
    """Write the file."""
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(picture(excerpt(terminal_output())), encoding="utf-8")


if __name__ == "__main__":
    main()
