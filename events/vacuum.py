"""Rewriting the tables, so that no dead row, index or log segment of the server holds erased words."""

from psycopg import errors, sql

from garden.events.database import connection
from garden.events.statements import statements
from garden.grammar.errors import GardenError


class NotAllowedToVacuumError(GardenError):
    """The database's login may not do this."""

    code = "permission_denied"


def vacuum(url: str) -> None:
    """Rewrite every table of the garden, and hurry the server's write-ahead log on.

    Writers and readers wait for each table meanwhile.
    """
    named = statements("vacuum")
    with connection(url) as opened:
        tables = [row[0] for row in opened.execute(named["tables"]).fetchall()]
        try:
            for table in tables:
                opened.execute(sql.SQL("vacuum (full) garden.{}").format(sql.Identifier(table)))
            for step in ("checkpoint", "switch", "checkpoint"):
                opened.execute(named[step])
        except errors.InsufficientPrivilege as error:
            raise NotAllowedToVacuumError(
                f"The database's login may not do this: {str(error).splitlines()[0]}.",
                hint="Have an administrator run VACUUM (FULL), pg_switch_wal() and CHECKPOINT.",
            ) from None
