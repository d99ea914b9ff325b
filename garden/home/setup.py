"""Preparing a home: the folder, the database server and the schema, each made if it is missing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from garden.events.database import connection
from garden.events.migrations import MigrationStatus, migrate
from garden.events.ownership import claim
from garden.events.roles import DAILY_LOGIN, is_up_to_date, make_daily_login
from garden.home.embedded import EmbeddedPostgres
from garden.home.embedded.cluster import SUPERUSER
from garden.home.folder import Home, HomeMissingError, ensure_home, open_home
from garden.home.logs import log_notice
from garden.home.settings import Settings

Progress = Callable[[str], None]


def ignore_progress(_step: str) -> None:
    """Report nothing."""


def notify(report: Progress, change: str) -> None:
    """Report a change that a person should see: in the log, if the caller does not follow the progress."""
    (log_notice if report is ignore_progress else report)(change)


@dataclass(frozen=True)
class PreparedHome:
    """A home, the address of its migrated database for daily work, and the migrations just applied."""

    home: Home
    database_url: str
    applied: tuple[MigrationStatus, ...]


def prepare_home(
    settings: Settings, report: Progress = ignore_progress, *, may_create: bool = True
) -> PreparedHome:
    """Make a home ready for use: create, start and migrate only what is missing.

    Without `may_create` the home must exist.
    """
    try:
        home = open_home(settings.home)
    except HomeMissingError:
        if not may_create:
            raise
        home = ensure_home(settings.home)
        notify(report, f"Made a new garden home: {home.path}")
    owner = url = ensure_database(settings, home, report)
    applied: tuple[MigrationStatus, ...] = ()
    if settings.database_url is None:
        url = owner.replace(f"//{SUPERUSER}@", f"//{DAILY_LOGIN}@", 1)
    if url == owner or not is_up_to_date(url, home.id):
        with connection(owner) as opened:
            applied = tuple(migrate(opened))
            claim(opened, home.id)
            if url != owner:
                make_daily_login(opened)
    for each in applied:
        report(f"Applied migration {each.version:04d} {each.name}")
    return PreparedHome(home, url, applied)


def ensure_database(settings: Settings, home: Home, report: Progress = ignore_progress) -> str:
    """Give the owner's address of the database; start the embedded one if it is not running."""
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    embedded = EmbeddedPostgres(home, partial(notify, report))
    running = embedded.url()
    if running is not None:
        return running
    report("Starting the embedded Postgres")
    return embedded.ensure_running()


def read_own_kinds(home: Home) -> list[tuple[str, str]]:
    """Read the operator's declarations of kinds, each with its file's name."""
    return [(file.name, _text_of(file)) for file in sorted((home.path / "kinds").glob("*.toml"))]


def _text_of(declaration: Path) -> str:
    try:
        return declaration.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        from garden.grammar.kinds.declaration import KindError

        raise KindError(
            f"{declaration.name} can't be read as text in UTF-8.", hint="Fix or remove the file."
        ) from None
