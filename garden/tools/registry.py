"""The one list of tools; whatever names tools, on any surface and in the documents, is made from it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from garden.tools import events, markdown, proposal, read_files, repair, tool_help, write_files
from garden.tools.declaration import Tool

_FAMILIES = (read_files, write_files, markdown, repair, events, proposal, tool_help)

REGISTRY: Mapping[str, Tool[Any]] = MappingProxyType(
    {tool.name: tool for family in _FAMILIES for tool in family.TOOLS}
)
