"""The rows of the account of calls."""

from typing import Any

from garden.application import Garden


def calls_of(garden: Garden, user_id: str = "ada") -> list[dict[str, Any]]:
    """The rows that stand in the database, in the order of time, as the reader sees them."""
    with garden.pools["readers"].connection() as opened, opened.transaction():
        opened.execute("select set_config('role', 'garden_reader', true)")
        opened.execute("select set_config('garden.user_id', %s, true)", [user_id])
        return opened.execute("select * from garden.tool_calls order by call_id").fetchall()


def calls_now(garden: Garden, user_id: str = "ada") -> list[dict[str, Any]]:
    """The rows, with those that waited for their batch."""
    garden.services.calls.flush()
    return calls_of(garden, user_id)
