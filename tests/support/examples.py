"""The tools' own examples as calls that tests can send, so that a new tool is tested without being listed."""

from garden.tools.registry import REGISTRY
from garden.writing.callers import Role

# These examples begin the two documents that the others work on.
_FIRST = ("md.plant", "fs.write")

IN_ORDER: tuple[str, ...] = (
    *_FIRST,
    *(
        name
        for writes in (True, False)
        for name, tool in REGISTRY.items()
        if tool.traits.writes is writes and Role.AGENT in tool.traits.roles and name not in _FIRST
    ),
)
"""Every tool for agents, in an order in which each finds what the ones before have made."""

FOR_MAINTAINERS = frozenset(name for name, tool in REGISTRY.items() if tool.traits.roles == {Role.MAINTAINER})

DOCUMENT_READERS = tuple(
    name
    for name, tool in REGISTRY.items()
    if not tool.traits.writes
    and "path" in tool.request_schema.get("required", ())
    and str(tool.example["path"]).endswith(".md")
)
"""Tools that read one document."""
