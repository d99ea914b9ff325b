"""The tools' names over this protocol, whose clients take no dots."""

import re

from garden.tools.registry import REGISTRY


def wire_name(name: str) -> str:
    """Give a tool's name as it is called here."""
    return name.replace(".", "_")


def in_wire_names(text: str) -> str:
    """Write a text that names tools in the names that they have here."""
    return _DOTTED.sub(lambda found: wire_name(found[0]), text)


_DOTTED = re.compile(rf"\b(?:{'|'.join(re.escape(name) for name in REGISTRY if '.' in name)})\b(?!\.[a-z])")
