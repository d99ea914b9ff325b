"""The one list of tools; whatever names tools, on any surface and in the documents, is made from it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from garden.tools import account, helping, markdown, proposing, reading_files, recovering, writing_files
from garden.tools.declaration import Tool

_FAMILIES = (reading_files, writing_files, markdown, recovering, account, proposing, helping)

REGISTRY: Mapping[str, Tool[Any]] = MappingProxyType(
    {tool.name: tool for family in _FAMILIES for tool in family.TOOLS}
)
