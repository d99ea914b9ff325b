"""Whether an open garden can answer calls now."""

from events.migrations import MigrationError
from garden.application import Garden
from grammar.errors import GardenError


def missing(garden: Garden) -> list[str]:
    """Name what keeps the garden from answering; nothing does, where the list is empty."""
    found = []
    try:
        pending = garden.services.maintenance.pending_migrations()
        if pending:
            found.append(f"the database lacks the migrations {', '.join(pending)}")
    except MigrationError as error:
        found.append(f"the database's schema is not this version's: {error.message.rstrip('.')}")
    except GardenError:
        found.append("the database does not answer")
    try:
        if garden.services.room.is_low:
            found.append("the disk is nearly full")
    except GardenError:
        found.append("the garden home can't be reached")
    return found
