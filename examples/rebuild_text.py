"""A reviewer's proof by hand: page through a document's events, rebuild its text, compare it with the file.

    GARDEN_HOME=my-garden python examples/rebuild_text.py USER PATH

for instance `tilda-quill users/tilda-quill/notes.md`. It prints the history, oldest first, and exits with 1
if the rebuilt text differs from the file. If the file is gone, it prints only the rebuilt text on standard
output.
"""

import sys
from collections.abc import Iterator

import garden
from garden.events.views import EventView, SpliceView
from garden.grammar.errors import GardenError
from garden.session import Session

EVENTS_PER_PAGE = 100


def changes_of(session: Session, path: str) -> Iterator[tuple[EventView, tuple[SpliceView, ...]]]:
    """Page through the changes of a document, newest first."""
    cursor = None
    while True:
        page = session.events.query(path=path, status="committed", limit=EVENTS_PER_PAGE, cursor=cursor)
        # Events that change no text are among the rows too; they have no splices.
        yield from ((event, event.splices) for event in page.result.rows if event.splices is not None)
        cursor = page.meta.get("cursor")
        if cursor is None:
            return


def apply_splices(text: bytes, splices: tuple[SpliceView, ...]) -> bytes:
    """Apply splices; their offsets count bytes of the old text."""
    pieces, reached = [], 0
    for splice in splices:
        removed = splice.removed.encode()
        end = splice.offset + len(removed)
        if text[splice.offset : end] != removed:
            sys.exit(f"The removed text is not at byte {splice.offset}.")
        pieces += text[reached : splice.offset], splice.inserted.encode()
        reached = end
    return b"".join((*pieces, text[reached:]))


def main(user: str, path: str) -> None:
    """Rebuild the text and compare it with the file."""
    with garden.open() as opened:
        session = opened.session(user, "reviewer-example", role="reviewer")
        changes = list(changes_of(session, path))
        if not changes:
            sys.exit(f"The event log has no document at {path!r}.")
        file = opened.home.path / path
        live = file.read_bytes() if file.exists() else None
    text = b""
    for event, splices in reversed(changes):
        text = apply_splices(text, splices)
        line = f"{event.created_at:%Y-%m-%d %H:%M} v{event.document_version} {event.actor}: {event.op}"
        print(line, file=sys.stderr if live is None else sys.stdout)
    if live is None:
        print("The file is gone. This is the text that its events make:", file=sys.stderr)
        sys.stdout.buffer.write(text)
        return
    print("The file is what its events say." if text == live else "The file differs from its events.")
    sys.exit(text != live)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Usage: python examples/rebuild_text.py USER PATH")
    try:
        main(*sys.argv[1:])
    except GardenError as error:
        sys.exit(error.message)
