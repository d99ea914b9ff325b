"""Versions, lines and words for people: the output of `log`, `blame` and `diff --words`."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from garden.surfaces.cli.render import DIFF_COLOURS, say

if TYPE_CHECKING:
    from garden.surfaces.cli.desk import Desk

_NAME_CHARACTERS = 8
_DAY_CHARACTERS = len("2026-11-18")
_MARKED = re.compile(r"(\[-.*?-\])|(\{\+.*?\+\})")


def show_version(desk: "Desk", version: dict[str, Any], *, of: str | None) -> None:
    """Print one version of a log; its path only if it is not the document that was asked for."""
    counts = Text.assemble((f"+{version['added']}", "green"), " ", (f"-{version['removed']}", "red"))
    say(
        Text("  ").join(
            (
                Text(version["eventId"][-_NAME_CHARACTERS:], style="yellow"),
                Text(desk.time(version["time"])),
                Text(version["actor"], style="bold"),
                Text(f"version {version['version']}"),
                counts,
            )
        )
    )
    path = "" if version["path"] == of else desk.short(version["path"])
    say(f"    {' · '.join(filter(None, (path, version.get('anchor'), version['op'])))}", "dim")
    if version.get("rationale"):
        say(f"    {' '.join(version['rationale'].split())}")
    say("")


def show_blame(desk: "Desk", lines: Sequence[dict[str, Any]]) -> None:
    """Print lines with their events, and below the reasons of the events."""
    width = max((len(each["actor"]) for each in lines), default=0)
    digits = len(str(lines[-1]["line"])) if lines else 0
    for each in lines:
        day = desk.time(each["time"])[:_DAY_CHARACTERS]
        about = f"  {day}  {each['actor']:<{width}}  {each['line']:>{digits}}  "
        say(Text.assemble((each["eventId"][-_NAME_CHARACTERS:], "yellow"), (about, "dim"), each["text"]))
    reasons = {each["eventId"]: each for each in lines if each.get("rationale") and each["text"].strip()}
    if reasons:
        say("")
    for event, each in reasons.items():
        say(Text.assemble((event[-_NAME_CHARACTERS:], "yellow"), f"  {' '.join(each['rationale'].split())}"))


def show_word_diff(diff: str) -> None:
    """Print a diff by words, coloured on a terminal."""
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        text = Text(line, style=DIFF_COLOURS["@"] if line.startswith("@@ ") else "")
        for found in _MARKED.finditer(line):
            text.stylize(DIFF_COLOURS["-" if found[1] else "+"], *found.span())
        say(text)
