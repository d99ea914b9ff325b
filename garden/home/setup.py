"""The ground everything stands on: a home that exists, a database that answers and has its schema."""

from collections.abc import Callable
from dataclasses import dataclass

from garden.events.database import connection
from garden.events.migrations import MigrationStatus, migrate
from garden.events.ownership import claim
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home, ensure_home
from garden.home.settings import Settings

Progress = Callable[[str], None]


def silent(_step: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class PreparedHome:
    """A prepared home and the address of its migrated database."""

    home: Home
    database_url: str
    applied: tuple[MigrationStatus, ...]


def prepare_home(settings: Settings, report: Progress = silent) -> PreparedHome:
    """Make everything ready for use, creating, starting and migrating only what is not so already."""
    home = ensure_home(settings.home)
    url = ensure_database(settings, home, report)
    with connection(url) as opened:
        applied = tuple(migrate(opened))
        claim(opened, home.id)
    for each in applied:
        report(f"Applied migration {each.version:04d} {each.name}")
    return PreparedHome(home, url, applied)


def ensure_database(settings: Settings, home: Home, report: Progress = silent) -> str:
    """Give the address of the database: the configured one, or the embedded one, started if need be."""
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    embedded = EmbeddedPostgres(home)
    running = embedded.url()
    if running is not None:
        return running
    report("Starting the embedded Postgres")
    return embedded.ensure_running()
