"""`/tlog/`: the transparency log as static files, in the paths of C2SP's tlog-tiles."""

import asyncio
from pathlib import Path

from fastapi import APIRouter, Request, Response

from garden.application import Garden
from garden.history.checkpoints import log_folder, published_note
from garden.history.notes import parse_checkpoint
from garden.history.tiles import CHECKPOINT, tree_size_of
from garden.surfaces.web.problems import NoRouteError
from garden.surfaces.web.routes import add

PREFIX = "/tlog/"
_HINT = "There are /tlog/checkpoint, and the tiles and entries up to its size below /tlog/tile/."


def add_log_routes(router: APIRouter, garden: Garden) -> None:
    """Add the routes of the log's files."""
    folder = log_folder(garden.services)

    async def send_checkpoint(_request: Request) -> Response:
        content = await _read(folder, CHECKPOINT)
        return Response(content, 200, {"Cache-Control": "no-cache"}, "text/plain; charset=utf-8")

    async def send_tile(request: Request) -> Response:
        path = request.scope["path"].removeprefix(PREFIX)
        size = tree_size_of(path)
        # A tile that no checkpoint covers may still get another content, and the others never do.
        if size is None or size > await asyncio.to_thread(_published_size, garden):
            raise NoRouteError("The log has no such tile.", hint=_HINT)
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(await _read(folder, path), 200, headers, "application/octet-stream")

    add(router, "GET", f"{PREFIX}{CHECKPOINT}", send_checkpoint, "log_checkpoint", None)
    add(router, "GET", f"{PREFIX}tile/{{rest:path}}", send_tile, "log_tile", None)


def _published_size(garden: Garden) -> int:
    note = published_note(garden.services)
    return 0 if note is None else parse_checkpoint(note.text).size


async def _read(folder: Path, path: str) -> bytes:
    try:
        return await asyncio.to_thread((folder / path).read_bytes)
    except OSError:
        raise NoRouteError("The log has no such file.", hint=_HINT) from None
