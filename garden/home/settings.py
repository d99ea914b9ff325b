"""The settings: from the environment, then `garden.toml` in the home, then defaults."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from garden.events.keyring import Keyring
from garden.grammar.errors import GardenError

PREFIX = "GARDEN_"
FILE_NAME = "garden.toml"
_HIDDEN = "********"

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "console", "json"]


class SettingsError(GardenError):
    """A setting has a value that is not accepted; the message names the setting, the value and what is."""

    code = "invalid_input"


def _url_of(*schemes: str) -> Any:
    def check(value: SecretStr) -> SecretStr:
        scheme, separator, _ = value.get_secret_value().partition("://")
        if not separator or scheme not in schemes:
            raise ValueError(
                "accepted is a URL that starts with " + " or ".join(f"{each}://" for each in schemes)
            )
        return value

    return AfterValidator(check)


def _check_keys(value: SecretStr) -> SecretStr:
    try:
        Keyring.parse(value.get_secret_value())
    except GardenError as error:
        raise ValueError(f"{error.message} {error.hint}") from None
    return value


class Limits(BaseModel):
    """What a single call or file may amount to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_bytes: PositiveInt = Field(
        1024 * 1024, le=1024 * 1024, description="Largest document, in bytes; at most a mebibyte."
    )
    read_lines: PositiveInt = Field(500, description="Lines that one read returns at most.")
    list_names: PositiveInt = Field(500, description="Names that one listing returns at most.")
    search_matches: PositiveInt = Field(100, description="Matches that one search returns at most.")
    free_disk_bytes: PositiveInt = Field(
        256 * 1024 * 1024, description="Free disk space below which the home counts as full."
    )


class Serve(BaseModel):
    """Where the service listens, and how much it takes on at once."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", min_length=1, description="The address that `garden serve` listens on.")
    port: int = Field(8620, ge=0, le=65535, description="Its port; 0 is any that is free.")
    threads: PositiveInt = Field(
        6,
        le=64,
        description="Calls carried out at once; of two or more never all are one user's, nor all writes.",
    )
    waiting_calls: PositiveInt = Field(256, description="Calls that may wait for their turn.")
    user_calls: PositiveInt = Field(64, description="Calls of one user that may be under way or waiting.")
    streams: PositiveInt = Field(256, description="Event streams that may be open at once.")
    stream_seconds: PositiveInt = Field(
        15, description="Time after which a silent stream says that it is still there."
    )
    connections: PositiveInt = Field(1024, description="Connections that may be open at once.")
    body_bytes: PositiveInt = Field(
        4 * 1024 * 1024,
        description="Largest request body; a document may take several times its size as JSON.",
    )
    body_seconds: PositiveInt = Field(20, description="Time in which a request's body must have arrived.")
    idle_seconds: PositiveInt = Field(
        20, description="Time that a connection may be silent, or take to send a request's headers."
    )
    grace_seconds: PositiveInt = Field(
        20, description="Time that requests have to finish once the service was told to stop."
    )


class Upkeep(BaseModel):
    """How often the service looks after what crashes and people leave behind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sweep_seconds: int = Field(
        15, ge=0, description="Time between two sweeps for changes that were begun and not ended; 0 is never."
    )
    stalled_seconds: int = Field(15, ge=0, description="Age from which such a change counts as stalled.")
    attempts: PositiveInt = Field(
        10, le=1000, description="Attempts at one of them before it is left to a person."
    )
    adopt_seconds: int = Field(
        600, ge=0, description="Time between two searches for what was edited outside; 0 is never."
    )
    forget_seconds: int = Field(
        3600, ge=0, description="Time between two removals of requests past their time; 0 is never."
    )
    verify_seconds: int = Field(86400, ge=0, description="Time between two checks of every seal; 0 is never.")


