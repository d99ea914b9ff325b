"""An event log for tests: a store, a reader and a verifier on one database."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from garden.events.idempotency import RequestIdentity, identify_request
from garden.events.keyring import Keyring
from garden.events.maintenance import Maintenance
from garden.events.payloads import EditPayload
from garden.events.pool import Pool
from garden.events.reader import EventReader
from garden.events.records import Caller, DocumentChange, Event, Statement
from garden.events.store import EventStore, LogOutcome
from garden.events.stream import LockedStream
from garden.events.verifier import Verifier
from garden.grammar.canonical import canonical, content_hash, encoded, raw_hash
from garden.grammar.splice import splices_between

ADA = Caller("ada", "companion", tool_call_id="call-1")
BEN = Caller("ben", "companion")
NOTES = "users/ada/notes.md"

_numbers = itertools.count(1)


class Account:
    """The store, reader and verifier of one database, and the texts that its documents should have."""

    def __init__(self, pool: Pool, keyring: Keyring) -> None:
        self.pool = pool
        self.keyring = keyring
        self.texts: dict[str, str] = {}
        self.reader = EventReader(pool)
        self.maintenance = Maintenance(pool)
        self.keyring_from(lambda: self.keyring)

    def keyring_from(self, source: Callable[[], Keyring]) -> None:
        """Take the keys from another source from now on."""
        self.store = EventStore(self.pool, source)
        self.verifier = Verifier(self.reader, source)

    def edit_again(self) -> Event:
        """Edit the notes as they are under the lock; many threads may do so."""
        with self.store.document(ADA, NOTES) as stream:
            text = fresh_text()
            event = self.begin(stream, text)
            self.texts[NOTES] = text
            return stream.finish(event, {})

    def begin(self, stream: LockedStream, text: str, **said: Any) -> Event:
        return stream.begin(statement(stream.path, **said), self.change(stream, text))

    def change(self, stream: LockedStream, text: str) -> DocumentChange:
        before = self.texts.get(stream.path) if stream.head.version else None
        return DocumentChange(
            splices=splices_between(before or "", text),
            intended_hash=content_hash(text),
            intended_raw_hash=raw_hash(encoded(text)),
            sealed_text=canonical(text),
        )

    def edit(
        self,
        text: str,
        *,
        path: str = NOTES,
        caller: Caller = ADA,
        asked: RequestIdentity | None = None,
        **said: Any,
    ) -> Event:
        """Make a whole change, and remember the text."""
        with self.store.document(caller, path, asked) as stream:
            event = self.begin(stream, text, **said)
            done = stream.finish(event, {"eventId": str(event.event_id)})
        self.texts[path] = text
        return done

    def log(
        self,
        rationale: str,
        *,
        caller: Caller = ADA,
        asked: RequestIdentity | None = None,
        path: str | None = None,
        about: UUID | None = None,
    ) -> LogOutcome:
        said = Statement(type="observation", op="observe", tool="events.log", rationale=rationale, path=path)
        return self.store.log(caller, said, asked, about=about)

    def faults(self, user_id: str = "ada") -> list[str]:
        return [
            f"{fault.stream}:{fault.sequence}: {fault.message}"
            for fault in self.verifier.check_user(user_id).faults
        ]


def statement(path: str | None, **said: Any) -> Statement:
    fields: dict[str, Any] = {"type": "note", "op": "append_file", "tool": "fs.append", "path": path, **said}
    if isinstance(fields.get("edit"), Mapping):
        fields["edit"] = EditPayload(asked=fields["edit"])
    return Statement(**fields)


def asking(
    key: str | None = None, payload: Mapping[str, Any] | None = None, user_id: str = "ada"
) -> RequestIdentity:
    return identify_request(
        Caller(user_id, "companion"), "fs.append", NOTES, payload or {"text": "slept badly"}, key=key
    )


def fresh_text() -> str:
    return f"# Notes\n\nentry {next(_numbers)}\n"


@contextmanager
def account_on(url: str, **options: Any) -> Iterator[Account]:
    keyring = options.pop("keyring", None) or Keyring.generate()
    with Pool(url, **options) as pool:
        yield Account(pool, keyring)
