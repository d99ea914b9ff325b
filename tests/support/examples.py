"""The tools' own examples as calls that tests can send, so that a new tool is tested without being listed."""

from collections.abc import Mapping
from typing import Any

from garden.tools.registry import REGISTRY
from garden.writing.callers import Role

# These begin the documents that the others work on; the second text is that of a free-form document.
_FIRST = ("md.plant", "fs.write", "fs.write")
FREE = {"path": REGISTRY["fs.archive"].example["path"], "content": "She drinks oolong at four.\n"}
# It forgets what another stored.
_LAST = "memory.forget"

IN_ORDER: tuple[str, ...] = (
    *_FIRST,
    *(
        name
        for writes in (True, False)
        for name, tool in REGISTRY.items()
        if tool.traits.writes is writes and Role.AGENT in tool.traits.roles and name not in (*_FIRST, _LAST)
    ),
    _LAST,
)
"""Every tool for agents, in an order in which each finds what the ones before have made."""


def arguments_of(name: str, results: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's example; a memory to forget is the one that was stored, since its id depends on the keys."""
    if name == "fs.write" and name in results:
        return FREE
    forgotten = {"id": results["memory.store"]["id"]} if name == _LAST else {}
    return {**REGISTRY[name].example, **forgotten}


FOR_MAINTAINERS = frozenset(name for name, tool in REGISTRY.items() if tool.traits.roles == {Role.MAINTAINER})

DOCUMENT_READERS = tuple(
    name
    for name, tool in REGISTRY.items()
    if not tool.traits.writes
    and "path" in tool.request_schema.get("required", ())
    and str(tool.example["path"]).endswith(".md")
)
"""Tools that read one document."""

EVENT_READERS = frozenset({"events.query", "history.blame", "history.log", "history.search", "history.show"})
"""Tools that answer from the event log and open no file."""

NOT_OPENING = EVENT_READERS | {"md.undo"}
"""Tools that do not open the path they are given; an undo opens the document of its event."""
