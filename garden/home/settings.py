"""The settings: from the environment, else from `garden.toml` in the home, else the defaults."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from garden.events.idempotency import RESEND_SECONDS
from garden.events.keyring import Keyring
from garden.grammar.errors import GardenError
from garden.home.local_day import find_zone
from garden.home.secret_files import read_secrets

PREFIX = "GARDEN_"
FILE_NAME = "garden.toml"
_HIDDEN = "********"

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "console", "json"]
Secrets = Literal["refuse", "warn", "ask"]
Caps = Literal["ask", "warn"]


class SettingsError(GardenError):
    """A setting has a bad value; the message names the setting, the value and the accepted values."""

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


def _check_zone(value: str) -> str:
    try:
        find_zone(value)
    except GardenError as error:
        raise ValueError(error.hint) from None
    return value


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(_Table):
    """Limits of single calls and files."""

    document_bytes: PositiveInt = Field(
        1024 * 1024, le=1024 * 1024, description="Largest document in bytes, up to 1 MiB."
    )
    read_lines: PositiveInt = Field(500, description="Most lines that one read returns.")
    list_names: PositiveInt = Field(500, description="Most names that one listing returns.")
    search_matches: PositiveInt = Field(100, description="Most matches that one search returns.")
    resend_seconds: int = Field(
        RESEND_SECONDS,
        ge=0,
        description="Seconds for which an equal request without a key counts as sent again; 0 is never.",
    )
    caps: Caps = Field(
        "ask",
        description="A write that exceeds a soft cap without a reason: 'ask' refuses it; 'warn' carries it "
        "out, and the reason is owed.",
    )
    free_disk_bytes: PositiveInt = Field(
        256 * 1024 * 1024, description="Free disk space in bytes below which no tool writes."
    )


class Serve(_Table):
    """The address and the limits of the HTTP service."""

    host: str = Field("127.0.0.1", min_length=1, description="Address that `garden serve` listens on.")
    port: int = Field(
        8620, ge=0, le=65535, description="Port that `garden serve` listens on; 0 picks a free one."
    )
    processes: int = Field(
        0, ge=0, le=64, description="Processes that answer calls; 0 is one for each core, up to 8."
    )
    threads: PositiveInt = Field(
        6,
        le=64,
        description="Calls that run at once in a process; neither one user nor writes alone can take all of "
        "two or more.",
    )
    waiting_calls: PositiveInt = Field(256, description="Most calls that wait for their turn in a process.")
    user_calls: PositiveInt = Field(64, description="Most calls of one user that run or wait.")
    streams: PositiveInt = Field(256, description="Most event streams open at once in a process.")
    stream_seconds: PositiveInt = Field(
        15, description="Seconds of silence after which a stream sends a keep-alive."
    )
    connections: PositiveInt = Field(
        1024,
        description="Most connections open at once to a process; half of them before their first "
        "authenticated request.",
    )
    address_connections: int = Field(
        256,
        ge=0,
        description="Most connections of one address to a process; 0 is no limit of its own. A proxy is one "
        "address.",
    )
    hosts: tuple[str, ...] = Field(
        (),
        description="Names that requests may call the service by, besides its address and those of the "
        "machine itself; '*' is any. Needed on a loopback address behind a proxy that passes names on.",
    )
    sign_in_hours: PositiveInt = Field(
        12, le=24 * 30, description="Hours after which a person signs in to the console again."
    )
    body_bytes: PositiveInt = Field(
        4 * 1024 * 1024,
        description="Largest request body in bytes; as JSON a document can take several times its size.",
    )
    body_seconds: PositiveInt = Field(20, description="Seconds within which a request's body must arrive.")
    head_seconds: PositiveInt = Field(
        5, description="Seconds for a request's headers before the first authenticated request."
    )
    idle_seconds: PositiveInt = Field(
        20, description="Seconds that a connection may be silent, or take to send a request's headers."
    )
    grace_seconds: PositiveInt = Field(
        20, description="Seconds that running requests have to finish when the service stops."
    )


class Upkeep(_Table):
    """How often the background jobs run."""

    sweep_seconds: int = Field(
        15, ge=0, description="Seconds between two sweeps for interrupted changes; 0 is never."
    )
    stalled_seconds: int = Field(
        15, ge=0, description="Age in seconds from which a sweep settles an open change."
    )
    attempts: PositiveInt = Field(
        10, le=1000, description="Attempts to settle a change before it is left to a person."
    )
    adopt_seconds: int = Field(
        600, ge=0, description="Seconds between two searches for outside edits; 0 is never."
    )
    forget_seconds: int = Field(
        3600, ge=0, description="Seconds between two removals of expired idempotency records; 0 is never."
    )
    verify_seconds: int = Field(
        86400, ge=0, description="Seconds between two checks of every seal; 0 is never."
    )
    index_seconds: int = Field(
        60, ge=0, description="Seconds between two searches for documents that recall lacks; 0 is never."
    )
    keep_seconds: int = Field(
        60, ge=0, description="Seconds between two searches for documents that have grown; 0 is never."
    )
    embed_seconds: int = Field(
        60, ge=0, description="Seconds between two searches for passages without a vector; 0 is never."
    )
    checkpoint_seconds: int = Field(
        3600, ge=0, description="Seconds between two signed checkpoints of the log; 0 is never."
    )


class Recall(_Table):
    """Where the embeddings of recall come from."""

    embedder: Literal["static", "minilm", "openai", "none"] = Field(
        "static", description="Embeddings; 'openai' sends texts to a service. Also `EMBEDDING_PROVIDER`."
    )
    base_url: Annotated[SecretStr, _url_of("http", "https")] | None = Field(
        None, description="Address of 'openai'; the default is OpenAI's own. Also `EMBEDDING_BASE_URL`."
    )
    api_key: SecretStr | None = Field(None, description="Key for 'openai'. Also `EMBEDDING_API_KEY`.")
    model: str = Field("text-embedding-3-small", description="Model of 'openai'. Also `EMBEDDING_MODEL`.")
    dimensions: PositiveInt = Field(1536, le=8192, description="Numbers in a vector of that model.")
    model_folder: Path | None = Field(None, description="`model.onnx` and `tokenizer.json` of 'minilm'.")


# Names that programs share; a setting's own name goes before them.
_SHARED_VARIABLES: Mapping[str, str] = {
    "embedder": "EMBEDDING_PROVIDER",
    **{name: f"EMBEDDING_{name.upper()}" for name in ("base_url", "api_key", "model")},
}


class Sessions(_Table):
    """How notes entries are divided into sessions."""

    auto_divide: Literal["daily", "weekly", "none"] = Field(
        "daily", description="Sessions of entries without a heading of their own."
    )
    divide_at: str = Field(
        "00:00",
        pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$",
        description="Time of day in `timezone` at which a new day's session begins.",
    )


class Tlog(_Table):
    """The transparency log."""

    origin: str | None = Field(
        None,
        pattern=r"^[^\s+]{1,255}$",
        description="Name of the log in its checkpoints, such as 'example.com/garden'; choose it before the "
        "first one. The default is made of the home's id.",
    )
    public: bool = Field(
        True, description="Whether `/tlog/` is served without a token; it holds no words, users or paths."
    )
    policy: Path | None = Field(
        None, description="File that names witnesses and how many must cosign a checkpoint (tlog-policy)."
    )


Profile = Literal["lean", "full"]


class Mcp(_Table):
    """The tools that MCP clients are shown; every other one can be called by its name."""

    profile: Profile = Field(
        "lean", description="'lean' lists the tools of a companion's daily work, 'full' every tool."
    )
    output_schemas: bool = Field(False, description="Whether the list has the schemas of answers too.")


Permission = Literal["allow", "ask", "deny"]
Phase = Literal["observe", "tend", "maintain"]
Preset = Literal["strict", "default"]
Permissions = Annotated[
    Mapping[str, Permission],
    Field(description="Permission by tool, such as 'fs.move', 'md.*' or '*'; the longest name counts."),
]


CallLimits = Annotated[
    Mapping[str, Annotated[int, Field(ge=0, le=1_000_000)]],
    Field(
        description="Single rate limits, such as actor_minute = 20 or 'fs.read' = 100; 0 turns a limit off."
    ),
]


class TokenPolicy(_Table):
    """What narrows the calls of one token."""

    phase: Phase | None = None
    preset: Preset | None = None
    remove: tuple[str, ...] = ()
    permissions: Permissions = {}


class ActorPolicy(TokenPolicy):
    """What one actor may do, where it differs from the others."""

    add: tuple[str, ...] = ()
    limits: CallLimits = {}


class Gateway(_Table):
    """What stands between callers and the tools."""

    phase: Phase = Field(
        "maintain",
        description="Tools that callers have: 'observe' reads, 'tend' also writes, 'maintain' also moves and "
        "repairs; roles narrow this further.",
    )
    permissions: Permissions = {}
    preset: Preset | None = Field(
        None, description="Rate limits: 'strict', or 'default' with twenty times its numbers; none without."
    )
    limits: CallLimits = {}
    actors: Mapping[str, ActorPolicy] = Field({}, description="Policies of single actors, by name.")
    approval_seconds: PositiveInt = Field(
        3600, le=30 * 86400, description="Seconds for which a call that was asked about waits for its answer."
    )
    deadline_seconds: PositiveInt = Field(30, description="Seconds that a call may take.")
    search_deadline_seconds: PositiveInt = Field(10, description="Seconds that a search may take.")
    calls_keep_days: PositiveInt = Field(90, description="Days that the account of calls is kept.")


class Settings(BaseSettings):
    """All settings, with their values."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
    )

    home: Path = Field(Path("~/memory-garden"), description="Folder of the garden home.")
    database_url: Annotated[SecretStr, _url_of("postgresql", "postgres")] | None = Field(
        None, description="PostgreSQL server, 15 or newer; the default is the home's embedded one."
    )
    broker_url: Annotated[SecretStr, _url_of("redis", "rediss", "amqp", "amqps")] | None = Field(
        None, description="Redis or RabbitMQ for background jobs; the default is a timer in the service."
    )
    integrity_keys: Annotated[SecretStr, AfterValidator(_check_keys)] | None = Field(
        None,
        description="Integrity keys, 'version:key' separated by commas; the default is the home's key file.",
    )
    log_level: LogLevel = Field("info", description="Least severe log entries that are written.")
    log_format: LogFormat = Field(
        "auto", description="Log format; 'auto' is 'console' on a terminal and 'json' elsewhere."
    )
    timezone: Annotated[str, AfterValidator(_check_zone)] | None = Field(
        None,
        description="Time zone of dates, such as 'Europe/Berlin'; without it entries have the machine's "
        "date, and times in requests are in UTC.",
    )
    language: str | None = Field(
        None,
        pattern=r"^[A-Za-z]{2,20}(?:[-_][A-Za-z]{2,8})?$",
        description="Language of the gardens for recall, such as 'de'; without it each section has the one "
        "that it seems to be in. A document's frontmatter may name another. `garden recall rebuild --all` "
        "applies a change.",
    )
    secrets: Secrets = Field(
        "refuse",
        description="What is done with a request that brings a private key or a well-known token: "
        "'refuse' it, 'warn' and carry it out, or 'ask' a person.",
    )
    limits: Limits = Field(Limits(), description="Limits of single calls and files.")
    serve: Serve = Field(Serve(), description="The HTTP service.")
    upkeep: Upkeep = Field(Upkeep(), description="The background jobs.")
    recall: Recall = Field(Recall(), description="Ranked search.")
    sessions: Sessions = Field(Sessions(), description="The sessions of notes.")
    tlog: Tlog = Field(Tlog(), description="The transparency log.")
    mcp: Mcp = Field(Mcp(), description="The Model Context Protocol.")
    gateway: Gateway = Field(Gateway(), description="Policies, approvals and the account of calls.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Rank the values of the file, which `load_settings` passes as arguments, below the environment."""
        shared = {name: os.environ[v] for name, v in _SHARED_VARIABLES.items() if os.environ.get(v)}
        lower = InitSettingsSource(settings_cls, {"recall": shared} if shared else {})
        return env_settings, lower, init_settings


TABLES: Mapping[str, type[BaseModel]] = {
    "limits": Limits,
    "serve": Serve,
    "upkeep": Upkeep,
    "recall": Recall,
    "sessions": Sessions,
    "tlog": Tlog,
    "mcp": Mcp,
    "gateway": Gateway,
}
"""The tables of `garden.toml`, with their settings."""

SECRET_NAMES = ("database_url", "broker_url", "integrity_keys")
"""The settings that may come from a file of their own."""


@dataclass(frozen=True)
class LoadedSettings:
    """The effective settings, and the origins of their values."""

    settings: Settings
    file_values: Mapping[str, Any]
    home_given: bool


def load_settings(home: Path | None = None) -> LoadedSettings:
    """Read the settings; a home given here (by --home) overrides the environment's."""
    default = Settings.model_fields["home"].default
    folder = (home or Path(os.environ.get(f"{PREFIX}HOME") or default)).expanduser().absolute()
    file_values = _read_file(folder / FILE_NAME)
    secrets = read_secrets({name: variable_name(name) for name in SECRET_NAMES})
    try:
        settings = Settings(**file_values | secrets).model_copy(update={"home": folder})
    except ValidationError as error:
        raise _settings_error(error, folder) from None
    return LoadedSettings(settings, file_values, home_given=home is not None)


def variable_name(*parts: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + "_".join(parts).upper()


def variable_in_use(path: tuple[str, ...]) -> str | None:
    """The environment variable that sets this setting, if one does."""
    other = _SHARED_VARIABLES.get(path[-1], "") if path[0] == "recall" else ""
    if path[0] in SECRET_NAMES:
        other = secret_file_variable(path[0])
    return next((name for name in (variable_name(*path), other) if os.environ.get(name)), None)


def secret_file_variable(name: str) -> str:
    """The environment variable that names the file of a secret setting."""
    return f"{variable_name(name)}_FILE"


def setting_paths() -> list[tuple[str, ...]]:
    """List every setting: ("log_level",), ("limits", "document_bytes"), ..."""
    top = [(name,) for name in Settings.model_fields if name not in TABLES]
    return top + [(table, name) for table, model in TABLES.items() for name in model.model_fields]


def redact_url(url: str) -> str:
    """Hide the password in a URL, a user without one, or the whole URL if it can't be parsed."""
    match = re.fullmatch(r"([a-z]+://)([^/?#]*)([^@]*)", url)
    if match is None:
        return _HIDDEN
    scheme, authority, rest = match.groups()
    credentials, at, host = authority.rpartition("@")
    user, colon, _password = credentials.partition(":")
    # A password whose colon was forgotten looks like a user.
    shown = f"{user}:{_HIDDEN}@{host}" if colon else f"{_HIDDEN if at else ''}{at}{host}"
    return scheme + shown + re.sub(r"(?i)(password=)[^&]*", rf"\1{_HIDDEN}", rest)


def suggest(name: str, known: Iterable[str]) -> str:
    """A clause that suggests the known name nearest to this one, or nothing."""
    matches = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{matches[0]}'?" if matches else "."


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{path} can't be read: {error}.", hint='Write lines like: log_level = "info"'
        ) from None
    if "home" in values:
        raise SettingsError(
            f"{path} sets 'home', but the file is in the home itself.", hint="Set GARDEN_HOME instead."
        )
    return values


def place_in_file(folder: Path, path: tuple[str, ...]) -> str:
    """Name the line of `garden.toml` that sets a value, or only the file where it is not found."""
    try:
        lines = (folder / FILE_NAME).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return FILE_NAME
    begins = 1
    for number in range(1, len(lines) + 1):
        try:
            values = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            # A value over several lines is not complete before its last.
            continue
        if _has(values, path):
            return f"{FILE_NAME} line {begins}"
        begins = number + 1
    return FILE_NAME if len(path) < 2 else place_in_file(folder, path[:-1])


def _has(values: Any, path: tuple[str, ...]) -> bool:
    return not path or (isinstance(values, dict) and path[0] in values and _has(values[path[0]], path[1:]))


def _settings_error(error: ValidationError, folder: Path) -> SettingsError:
    sentences = [
        _sentence(folder, each["loc"], each["type"], each["input"], each["msg"]) for each in error.errors()
    ]
    return SettingsError("\n".join(sentences), hint="Correct it, or remove it to use the default.")


def _sentence(folder: Path, location: tuple[int | str, ...], kind: str, value: Any, complaint: str) -> str:
    path = tuple(str(part) for part in location)
    dotted = ".".join(path)
    if kind == "extra_forbidden":
        known = [".".join(each) for each in setting_paths()]
        if os.environ.get(variable_name(*path)):
            return f"{variable_name(*path)} is set but is no setting{suggest(dotted, known)}"
        return f"{place_in_file(folder, path)}: '{dotted}' is no setting{suggest(dotted, known)}"
    place = variable_in_use(path) or f"{place_in_file(folder, path)}: {dotted}"
    wish = complaint.removeprefix("Value error, ").replace("Input should be", "accepted is")
    return f"{place} is {_display_input(path, value)}; {wish}."


def _display_input(path: tuple[str, ...], value: Any) -> str:
    if path[-1] in ("integrity_keys", "api_key"):
        return _HIDDEN
    return repr(redact_url(value) if path[-1].endswith("_url") and isinstance(value, str) else value)
