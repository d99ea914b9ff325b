"""The home that a database belongs to: the first one that claimed it."""

from typing import ClassVar
from uuid import UUID

from garden.events.database import Connection
from garden.events.statements import statements
from garden.grammar.errors import GardenError


class AnotherHomesDatabaseError(GardenError):
    """The database belongs to another home."""

    code: ClassVar[str] = "unavailable"


def claim(connection: Connection, home_id: UUID) -> None:
    """Claim a database for this home, or refuse if another home has it; one query if this home has it."""
    sql = statements("ownership")
    if (owner := connection.execute(sql["owner"]).fetchone()) is None:
        connection.execute(sql["claim"], {"id": home_id})
        owner = connection.execute(sql["owner"]).fetchone()
    if owner is None or owner[0] != home_id:
        raise AnotherHomesDatabaseError(
            "This database belongs to another garden home.",
            hint="Name a database of this home's own in GARDEN_DATABASE_URL. If the other home is gone for "
            f"good and its gardens are here now, let an administrator set garden.home.id to {home_id}.",
        )
