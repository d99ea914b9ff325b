"""A long event log, put into a database quickly and past its rules, to see how it is read."""

from garden.events.database import Connection
from tests.support.explaining import vacuum
from tests.support.named_sql import named_sql


def fill(opened: Connection, *, events: int, users: int, documents: int = 10, logged: bool = False) -> None:
    """Spread the events over the users, and each user's events over the documents; fill the log as well."""
    values = {"rows": events, "users": users, "documents": documents}
    with opened.transaction():
        for name, sql in named_sql(__file__).items():
            if logged or not name.startswith("log_"):
                opened.execute(sql.encode(), values if name == "events" else None)
    vacuum(opened)
