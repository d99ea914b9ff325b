"""A long account, put into a database in a moment and past its rules, to see how it is read."""

from garden.events.database import Connection
from tests.support.named_sql import named_sql


def fill(opened: Connection, *, events: int, users: int, documents: int = 10) -> None:
    """Give so many users their share of the events, spread over so many documents each."""
    values = {"rows": events, "users": users, "documents": documents}
    with opened.transaction():
        for name, sql in named_sql(__file__).items():
            opened.execute(sql.encode(), values if name == "events" else None)
    # As a server does by itself sooner or later; how rows are found depends on what is known of them.
    opened.execute("vacuum (analyze)")
