"""Letta: the memory blocks of an agent file (`.af`), in the form of today and in the older one."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from garden.transfer.formats.entry import Entry, list_in, records_in, text_in, time_in
from garden.transfer.formats.source import ForeignExportError, open_source

_KEPT = ("label", "description", "limit", "read_only")


def read_letta(file: Path) -> Iterator[Entry]:
    """Read the blocks; each becomes a document with its label, description and limit above its value."""
    with open_source(file) as source:
        name = next((each for each in source.files if each.endswith((".af", ".json"))), "")
        content = source.json(name) if name else None
    if not isinstance(content, dict) or not ("blocks" in content or "core_memory" in content):
        raise ForeignExportError("This is no agent file of Letta.", hint="Export the agent as an .af file.")
    # An agent file counts its blocks from 0, so the name of the agent is part of the id.
    agents = records_in(content.get("agents")) or [content]
    for block in records_in(content.get("blocks") or content.get("core_memory")):
        label, key = text_in(block, "label"), text_in(block, "id")
        owner = next((each for each in agents if key in list_in(each, "block_ids")), agents[0])
        entry = Entry(
            id=f"{text_in(owner, 'name') or 'agent'}/{label or key or 'a block'}",
            place=("blocks", label),
            at=time_in(block, "created_at"),
            changed_at=time_in(block, "updated_at"),
        )
        if label and isinstance(block.get("value"), str):
            yield replace(entry, text=_document(block))
        else:
            yield replace(entry, skip_reason="It has no label or no value.")


def _document(block: dict[str, Any]) -> str:
    given = {name: block.get(name) for name in _KEPT}
    kept = {name: each for name, each in given.items() if each and isinstance(each, str | int | float)}
    head = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False)
    return f"---\n{head}---\n\n{block['value']}"
