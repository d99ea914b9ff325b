"""An examination of everything the service needs, one finding a check, each failure with its remedy."""

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
from garden.home.folder import Home, open_home
from garden.home.keys import KeySource
from garden.home.kinds import read_own_kinds
from garden.home.settings import FILE_NAME, LoadedSettings, load_settings, redacted
from garden.home.settings_view import unknown_variables
from garden.home.setup import ensure_database
from garden.upkeep.broker import greet

T = TypeVar("T")
Status = Literal["ok", "warning", "failed", "skipped"]

_OLDEST_PYTHON = (3, 11)
_SECRET_SETTINGS = {"integrity_keys", "database_url", "broker_url"}
_CLOCK_SECONDS_WARN = 2
_CLOCK_SECONDS_FAIL = 60
_OLDEST_PLAUSIBLE_YEAR = 2025


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    check: str
    status: Status
    message: str
    hint: str = ""


class _ComplaintError(GardenError):
    """A check that did not pass, with how bad that is."""

    def __init__(self, message: str, *, hint: str, status: Status = "failed") -> None:
        super().__init__(message, hint=hint)
        self.status: Status = status


@dataclass
class _Patient:
    """What the checks have learned so far; later ones build on it."""

    told_home: Path | None
    settings_read: LoadedSettings | None = None
    home: Home | None = None
    url: str | None = None
    facts: ServerFacts | None = None
    known: set[str] = field(default_factory=set)

    @property
    def loaded(self) -> LoadedSettings:
        """The settings, once they were read."""
        return _required(self.settings_read)


def examine(home: Path | None = None) -> Iterator[Finding]:
    """Run every check in order; one that needs what an earlier one missed is skipped and says so.

    `home` is the folder that was named on the command line, if one was.
    """
    patient = _Patient(home)
    for name, needs, check in _CHECKS:
        missing = [need for need in needs if need not in patient.known]
        if missing:
            yield Finding(name, "skipped", f"needs the check of {' and '.join(missing)} to pass")
            continue
        try:
            finding = Finding(name, "ok", check(patient))
            patient.known.add(name)
        except _ComplaintError as complaint:
            if complaint.status == "warning":
                patient.known.add(name)
            finding = Finding(name, complaint.status, complaint.message, complaint.hint)
        except GardenError as error:
            finding = Finding(name, "failed", error.message, error.hint)
        yield finding


def _python(_: _Patient) -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        raise _ComplaintError(f"Python {version} is too old", hint="Use Python 3.11 or newer.")
    return f"Python {version}"


def _settings(patient: _Patient) -> str:
    patient.settings_read = load_settings(patient.told_home)
    unknown = unknown_variables()
    if unknown:
        raise _ComplaintError(
            "; ".join(unknown), hint="'garden config' lists every setting.", status="warning"
        )
    return "every setting is understood"


def _home(patient: _Patient) -> str:
    patient.home = open_home(patient.loaded.settings.home)
    return f"{patient.home.path}, layout {patient.home.layout}"


def _permissions(patient: _Patient) -> str:
    home = _required(patient.home)
    # Where root is the caller, the database's account may pass through these two, and do nothing else there.
    passages = {home.path: 0o066, home.state: 0o066}
    private = {home.users: 0o077, home.history: 0o077}
    if home.keys_file.exists():
        private[home.keys_file] = 0o077
    if _SECRET_SETTINGS & patient.loaded.file_values.keys():
        private[home.path / FILE_NAME] = 0o077
    for path, forbidden in (passages | private).items():
        status = path.stat()
        if status.st_mode & forbidden:
            raise _ComplaintError(f"others can get into {path}", hint=f"chmod go-rwx '{path}'")
        if status.st_uid != os.geteuid() and os.geteuid() != 0:
            raise _ComplaintError(
                f"{path} belongs to another user", hint="Run as the user who owns the home."
            )
    return "private to their owner"


def _kinds(patient: _Patient) -> str:
    declarations = read_own_kinds(_required(patient.home))
    kinds = load_kinds(declarations)
    number = len(declarations)
    own = f", with {number} declaration{'s' if number > 1 else ''} of the home's own" if number else ""
    return f"{len(kinds)} kinds of documents{own}"


def _disk(patient: _Patient) -> str:
    free = shutil.disk_usage(_required(patient.home).path).free
    floor = patient.loaded.settings.limits.free_disk_bytes
    if free < floor:
        raise _ComplaintError(
            f"{_mebibytes(free)} free, less than the limit of {_mebibytes(floor)}",
            hint="Free some space, or lower GARDEN_LIMITS_FREE_DISK_BYTES.",
        )
    return f"{_mebibytes(free)} free"


def _database(patient: _Patient) -> str:
    patient.url = ensure_database(patient.loaded.settings, _required(patient.home))
    with connection(patient.url) as opened:
        patient.facts = server_facts(opened)
    kind = "embedded" if patient.loaded.settings.database_url is None else redacted(patient.url)
    if not patient.facts.is_supported:
        raise _ComplaintError(
            f"PostgreSQL {patient.facts.version} is too old", hint=f"Use PostgreSQL {OLDEST_SERVER} or newer."
        )
    return f"PostgreSQL {patient.facts.version}, {kind}"


def _extensions(patient: _Patient) -> str:
    facts = _required(patient.facts)
    if "plpgsql" not in facts.extensions:
        raise _ComplaintError("plpgsql is missing", hint="In the database: create extension plpgsql;")
    return f"{', '.join(facts.extensions)}; nothing else is needed"


def _migrations(patient: _Patient) -> str:
    with connection(_required(patient.url)) as opened:
        stands = migration_status(opened)
    pending = [f"{each.version:04d}_{each.name}" for each in stands if each.applied_at is None]
    if pending:
        raise _ComplaintError(
            f"{len(pending)} to be applied ({', '.join(pending)})", hint="Run 'garden migrate'."
        )
    return f"all {len(stands)} applied"


def _keys(patient: _Patient) -> str:
    settings = patient.loaded.settings
    versions = KeySource(settings, _required(patient.home))().versions
    place = "the home's key file" if settings.integrity_keys is None else "the environment or garden.toml"
    return f"version {versions[-1]} signs, {len(versions)} in all, from {place}"


def _broker(patient: _Patient) -> str:
    secret = patient.loaded.settings.broker_url
    if secret is None:
        return "none configured; background jobs run on the service's own timer"
    url = secret.get_secret_value()
    greet(url)
    return f"{redacted(url)} answers"


def _clock(patient: _Patient) -> str:
    with connection(_required(patient.url)) as opened:
        theirs, ours = server_facts(opened).clock, datetime.now(UTC)
    if ours.year < _OLDEST_PLAUSIBLE_YEAR:
        raise _ComplaintError(f"this machine believes it is {ours:%Y-%m-%d}", hint="Set its clock; use NTP.")
    apart = abs((theirs - ours).total_seconds())
    if apart > _CLOCK_SECONDS_WARN:
        raise _ComplaintError(
            f"the database's clock is {apart:.0f} seconds from this machine's",
            hint="Synchronise both with NTP.",
            status="failed" if apart > _CLOCK_SECONDS_FAIL else "warning",
        )
    return f"{ours:%Y-%m-%d %H:%M:%SZ}, the database agrees"


_Check = Callable[[_Patient], str]
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
