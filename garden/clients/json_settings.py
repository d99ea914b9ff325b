"""Settings in JSON, where an entry is put in and taken out and every other byte stays."""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from garden.clients.forms import Entry, SettingsForm

# A string is matched first, so that nothing inside one is taken for a comment.
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])')
_decode = json.JSONDecoder().raw_decode


class _Member(NamedTuple):
    start: int
    value_start: int
    end: int


@dataclass(frozen=True)
class JsonSettings(SettingsForm):
    """Settings in JSON; some clients accept comments and a comma after the last member."""

    has_comments: bool = False

    def parse(self, text: str) -> Any:
        """Parse the file's text; an empty file has no settings."""
        return json.loads(self._strict(self._bare(text))) if text.strip() else {}

    def edit(self, text: str, name: str, entry: Entry | None) -> str:
        """Text with the member of the table replaced, added as its first, or removed."""
        text = text if text.strip() else "{}\n"
        bare = self._bare(text)
        strict = self._strict(bare)
        top = _skip(strict, 0)
        table = _find(strict, top, self.table)
        if table is None:
            return _insert(text, strict, top, self.table, {name: entry})
        found = _find(strict, table.value_start, name)
        if entry is None:
            return _remove(text, bare, found) if found else text
        if found is None:
            return _insert(text, strict, table.value_start, name, entry)
        value = _render(text, entry, _margin(text, found.start))
        return text[: found.value_start] + value + text[found.end :]

    def _bare(self, text: str) -> str:
        """The text with spaces for comments, so that every offset stays."""
        return _blank(_STRING_OR_COMMENT, text) if self.has_comments else text

    def _strict(self, bare: str) -> str:
        """The text with a space for each comma after which its object or list ends."""
        return _blank(_STRING_OR_LAST_COMMA, bare) if self.has_comments else bare


def _find(strict: str, start: int, name: str) -> _Member | None:
    """The member of this name in the object that starts here; of several the last, as a parser reads it."""
    found = None
    at = _skip(strict, start + 1)
    while strict[at] != "}":
        key, after = _decode(strict, at)
        value = _skip(strict, _skip(strict, after) + 1)
        _, end = _decode(strict, value)
        found = _Member(at, value, end) if key == name else found
        at = _skip(strict, end)
        if strict[at] == ",":
            at = _skip(strict, at + 1)
    return found


def _insert(text: str, strict: str, start: int, name: str, value: Any) -> str:
    """Text with a member more at the beginning of the object that starts here."""
    margin, rest = _margin(text, start), text[start + 1 :]
    inner = margin + _unit(text)
    line = f"{_newline(text)}{inner}{json.dumps(name)}: {_render(text, value, inner)}"
    if strict[_skip(strict, start + 1)] != "}":
        line += ","
    elif rest.lstrip().startswith("}"):
        rest = _newline(text) + margin + rest.lstrip()
    return text[: start + 1] + line + rest


def _remove(text: str, bare: str, found: _Member) -> str:
    """Text without the member, and without the comma that it needed."""
    before, after = text[: found.start].rstrip(), _skip(bare, found.end)
    if bare[after] == ",":
        return before + text[after + 1 :]
    last = len(bare[: found.start].rstrip()) - 1
    return before[:last] + before[last:].removeprefix(",") + text[found.end :]


def _skip(text: str, at: int) -> int:
    """Position of the next character that is not space."""
    while text[at].isspace():
        at += 1
    return at


def _margin(text: str, at: int) -> str:
    """The space at the beginning of the line of this position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str) -> str:
    indented = re.search(r"\n([ \t]+)\S", text)
    return indented[1] if indented else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _render(text: str, value: Any, margin: str) -> str:
    """A value in lines that begin with this margin, but for the first."""
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return lines.replace("\n", _newline(text) + margin)


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: found[0] if found[0][0] == '"' else " " * len(found[0]), text)
