"""Every tool by name. Surfaces, documents and tests derive their lists from this one."""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from garden.tools.declaration import Tool

_MODULES = {
    "calls": "calls.stats",
    "context": "memory.context",
    "erase": "garden.erase",
    "event_log": "events.log",
    "events": "events.query",
    "file_search": "fs.search",
    "fix": "md.fix",
    "history": "history.blame history.diff history.log history.search history.show",
    "markdown": "lint.check md.curate_list md.lint md.list_sections md.patch_section md.plant "
    "md.snapshot_history",
    "memory": "memory.list memory.recall",
    "memory_edits": "memory.forget memory.store",
    "proposal": "propose_change",
    "read_files": "fs.hash fs.list fs.read",
    "repair": "md.repair md.restore md.undo",
    "tool_help": "tools.help tools.list",
    "write_files": "fs.append fs.archive fs.edit fs.ensure_dir fs.move fs.patch fs.write",
}


class _Registry(Mapping[str, Tool[Any]]):
    """The tools in the order of their names; the module of a tool is loaded when the tool is asked for."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        found = {tool: module for module, tools in modules.items() for tool in tools.split()}
        self._modules = dict(sorted(found.items()))
        self._tools: dict[str, Tool[Any]] = {}

    def __getitem__(self, name: str) -> Tool[Any]:
        if name not in self._tools:
            module = import_module(f"{__package__}.{self._modules[name]}")
            self._tools.update((tool.name, tool) for tool in module.TOOLS)
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


REGISTRY: Mapping[str, Tool[Any]] = _Registry(_MODULES)

_DOTTED = re.compile(rf"\b(?:{'|'.join(re.escape(name) for name in REGISTRY if '.' in name)})\b(?!\.[a-z])")


def wire_name(name: str) -> str:
    """Return a tool's name without a dot."""
    return name.replace(".", "_")


def with_wire_names(text: str) -> str:
    """Replace the tools' own names in a text with those without dots."""
    return _DOTTED.sub(lambda found: wire_name(found[0]), text)
