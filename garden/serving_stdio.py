"""The MCP conversation over standard input and output, on top of a garden that opens beside it.

Kept apart from `garden.serving`, whose imports would delay the greeting of a client.
"""

from typing import TYPE_CHECKING

from garden.grammar.errors import GardenError
from garden.home.settings import Settings
from garden.writing.callers import check_caller

if TYPE_CHECKING:
    from garden.application import Garden


class GardenNotOpenedError(GardenError):
    """The garden can't be opened now."""

    code = "unavailable"


def serve_stdio(settings: Settings, user_id: str, *, actor: str, role: str) -> None:
    """Serve one user's garden over standard input and output, by the Model Context Protocol."""
    check_caller(user_id, actor, role)
    from garden.surfaces.mcp.stdio import serve

    def open_garden() -> "Garden":
        from garden.application import Garden
        from garden.home.setup import prepare_home

        try:
            return Garden(settings, prepare_home(settings)).load()
        except GardenError as error:
            raise _log_and_hide(error) from None

    serve(open_garden, settings, user_id, actor=actor, role=role)


def _log_and_hide(error: GardenError) -> GardenNotOpenedError:
    """Log the reason and return an error without it: the reason names places on the host."""
    from garden.home.logs import get_logger

    get_logger("garden.mcp").error(
        "the garden can't be opened", error=f"{error.message} {error.hint}".strip()
    )
    return GardenNotOpenedError(
        "The garden can't be opened.",
        hint="Try again in a moment; if that doesn't help, ask the operator to read the log.",
    )
