"""Write garden/surfaces/python/toolbelt.py and async_toolbelt.py from the registry."""

import subprocess
import sys
import textwrap
import types
import typing
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel
from pydantic.fields import FieldInfo

from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.tools.wire import Correlated, WriteRequest

FOLDER = Path(__file__).parents[1] / "garden" / "surfaces" / "python"
HEAD = '''\
"""The registry's tools as {what}: made by tools/python_api.py, anew with `make docs`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Unpack

from garden.surfaces.python.answers import Answer, Correlated, {base}, Written
'''


@dataclass(frozen=True)
class Colour:
    """What tells the methods that block from those that are awaited."""

    file: str
    what: str
    prefix: str
    base: str
    definition: str
    run: str
    parts: str


COLOURS = (
    Colour(
        file="toolbelt.py",
        what="typed methods",
        prefix="",
        base="Family",
        definition="def",
        run="self._run",
        parts="self._dispatcher, self._caller",
    ),
    Colour(
        file="async_toolbelt.py",
        what="typed coroutines",
        prefix="Async",
        base="AsyncFamily",
        definition="async def",
        run="await self._run",
        parts="self._asking",
    ),
)
_SAID: dict[type[BaseModel], str] = {WriteRequest: "Written", Correlated: "Correlated"}


def sources() -> dict[str, str]:
    """Write the modules."""
    return {colour.file: _source(colour) for colour in COLOURS}


def _source(colour: Colour) -> str:
    families: defaultdict[str, list[Tool[Any]]] = defaultdict(list)
    for tool in REGISTRY.values():
        families[tool.name.rpartition(".")[0]].append(tool)
    models: set[type[BaseModel]] = set()
    classes = [_family(colour, name, tools, models) for name, tools in families.items() if name]
    classes.append(_whole(colour, [name for name in families if name], families[""], models))
    head = HEAD.format(what=colour.what, base=colour.base)
    return _formatted(FOLDER / colour.file, "\n".join([head, *_imports(models), "", *classes]))


def _family(colour: Colour, family: str, tools: list[Tool[Any]], models: set[type[BaseModel]]) -> str:
    methods = "\n\n".join(_method(colour, tool, models) for tool in tools)
    name = f"{colour.prefix}{family.title()}Tools"
    return f'class {name}({colour.base}):\n    """The tools {family}.*."""\n\n{methods}\n\n'


def _whole(colour: Colour, families: list[str], tools: list[Tool[Any]], models: set[type[BaseModel]]) -> str:
    parts = "\n".join(
        f"    @property\n    def {family}(self) -> {colour.prefix}{family.title()}Tools:\n"
        f'        """The tools {family}.*."""\n'
        f"        return {colour.prefix}{family.title()}Tools({colour.parts})\n"
        for family in families
    )
    methods = "\n\n".join(_method(colour, tool, models) for tool in tools)
    return f'class {colour.prefix}Toolbelt({colour.base}):\n    """Every tool."""\n\n{parts}\n{methods}\n'


def _method(colour: Colour, tool: Tool[Any], models: set[type[BaseModel]]) -> str:
    shared = _shared(tool)
    own = {
        name: field for name, field in tool.request.model_fields.items() if name not in shared.model_fields
    }
    required = [
        f"{name}: {_type(field.annotation, models)}" for name, field in own.items() if field.is_required()
    ]
    optional = [_optional(name, field, models) for name, field in own.items() if not field.is_required()]
    said = {WriteRequest: ["**said: Unpack[Written]"], Correlated: ["**said: Unpack[Correlated]"]}.get(
        shared, []
    )
    parameters = ", ".join(["self", *required, *(["*", *optional] if optional else []), *said])
    fields = ", ".join([*(f'"{name}": {name}' for name in own), *(["**said"] if said else [])])
    result = _type(tool.result, models, given=False)
    return (
        f"    {colour.definition} {tool.name.rpartition('.')[2]}({parameters}) -> Answer[{result}]:\n"
        f'        """{tool.summary}\n\n{_wrapped(tool.description)}\n        """\n'
        f'        return {colour.run}("{tool.name}", {{{fields}}})'
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, initial_indent=" " * 8, subsequent_indent=" " * 8)


def _shared(tool: Tool[Any]) -> type[BaseModel]:
    return next((base for base in (WriteRequest, Correlated) if issubclass(tool.request, base)), BaseModel)


def _optional(name: str, field: FieldInfo, models: set[type[BaseModel]]) -> str:
    if isinstance(field.default, bool | int | str):
        return f"{name}: {_type(field.annotation, models)} = {field.default!r}"
    wanted = _type(field.annotation, models)
    return f"{name}: {wanted} = None" if "None" in wanted else f"{name}: {wanted} | None = None"


def _type(annotation: Any, models: set[type[BaseModel]], *, given: bool = True) -> str:
    """Write a type; what is given may be looser than what is got."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation is None or annotation is type(None):
        return "None"
    if annotation in (AwareDatetime, datetime):
        return "datetime"
    if origin is Annotated:
        return _type(args[0], models, given=given)
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(_type(arg, models, given=given) for arg in args))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, args))}]"
    if origin in (tuple, list):
        inner = _type(args[0], models, given=given)
        return f"Sequence[{inner}]"
    if origin is dict:
        return "Mapping[str, Any]"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        models.add(annotation)
        return f"{annotation.__name__} | Mapping[str, Any]" if given else annotation.__name__
    return typing.cast("type", annotation).__name__


def _imports(models: set[type[BaseModel]]) -> Iterator[str]:
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for model in models:
        modules[model.__module__].add(model.__name__)
    for module, names in sorted(modules.items()):
        yield f"from {module} import {', '.join(sorted(names))}"


def _formatted(target: Path, text: str) -> str:
    ruff = Path(sys.executable).with_name("ruff")
    fixed = subprocess.run(
        [ruff, "check", "-q", "--fix-only", "--select", "I,F401,RUF", "--stdin-filename", target, "-"],
        input=text.encode(), capture_output=True, check=True,
    ).stdout  # fmt: skip
    return subprocess.run(
        [ruff, "format", "-q", "--stdin-filename", target, "-"], input=fixed, capture_output=True, check=True
    ).stdout.decode()


def main() -> None:
    """Write the files."""
    for name, text in sources().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
