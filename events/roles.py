"""The database roles, where an administrator has to create them."""

from garden.events.statements import statements


def preparation(login: str) -> str:
    """The SQL that an administrator runs once for this login."""
    return statements("roles")["prepare"].decode().replace("{login}", '"' + login.replace('"', '""') + '"')
