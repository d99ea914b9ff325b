"""docs/settings.md, generated from the settings."""

from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from garden.home.settings import Settings, setting_paths, variable_name

TARGET = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """\
# Settings

Made from the code by `make docs`. A setting comes from the environment, else from `garden.toml` in the
home, else from its default. `garden config` shows what is in force and where each value came from; secrets
stay hidden.

```console
$ garden config
$ garden config --json
```

A value that is not accepted stops the command before it does anything, with the setting's name, the value,
and what would be accepted. So does a name in `garden.toml` that is no setting; a variable that looks like a
setting and is none is named by `garden config` and `garden doctor`.

| variable | in `garden.toml` | default | accepted | what it is |
|---|---|---|---|---|
"""
FOOT = """
In `garden.toml` the names with a dot stand in a table:

```toml
log_level = "warning"

[limits]
search_matches = 50
```
"""


def files() -> dict[Path, str]:
    """Text of the page."""
    return {TARGET: HEAD + "".join(f"{_row(path)}\n" for path in setting_paths()) + FOOT}


def _row(path: tuple[str, ...]) -> str:
    field = _field(path)
    dotted = "-" if path == ("home",) else f"`{'.'.join(path)}`"
    default = "-" if field.default is None else f"`{field.default}`"
    told = (field.description or "").replace("|", "\\|")
    return f"| `{variable_name(*path)}` | {dotted} | {default} | {_accepted(field.annotation)} | {told} |"


def _field(path: tuple[str, ...]) -> FieldInfo:
    model: type[BaseModel] = Settings
    for group in path[:-1]:
        annotation = model.model_fields[group].annotation
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            raise TypeError(f"{group} is no group of settings")
        model = annotation
    return model.model_fields[path[-1]]


def _accepted(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in args)
    if origin is Annotated:
        return _accepted(args[0])
    if origin in (Union, UnionType):
        return _accepted(args[0])
    named = {bool: "`true` or `false`", int: "a number", float: "a number", Path: "a folder"}
    return named.get(annotation, "a secret text" if annotation is SecretStr else "text")
