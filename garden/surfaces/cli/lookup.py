"""From what a person typed to what is meant: times, parts of a text, names as they are shown."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from garden.grammar.lines import split_any_lines
from garden.grammar.lookup import find_section
from garden.grammar.parser import parse
from garden.surfaces.cli.common import Desk, misused

if TYPE_CHECKING:
    from garden.access.dispatcher import Envelope

_AGO = re.compile(r"([0-9]{1,5})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def time_of(context: typer.Context, words: str) -> datetime:
    """Understand a time: a date, a date with a time, or how long ago; without an offset it is UTC."""
    try:
        if ago := _AGO.fullmatch(words):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        time = datetime.fromisoformat(words)
    except (ValueError, OverflowError):
        misused(
            context, f"{words!r} is no time; write 2026-11-18, 2026-11-18T08:25, or 3d for three days ago."
        )
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def shown_time(time: str) -> str:
    """Show a time of an answer to the minute."""
    return datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")


def styled_name(name: str) -> Text:
    """Show a document's name, or a folder's with its slash."""
    return Text(name) if name.endswith(".md") else Text(f"{name}/", style="bold blue")


def whole_text(desk: Desk, path: str, wanted: tuple[int, int] | None) -> "Envelope":
    """Read a document, or some of its lines, as often as it takes."""
    following = {"startLine": wanted[0], "endLine": wanted[1]} if wanted else None
    text = ""
    while True:
        ranges = [following] if following else None
        envelope = desk.call("fs.read", path=desk.path(path), ranges=ranges)
        if not envelope["ok"]:
            return envelope
        text += _text_of(envelope["result"])
        truncated = envelope["meta"].pop("truncated", None)
        if truncated is None:
            return {**envelope, "result": text}
        # What was left out comes with the next call.
        envelope["meta"]["warnings"] = []
        following = truncated["next"]


def _text_of(result: Any) -> str:
    return result if isinstance(result, str) else "".join(each["text"] for each in result["rangeSlices"])


def cut(envelope: "Envelope", section: str | None, wanted: tuple[int, int] | None) -> "Envelope":
    """Leave only a section of a text, or some of its lines."""
    if not envelope["ok"]:
        return envelope
    text = envelope["result"]
    if section is not None:
        text = find_section(parse(text), section).text
    elif wanted is not None:
        text = "".join(split_any_lines(text)[wanted[0] - 1 : wanted[1]])
    return {**envelope, "result": text}
