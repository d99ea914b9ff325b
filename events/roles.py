"""The database roles, for where an administrator has to prepare them."""

from garden.events.statements import statements


def preparation(login: str) -> str:
    """Give the SQL that an administrator runs once, so that this login may do its work."""
    return statements("roles")["prepare"].decode().replace("{login}", '"' + login.replace('"', '""') + '"')
