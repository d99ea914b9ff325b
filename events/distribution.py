"""Distributes the tables by user over the hosts of a Citus cluster."""

from garden.events.database import Connection
from garden.events.statements import statements
from garden.grammar.errors import GardenError

_SQL = "distribution"


class NotDistributableError(GardenError):
    """The database has no Citus."""

    code = "unavailable"


def distribute(connection: Connection) -> list[str]:
    """Distribute the tables that are not distributed yet; returns their names.

    Tables with rows of users are distributed by user and kept together, so that all of a user is on one host.
    The few others are copied to every host.
    """
    if connection.execute(statements(_SQL)["is_installed"]).fetchone() != (True,):
        raise NotDistributableError(
            "This database does not have the extension citus.",
            hint="Run 'create extension citus' in it and add its workers, or leave the tables as they are.",
        )
    connection.execute(statements(_SQL)["allow_triggers"])
    done = []
    for table, is_of_users in connection.execute(statements(_SQL)["waiting"]).fetchall():
        statement = "distribute" if is_of_users else "copy_everywhere"
        connection.execute(statements(_SQL)[statement], {"name": f"garden.{table}"})
        done.append(table)
    return done
