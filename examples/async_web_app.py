"""A small web application with a memory: it opens the garden once, and every request awaits it.

    GARDEN_HOME=my-garden python examples/async_web_app.py

serves on http://127.0.0.1:8700 until Ctrl-C; a port can be given. Then, from another terminal:

    curl -d 'The lamp was lit late.' http://127.0.0.1:8700/notes
    curl http://127.0.0.1:8700/notes

Your own application knows its users; here it is always the same fictional person.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request, Response

import garden.aio
from garden.grammar.errors import GardenError

USER = "leander-moss"
NOTES = f"users/{USER}/notes.md"


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keep the garden open while the application runs."""
    async with garden.aio.open() as opened:
        session = opened.session(USER, "web-app")
        try:
            await session.md.plant(NOTES, title="Notes")
        except GardenError as refused:
            if refused.code != "already_exists":
                raise
        app.state.session = session
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/notes")
async def read(request: Request) -> Response:
    """Show the notes."""
    answer = await request.app.state.session.fs.read(NOTES)
    return Response(answer.result, media_type="text/markdown")


@app.post("/notes")
async def write(request: Request) -> Response:
    """Add a note; if the client disconnects, the note is there wholly or not at all."""
    note = (await request.body()).decode()
    try:
        answer = await request.app.state.session.fs.append(NOTES, f"- {note}")
    except GardenError as refused:
        return Response(f"{refused.message} {refused.hint}", status_code=422)
    return Response(answer.meta["eventId"], status_code=201)


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]) if sys.argv[1:] else 8700, log_level="warning")
