"""Letta: the memory blocks of an agent file (`.af`), taken in as documents and put out again.

    import_agent_file("companion.af")
    export_agent_file("companion.af", template="companion.af")

A block is a document in `memories/blocks/`: its label, description and limit, and below them its value.
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.grammar.frontmatter_block import find_frontmatter
from garden.grammar.lines import flat
from garden.integrations.documents import unless_missing
from garden.integrations.naming import document_name
from garden.integrations.opening import UserGarden
from garden.transfer.formats.letta import read_letta

ACTOR = "letta"
# That of Letta, for a block that has none of its own.
_LIMIT_CHARACTERS = 100_000
_LISTS = ("groups", "files", "sources", "tools", "mcp_servers")

Block = dict[str, Any]


class AgentFileError(GardenError):
    """The template is no agent file."""

    code = "invalid_input"


def import_agent_file(
    file: str | Path,
    user: str = "me",
    *,
    home: str | Path | None = None,
    actor: str = ACTOR,
    garden: Garden | None = None,
) -> list[str]:
    """Take in the blocks of an agent file; returns the paths of their documents.

    A block that is there already is replaced; its history keeps the words it had.
    """
    # All of it is read first, so that a damaged file changes nothing.
    blocks = {entry.place[-1]: entry for entry in read_letta(Path(file)) if entry.skip_reason is None}
    opening = UserGarden(user, actor=actor, home=home, garden=garden)
    try:
        known = {block["label"]: path for path, block in _blocks_by_path(opening).items()}
        return [_keep(opening, known, label, entry.text) for label, entry in blocks.items()]
    finally:
        opening.close()


def export_agent_file(
    file: str | Path,
    user: str = "me",
    *,
    home: str | Path | None = None,
    actor: str = ACTOR,
    garden: Garden | None = None,
    template: str | Path | None = None,
) -> list[str]:
    """Write the blocks of the garden to an agent file; returns their labels.

    `template` is an agent file that gives all the rest: model, tools, messages. Without one, the file
    describes an agent that has these blocks and Letta's own settings.
    """
    opening = UserGarden(user, actor=actor, home=home, garden=garden)
    try:
        content = _read(Path(template)) if template is not None else _plain_agent(user)
        blocks = [*_blocks_by_path(opening).values()]
    finally:
        opening.close()
    _put(content, blocks)
    target = Path(file)
    fresh = target.with_name(f"{target.name}.new")
    fresh.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    fresh.replace(target)
    return [each["label"] for each in blocks]


def _keep(opening: UserGarden, known: Mapping[str, str], label: str, text: str) -> str:
    path = known.get(label) or f"{_folder(opening)}/{document_name(label)}.md"
    rationale = "Taken in from an agent file of Letta."
    opening.ask("fs.write", {"path": path, "content": text, "rationale": rationale})
    return path


def _folder(opening: UserGarden) -> str:
    return f"users/{opening.user}/memories/blocks"


def _blocks_by_path(opening: UserGarden) -> dict[str, Block]:
    paths = unless_missing(partial(opening.ask, "fs.list", {"path": _folder(opening), "glob": "*.md"})) or ()
    texts = {path: opening.text_of(path)[0] for path in paths}
    return {path: _block(Path(path).stem, text) for path, text in texts.items() if text}


def _block(name: str, text: str) -> Block:
    """The block of a document; where a person left out the head or broke it, all is value."""
    found = find_frontmatter(text, flat(text), 0)
    head: Mapping[str, Any] = found.values if found and not found.faults else {}
    value = text[found.span.end :].removeprefix("\n") if found and head else text
    limit = head.get("limit")
    return {
        "label": str(head.get("label") or name),
        "value": value,
        # Letta refuses a value that is longer than the limit.
        "limit": max(limit if isinstance(limit, int) else _LIMIT_CHARACTERS, len(value)),
        "description": str(head["description"]) if head.get("description") else None,
        "read_only": head.get("read_only") is True,
    }


def _read(template: Path) -> dict[str, Any]:
    try:
        content = json.loads(template.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise AgentFileError(
            f"{template} can't be read: {error}.", hint="Name an .af file of Letta."
        ) from None
    known = [content.get("blocks"), content.get("agents", [])] if isinstance(content, dict) else [None]
    if not all(isinstance(each, list) and all(isinstance(one, dict) for one in each) for each in known):
        raise AgentFileError(
            f"{template} is no agent file of Letta in its present form.", hint="Export the agent anew."
        )
    return content


def _plain_agent(user: str) -> dict[str, Any]:
    agent = {"id": "agent-0", "name": user, "block_ids": []}
    return {"agents": [agent], "blocks": [], **{name: [] for name in _LISTS}, "metadata": {}}


def _put(content: dict[str, Any], blocks: list[Block]) -> None:
    """Put blocks into an agent file, each over the one with its label; all agents get the new ones."""
    listed: list[Block] = content["blocks"]
    by_label = {each.get("label"): each for each in listed}
    taken = {each.get("id") for each in listed}
    free = (name for number in range(len(listed) + len(blocks)) if (name := f"block-{number}") not in taken)
    for block in blocks:
        if block["label"] in by_label:
            by_label[block["label"]].update(block)
        else:
            block_id = next(free)
            listed.append({"id": block_id, **block})
            for agent in content.get("agents", ()):
                agent["block_ids"] = [*(agent.get("block_ids") or ()), block_id]
