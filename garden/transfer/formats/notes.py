"""Folders of Markdown notes, as Obsidian and Basic Memory keep them: each note as it is, byte for byte.

Frontmatter, links, tags, observations and relations are text, and stay so.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from garden.grammar.errors import GardenError
from garden.grammar.frontmatter_block import find_frontmatter
from garden.grammar.lines import flat
from garden.transfer.formats.entry import Entry, time_in
from garden.transfer.formats.source import ForeignExportError, open_source

_BEGAN = ("created", "created_at", "date")
_CHANGED = ("modified", "updated", "updated_at")


def read_obsidian(file: Path) -> Iterator[Entry]:
    """Read the notes of a vault."""
    return _notes(file, "obsidian")


def read_basic_memory(file: Path) -> Iterator[Entry]:
    """Read the notes of a project."""
    return _notes(file, "basic-memory")


def _notes(file: Path, source_name: str) -> Iterator[Entry]:
    with open_source(file) as source:
        if not any(name.endswith(".md") for name in source.files):
            raise ForeignExportError(
                "There are no Markdown notes in it.", hint="Name the folder of the notes, or a zip of it."
            )
        tops = {name.partition("/")[0] if "/" in name else "" for name in source.files}
        # Notes of two vaults may have the same name, so the name of the vault is part of the id.
        top = f"{tops.pop()}/" if file.is_file() and len(tops) == 1 else ""
        vault = top.rstrip("/") or file.resolve().stem
        for name in source.files:
            within = name.removeprefix(top)
            key = f"{vault}/{within}"
            if not name.endswith(".md"):
                yield Entry(id=key, skip_reason="It is no Markdown note.")
                continue
            try:
                text = source.note(name)
            except GardenError as error:
                yield Entry(id=key, refusal=error)
                continue
            head = _frontmatter(text)
            yield Entry(
                id=key,
                text=text,
                place=(source_name, *within.removesuffix(".md").split("/")),
                at=time_in(head, *_BEGAN),
                changed_at=time_in(head, *_CHANGED),
            )


def _frontmatter(text: str) -> Mapping[str, object]:
    found = find_frontmatter(text, flat(text), 0)
    return found.values if found else {}
