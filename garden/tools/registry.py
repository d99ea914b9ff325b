"""Every tool by name. Surfaces, documents and tests derive their lists from this one."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

from garden.tools.declaration import Tool


def _find_tools() -> dict[str, Tool[Any]]:
    """Collect `TOOLS` from every module of this package, in the order of the tools' names."""
    package = __name__.rpartition(".")[0]
    names = [module.name for module in iter_modules(import_module(package).__path__)]
    modules = [import_module(f"{package}.{name}") for name in names if f"{package}.{name}" != __name__]
    tools = [tool for module in modules for tool in getattr(module, "TOOLS", ())]
    return {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}


REGISTRY: Mapping[str, Tool[Any]] = MappingProxyType(_find_tools())
