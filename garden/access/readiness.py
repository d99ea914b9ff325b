"""Whether an open garden can answer calls now."""

from garden.events.migrations import MigrationError
from garden.grammar.errors import GardenError
from garden.writing.services import Services


def missing(services: Services) -> list[str]:
    """Name what keeps the garden from answering; nothing does, where the list is empty."""
    found = []
    try:
        pending = services.maintenance.pending_migrations()
        if pending:
            found.append(f"the database lacks the migrations {', '.join(pending)}")
    except MigrationError as error:
        found.append(f"the database's schema is not this version's: {error.message.rstrip('.')}")
    except GardenError:
        found.append("the database does not answer")
    try:
        if services.disk_space.is_low:
            found.append("the disk is nearly full")
    except GardenError:
        found.append("the garden home can't be reached")
    return found
