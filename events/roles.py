"""The database roles and logins: made by an administrator, or by the owner of an embedded database."""

from uuid import UUID

from psycopg import errors

from garden.events.database import Connection, DatabaseUnavailableError, connection
from garden.events.migrations import LOCK_KEY, pending
from garden.events.statements import statements

DAILY_LOGIN = "garden_daily"
"""The login of daily work: it can act as the service's roles, and reads no row of a user as itself."""


def preparation(login: str) -> str:
    """The SQL that an administrator runs once for this login."""
    return statements("roles")["prepare"].decode().replace("{login}", '"' + login.replace('"', '""') + '"')


def make_daily_login(owner: Connection) -> None:
    """Make the login of daily work, with its rights to the tables of now."""
    with owner.transaction():
        owner.execute(statements("migrations")["lock"], [LOCK_KEY])
        owner.execute(statements("roles")["make_daily_login"])


def is_up_to_date(url: str, home_id: UUID) -> bool:
    """Whether this login exists, has its rights, and finds the home's database with no migration missing."""
    try:
        with connection(url) as opened:
            owner = opened.execute(statements("ownership")["owner"]).fetchone()
            return owner == (home_id,) and not pending(opened)
    except (DatabaseUnavailableError, errors.InsufficientPrivilege):
        return False
