"""Templates and what they share: times, diffs, links, and the visible form of characters that hide."""

import hashlib
import unicodedata
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from garden.home.local_day import find_zone
from garden.surfaces.web.console.visits import address

_HERE = Path(__file__).parent
_STATIC = _HERE / "static"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HUES = 8
_AGES = (("s", 60), ("min", 60), ("h", 24), ("d", 7), ("wk", 52), ("y", 1000))
_HIDING = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
# Format characters that have a function in words: joiners of emoji and of Persian or Indic letters.
_HARMLESS = frozenset("\t\n\u200c\u200d\ufe0f")
# Unicode counts these among the letters and marks, and they show nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_RUN_SHOWN_MAX = 16


@dataclass(frozen=True)
class StaticFile:
    """A file that never changes under its address, which names its content."""

    content: bytes
    media_type: str
    version: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """The console's style, scripts and pictures by name."""
    found = {}
    for path in sorted(_STATIC.iterdir()):
        content = path.read_bytes()
        version = hashlib.sha256(content).hexdigest()[:12]
        found[path.name] = StaticFile(content, _MEDIA_TYPES[path.suffix], version)
    return found


class Templates:
    """The console's templates, with times in the zone of the settings."""

    def __init__(self, timezone: str | None) -> None:
        self._zone = find_zone(timezone) if timezone else UTC
        self._environment = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(address=address, static=_static_address)
        self._environment.filters.update(
            ago=ago,
            moment=self.moment,
            day=self.day,
            hue=hue,
            seen=seen,
            diff_lines=diff_lines,
            short_id=lambda value: str(value)[-8:],
        )

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        """Render a template."""
        return self._environment.get_template(template).render(values)

    def moment(self, at: datetime | str) -> str:
        """A time to the minute, with its offset."""
        local = _as_time(at).astimezone(self._zone)
        return local.isoformat(" ", "minutes").replace("+00:00", "Z")

    def day(self, at: datetime | str) -> str:
        """The day of a time."""
        return _as_time(at).astimezone(self._zone).date().isoformat()


def ago(at: datetime | str) -> str:
    """How long ago a time was, in one unit."""
    count: float = max(0.0, (datetime.now(UTC) - _as_time(at)).total_seconds())
    for unit, size in _AGES:
        if count < size:
            return "just now" if unit == "s" else f"{int(count)} {unit} ago"
        count /= size
    return "long ago"


def hue(name: str | None) -> str:
    """The class of an actor's colour; the same name always has the same."""
    # With this word before them, and without the last bits, the usual actors differ.
    return f"hue-{(zlib.crc32(f'hue {name}'.encode()) >> 3) % _HUES}"


def seen(text: str | None) -> Markup:
    """A text with the characters that hide, or turn the direction of others, shown by their numbers."""
    if not text:
        return Markup()
    if text.isprintable() and _BLANK.isdisjoint(text):
        return escape(text)
    if "\n" in text:
        return Markup("\n").join(map(seen, text.split("\n")))
    runs = ((is_hidden, "".join(run)) for is_hidden, run in groupby(text, hides))
    return Markup("").join(_shown(run) if is_hidden else run for is_hidden, run in runs)


def hides(character: str) -> bool:
    """Whether a character is not seen itself."""
    if character in _HARMLESS:
        return False
    return character in _BLANK or unicodedata.category(character) in _HIDING


def _shown(run: str) -> Markup:
    """Characters that hide beside each other; each is named once for all of its repetitions."""
    same = [(f"U+{ord(each):04X}", len([*others])) for each, others in groupby(run)]
    names = [name if count == 1 else f"{count} x {name}" for name, count in same[:_RUN_SHOWN_MAX]]
    rest = sum(count for _, count in same[_RUN_SHOWN_MAX:])
    more = f" and {rest} more" if rest else ""
    return Markup('<span class="hidden-character">{}{}</span>').format(" ".join(names), more)


def diff_lines(diff: str | None) -> Iterator[tuple[str, str]]:
    """The lines of a unified diff, each with its class: `added`, `removed`, `hunk`, `head` or `same`."""
    in_hunk = False
    # Only line feeds end a line of a diff; other line ends are characters of the document.
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        if line.startswith("@@"):
            in_hunk = True
            yield "hunk", line
        elif not in_hunk:
            yield "head", line
        else:
            yield {"+": "added", "-": "removed"}.get(line[:1], "same"), line


def _static_address(name: str) -> str:
    return address(f"/static/{name}", v=static_files()[name].version)


def _as_time(at: datetime | str) -> datetime:
    return datetime.fromisoformat(at) if isinstance(at, str) else at