class Settings(BaseSettings):
    """Everything that can be set, with what it is set to."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    home: Path = Field(Path("~/memory-garden"), description="The garden home.")
    database_url: Annotated[SecretStr, _url_of("postgresql", "postgres")] | None = Field(
        None, description="A PostgreSQL server, 15 or newer; without it the home's embedded one."
    )
    broker_url: Annotated[SecretStr, _url_of("redis", "rediss", "amqp", "amqps")] | None = Field(
        None, description="Redis or RabbitMQ for background jobs; without it a timer in the service."
    )
    integrity_keys: Annotated[SecretStr, AfterValidator(_check_keys)] | None = Field(
        None, description="Integrity keys, 'version:key' separated by commas; without it the home's key file."
    )
    log_level: LogLevel = Field("info", description="The least severe log entries that are written.")
    log_format: LogFormat = Field(
        "auto", description="'auto' is 'console' on a terminal and 'json' elsewhere."
    )
    limits: Limits = Field(Limits(), description="Limits of single calls.")
    serve: Serve = Field(Serve(), description="The service over HTTP.")
    upkeep: Upkeep = Field(Upkeep(), description="What runs by itself.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put what `load_settings` read from the file, given as arguments here, below the environment."""
        return env_settings, init_settings


TABLES: Mapping[str, type[BaseModel]] = {"limits": Limits, "serve": Serve, "upkeep": Upkeep}
"""The settings that stand in a table of their own, and what each table holds."""


@dataclass(frozen=True)
class LoadedSettings:
    """The effective settings, and what is needed to say where each came from."""

    settings: Settings
    file_values: Mapping[str, Any]
    home_given: bool


def load_settings(home: Path | None = None) -> LoadedSettings:
    """Read the settings; a home given here (by --home) goes before the environment's."""
    default = Settings.model_fields["home"].default
    folder = (home or Path(os.environ.get(f"{PREFIX}HOME") or default)).expanduser().absolute()
    file_values = _read_file(folder / FILE_NAME)
    try:
        settings = Settings(**file_values).model_copy(update={"home": folder})
    except ValidationError as error:
        raise _explained(error) from None
    return LoadedSettings(settings, file_values, home_given=home is not None)


def variable_name(*parts: str) -> str:
    """Give the environment variable of a setting."""
    return PREFIX + "_".join(parts).upper()


def setting_paths() -> list[tuple[str, ...]]:
    """List every setting: ("log_level",), ("limits", "document_bytes"), ..."""
    top = [(name,) for name in Settings.model_fields if name not in TABLES]
    return top + [(table, name) for table, model in TABLES.items() for name in model.model_fields]


def redacted(url: str) -> str:
    """Show a URL without its password, or nothing of it where the password can't be told from the rest."""
    match = re.fullmatch(r"([a-z]+://)([^/?#]*)([^@]*)", url)
    if match is None:
        return _HIDDEN
    scheme, authority, rest = match.groups()
    credentials, at, host = authority.rpartition("@")
    user, colon, _password = credentials.partition(":")
    shown = f"{user}{colon}{_HIDDEN if colon else ''}{at}{host}"
    return scheme + shown + re.sub(r"(?i)(password=)[^&]*", rf"\1{_HIDDEN}", rest)


def closest(name: str, known: Iterable[str]) -> str:
    """Give a half-sentence that names what was probably meant, or nothing."""
    matches = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{matches[0]}'?" if matches else ""


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{path} can't be read: {error}.", hint='It holds lines like: log_level = "info"'
        ) from None
    if "home" in values:
        raise SettingsError(
            f"{path} sets 'home', which says where that very file is.", hint="Set GARDEN_HOME instead."
        )
    return values


def _explained(error: ValidationError) -> SettingsError:
    sentences = [_sentence(each["loc"], each["type"], each["input"], each["msg"]) for each in error.errors()]
    return SettingsError("\n".join(sentences), hint="Correct it, or unset it to have the default.")


def _sentence(location: tuple[int | str, ...], kind: str, value: Any, complaint: str) -> str:
    path = tuple(str(part) for part in location)
    dotted = ".".join(path)
    if kind == "extra_forbidden":
        known = [".".join(each) for each in setting_paths()]
        if os.environ.get(variable_name(*path)):
            return f"{variable_name(*path)} is set but is no setting{closest(dotted, known)}"
        return f"{FILE_NAME} sets '{dotted}', which is no setting{closest(dotted, known)}"
    name = variable_name(*path)
    place = name if os.environ.get(name) else f"{dotted} in {FILE_NAME}"
    wish = complaint.removeprefix("Value error, ").replace("Input should be", "accepted is")
    return f"{place} is {_shown_input(path, value)}; {wish}."


def _shown_input(path: tuple[str, ...], value: Any) -> str:
    if path == ("integrity_keys",):
        return _HIDDEN
    return repr(redacted(value) if path[0].endswith("_url") and isinstance(value, str) else value)
