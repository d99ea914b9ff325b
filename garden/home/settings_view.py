"""The settings for a person to see: value, origin and description, without secrets."""

import os
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from garden.events.keyring import Keyring
from garden.home.settings import (
    FILE_NAME,
    PREFIX,
    SECRET_NAMES,
    TABLES,
    LoadedSettings,
    Settings,
    redact_url,
    secret_file_variable,
    setting_paths,
    suggest,
    variable_in_use,
    variable_name,
)

# The prefix of the test suite's own variables.
_NOT_OURS = ("GARDEN_TEST_",)
# The command line's default user.
_OF_SURFACES = {"GARDEN_USER"}


@dataclass(frozen=True)
class SettingRow:
    """One setting, ready to be shown."""

    name: str
    value: str | int | None
    origin: str
    variable: str
    description: str


def setting_rows(loaded: LoadedSettings) -> list[SettingRow]:
    """List every setting with its effective value and its origin."""
    return [_row(path, loaded) for path in setting_paths()]


def unknown_variables() -> list[str]:
    """List the environment variables that look like settings but are none, each with a suggestion."""
    known = {variable_name(*path) for path in setting_paths()} | _OF_SURFACES
    known |= set(map(secret_file_variable, SECRET_NAMES))
    found = sorted(name for name in os.environ if name.startswith(PREFIX) and not name.startswith(_NOT_OURS))
    return [f"{name} is set but is no setting{suggest(name, known)}" for name in found if name not in known]


def _row(path: tuple[str, ...], loaded: LoadedSettings) -> SettingRow:
    value: Any = loaded.settings
    for part in path:
        value = getattr(value, part)
    return SettingRow(
        ".".join(path),
        _display_value(path, value),
        _origin(path, loaded),
        variable_name(*path),
        _description(path),
    )


def _display_value(path: tuple[str, ...], value: Any) -> str | int | None:
    if path == ("integrity_keys",) and isinstance(value, SecretStr):
        versions = Keyring.parse(value.get_secret_value()).versions
        return f"(hidden; versions {', '.join(map(str, versions))})"
    if isinstance(value, SecretStr):
        return redact_url(value.get_secret_value())
    return value if value is None or isinstance(value, int) else str(value)


def _origin(path: tuple[str, ...], loaded: LoadedSettings) -> str:
    if path == ("home",) and loaded.home_given:
        return "command line"
    if variable_in_use(path):
        return "environment"
    values: Any = loaded.file_values
    for part in path:
        values = values.get(part) if isinstance(values, dict) else None
    return "default" if values is None else FILE_NAME


def _description(path: tuple[str, ...]) -> str:
    model = TABLES.get(path[0], Settings)
    return model.model_fields[path[-1]].description or ""
