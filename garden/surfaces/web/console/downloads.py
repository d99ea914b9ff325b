"""Files for the person's disk, as responses."""

import os
from functools import partial
from urllib.parse import quote

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from garden.surfaces.web.console.visits import Download

_PIECE_BYTES = 1 << 18


class DownloadResponse(StreamingResponse):
    """Sends an open file in pieces, and closes it also if the person goes away."""

    def __init__(self, answer: Download) -> None:
        self._file = answer.file
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        disposition = f"attachment; filename*=utf-8''{quote(answer.name)}"
        headers = {"Content-Disposition": disposition, "Content-Length": str(size)}
        pieces = iter(partial(self._file.read, _PIECE_BYTES), b"")
        super().__init__(pieces, 200, headers, answer.media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        with self._file:
            await super().__call__(scope, receive, send)
