"""Settings in TOML, where a table is put at the end or in place of the old one and every other byte stays."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from garden.clients.forms import Entry, SettingsForm

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


class TomlSettings(SettingsForm):
    """Settings in TOML."""

    def parse(self, text: str) -> Any:
        """Parse the file's text."""
        return tomllib.loads(text)

    def edit(self, text: str, name: str, entry: Entry | None) -> str:
        """Text with the table in place of the old one, at the end, or removed.

        A header inside a text of many lines passes for one; the check of the result finds that.
        """
        blocks = list(self._blocks(text, name))
        place = blocks[0][0] if blocks else len(text)
        for start, end in reversed(blocks):
            text = text[:start] + text[end:]
        if entry is None:
            return text
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = [f"[{self.table}.{name}]", *(f"{key} = {_render(value)}" for key, value in entry.items()), ""]
        lead = "" if text[:place].endswith("\n") or not text[:place] else newline
        gap = newline if text[:place].strip() and not blocks else ""
        return text[:place] + lead + gap + newline.join(lines) + text[place:]

    def _blocks(self, text: str, name: str) -> Iterator[tuple[int, int]]:
        """The places of the table and of those in it, without the comments before the next header."""
        header = rf'^[ \t]*\[[ \t]*{self.table}[ \t]*\.[ \t]*("?){re.escape(name)}\1[ \t]*[.\]].*$'
        for found in re.finditer(header, text, re.MULTILINE):
            following = _HEADER.search(text, found.end())
            block = text[found.start() : following.start() if following else len(text)]
            kept = re.sub(r"(?:^[ \t]*(?:#.*)?\r?\n)+\Z", "", block, flags=re.MULTILINE)
            yield found.start(), found.start() + len(kept)


def _render(value: Any) -> str:
    """A text, a list or a flat table as TOML; JSON's texts are texts of TOML too."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_render(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
