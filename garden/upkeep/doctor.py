"""Checks of everything the service needs; each failure comes with a remedy."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from garden.events.database import OLDEST_SERVER, ServerFacts, connection, server_facts
from garden.events.migrations import status as migration_status
from garden.grammar.errors import GardenError
from garden.grammar.kinds.catalogue import load_kinds
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home, open_home
from garden.home.keys import KeySource
from garden.home.settings import FILE_NAME, LoadedSettings, load_settings, redact_url
from garden.home.settings_view import unknown_variables
from garden.home.setup import ensure_database, read_own_kinds
from garden.upkeep.broker import greet

T = TypeVar("T")
CheckStatus = Literal["ok", "warning", "failed", "skipped"]

_OLDEST_PYTHON = (3, 11)
_SECRET_SETTINGS = {"integrity_keys", "database_url", "broker_url"}
_CLOCK_SECONDS_WARN = 2
_CLOCK_SECONDS_FAIL = 60
_OLDEST_PLAUSIBLE_YEAR = 2025


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    check: str
    status: CheckStatus
    message: str
    hint: str = ""


class _CheckError(GardenError):
    """A check did not pass."""

    def __init__(self, message: str, *, hint: str, status: CheckStatus = "failed") -> None:
        super().__init__(message, hint=hint)
        self.status: CheckStatus = status


@dataclass
class _Facts:
    """The facts that earlier checks found for later ones."""

    named_home: Path | None
    read_settings: LoadedSettings | None = None
    home: Home | None = None
    url: str | None = None
    server: ServerFacts | None = None
    passed: set[str] = field(default_factory=set)

    @property
    def loaded(self) -> LoadedSettings:
        """The settings, once they are read."""
        return _required(self.read_settings)


def examine(home: Path | None = None) -> Iterator[CheckResult]:
    """Run every check in order; skip a check if one that it needs did not pass.

    `home` is the folder named on the command line, if any.
    """
    facts = _Facts(home)
    for name, needs, check in _CHECKS:
        missing = [need for need in needs if need not in facts.passed]
        if missing:
            yield CheckResult(name, "skipped", f"needs the check of {' and '.join(missing)} to pass")
            continue
        try:
            result = CheckResult(name, "ok", check(facts))
            facts.passed.add(name)
        except _CheckError as error:
            if error.status == "warning":
                facts.passed.add(name)
            result = CheckResult(name, error.status, error.message, error.hint)
        except GardenError as error:
            result = CheckResult(name, "failed", error.message, error.hint)
        yield result


def _python(_: _Facts) -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        raise _CheckError(f"Python {version} is too old", hint="Use Python 3.11 or newer.")
    return f"Python {version}"


def _settings(facts: _Facts) -> str:
    facts.read_settings = load_settings(facts.named_home)
    unknown = unknown_variables()
    if unknown:
        raise _CheckError("; ".join(unknown), hint="'garden config' lists every setting.", status="warning")
    return "every setting is valid"


def _home(facts: _Facts) -> str:
    facts.home = open_home(facts.loaded.settings.home)
    return f"{facts.home.path}, layout {facts.home.layout}"


def _permissions(facts: _Facts) -> str:
    home = _required(facts.home)
    # If root is the caller, the database's account may pass through these two folders, and no more.
    passages = {home.path: 0o066, home.state: 0o066}
    private = {home.users: 0o077, home.history: 0o077}
    if home.keys_file.exists():
        private[home.keys_file] = 0o077
    if _SECRET_SETTINGS & facts.loaded.file_values.keys():
        private[home.path / FILE_NAME] = 0o077
    for path, forbidden in (passages | private).items():
        status = path.stat()
        if status.st_mode & forbidden:
            raise _CheckError(f"other users can open {path}", hint=f"chmod go-rwx '{path}'")
        if status.st_uid != os.geteuid() and os.geteuid() != 0:
            raise _CheckError(f"{path} belongs to another user", hint="Run as the user who owns the home.")
    return "private to their owner"


def _kinds(facts: _Facts) -> str:
    declarations = read_own_kinds(_required(facts.home))
    kinds = load_kinds(declarations)
    number = len(declarations)
    own = f", with {number} declaration{'s' if number > 1 else ''} of this home" if number else ""
    return f"{len(kinds)} kinds of document{own}"


def _disk(facts: _Facts) -> str:
    free = shutil.disk_usage(_required(facts.home).path).free
    floor = facts.loaded.settings.limits.free_disk_bytes
    if free < floor:
        raise _CheckError(
            f"{_mebibytes(free)} free, less than the limit of {_mebibytes(floor)}",
            hint="Free some space, or lower GARDEN_LIMITS_FREE_DISK_BYTES.",
        )
    return f"{_mebibytes(free)} free"


def _database(facts: _Facts) -> str:
    facts.url = ensure_database(facts.loaded.settings, _required(facts.home))
    with connection(facts.url) as opened:
        facts.server = server_facts(opened)
    kind = "embedded" if facts.loaded.settings.database_url is None else redact_url(facts.url)
    if not facts.server.is_supported:
        raise _CheckError(
            f"PostgreSQL {facts.server.version} is too old", hint=f"Use PostgreSQL {OLDEST_SERVER} or newer."
        )
    return f"PostgreSQL {facts.server.version}, {kind}{_run_by(facts)}"


def _run_by(facts: _Facts) -> str:
    """Who runs the embedded server, and what that account may pass outside the home, if it is not ours."""
    if facts.loaded.settings.database_url is not None:
        return ""
    if (found := EmbeddedPostgres(_required(facts.home)).foreign_account()) is None:
        return ""
    account, folders = found
    passes = f", which may pass through {', '.join(map(str, folders))}" if folders else ""
    return f", run by the account {account.name}{passes}"


def _extensions(facts: _Facts) -> str:
    server = _required(facts.server)
    if "plpgsql" not in server.extensions:
        raise _CheckError("plpgsql is missing", hint="In the database: create extension plpgsql;")
    return f"{', '.join(server.extensions)}; nothing else is needed"


def _migrations(facts: _Facts) -> str:
    with connection(_required(facts.url)) as opened:
        migrations = migration_status(opened)
    pending = [f"{each.version:04d}_{each.name}" for each in migrations if each.applied_at is None]
    if pending:
        raise _CheckError(f"{len(pending)} not applied ({', '.join(pending)})", hint="Run 'garden migrate'.")
    return f"all {len(migrations)} applied"


def _keys(facts: _Facts) -> str:
    settings = facts.loaded.settings
    versions = KeySource(settings, _required(facts.home))().versions
    place = "the home's key file" if settings.integrity_keys is None else "the environment or garden.toml"
    return f"version {versions[-1]} signs, {len(versions)} in all, from {place}"


def _broker(facts: _Facts) -> str:
    secret = facts.loaded.settings.broker_url
    if secret is None:
        return "none configured; the service's own timer runs the background jobs"
    url = secret.get_secret_value()
    greet(url)
    return f"{redact_url(url)} answers"


def _clock(facts: _Facts) -> str:
    with connection(_required(facts.url)) as opened:
        theirs, ours = server_facts(opened).clock, datetime.now(UTC)
    if ours.year < _OLDEST_PLAUSIBLE_YEAR:
        raise _CheckError(f"this machine's clock says {ours:%Y-%m-%d}", hint="Set it, for example with NTP.")
    apart = abs((theirs - ours).total_seconds())
    if apart > _CLOCK_SECONDS_WARN:
        raise _CheckError(
            f"the database's clock is {apart:.0f} seconds from this machine's",
            hint="Synchronise both clocks with NTP.",
            status="failed" if apart > _CLOCK_SECONDS_FAIL else "warning",
        )
    return f"{ours:%Y-%m-%d %H:%M:%SZ}, the database agrees"


_Check = Callable[[_Facts], str]
_CHECKS: tuple[tuple[str, tuple[str, ...], _Check], ...] = (
    ("python", (), _python),
    ("settings", (), _settings),
    ("home", ("settings",), _home),
    ("permissions", ("home",), _permissions),
    ("kinds", ("home",), _kinds),
    ("disk", ("home",), _disk),
    ("database", ("home",), _database),
    ("extensions", ("database",), _extensions),
    ("migrations", ("database",), _migrations),
    ("keys", ("home",), _keys),
    ("broker", ("settings",), _broker),
    ("clock", ("database",), _clock),
)


def _required(value: T | None) -> T:
    if value is None:
        raise AssertionError("a check ran before the one it needs")
    return value


def _mebibytes(count: int) -> str:
    return f"{count // (1024 * 1024):,} MiB"
