"""The error of an embedded server that can't run."""

from garden.grammar.errors import GardenError

USE_ANOTHER_SERVER = "Or set GARDEN_DATABASE_URL to a PostgreSQL server (15 or newer) of your own."


class EmbeddedPostgresError(GardenError):
    """The embedded Postgres server can't be started or reached."""

    code = "unavailable"

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, hint=f"{hint} {USE_ANOTHER_SERVER}")
