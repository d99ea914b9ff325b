"""Whose account a database keeps: that of the first home that asked, and of no other."""

from typing import ClassVar
from uuid import UUID

from garden.events.database import Connection
from garden.events.statements import statements
from garden.grammar.errors import GardenError


class AnotherHomesDatabaseError(GardenError):
    """The database keeps the account of another home."""

    code: ClassVar[str] = "unavailable"


def claim(connection: Connection, home_id: UUID) -> None:
    """Make a database this home's, or refuse because it is another's; one query where it is ours already."""
    sql = statements("ownership")
    if (whose := connection.execute(sql["whose"]).fetchone()) is None:
        connection.execute(sql["claim"], {"id": home_id})
        whose = connection.execute(sql["whose"]).fetchone()
    if whose is None or whose[0] != home_id:
        raise AnotherHomesDatabaseError(
            "This database keeps the account of another garden home.",
            hint="Name a database of this home's own in GARDEN_DATABASE_URL. If the other home is gone for "
            f"good and its gardens are here now, let an administrator set garden.home.id to {home_id}.",
        )
