"""Puts the conversation over standard input and output on top of a garden that is yet to be opened.

Apart from the service that listens, so that a client is not kept waiting for what only that needs.
"""

from typing import TYPE_CHECKING

from garden.settings import Settings

if TYPE_CHECKING:
    from garden.application import Garden


def serve_stdio(settings: Settings, user_id: str, *, actor: str, role: str) -> None:
    """Serve one user's garden over standard input and output, by the Model Context Protocol."""
    from garden.mcp.over_stdio import serve

    def open_garden() -> "Garden":
        from garden.application import Garden
        from garden.ground import prepare

        return Garden(settings, prepare(settings))

    serve(open_garden, user_id, actor=actor, role=role)
