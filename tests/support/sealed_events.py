"""A long, rightly sealed event log with its files and copies, put into a home quickly and past the rules."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from garden.events.database import Connection
from garden.events.heads import head_of_tail
from garden.events.identifiers import uuid7
from garden.events.keyring import Keyring
from garden.events.payloads import EditPayload
from garden.events.records import NO_CHAIN, Caller, Event, Statement
from garden.events.row_checks import Tail
from garden.events.rows import EVENT_COLUMNS, HEAD_COLUMNS, HEAD_SEAL, head_row, parameters, seal_row
from garden.events.saga import Status
from garden.events.seals import line_seal, seal_event, seal_head, seal_state
from garden.files.paths import GardenPath
from garden.grammar.canonical import canonical, content_hash, encoded, raw_hash
from garden.grammar.splice import splices_between

_BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
_LINES_KEPT = 60


def fill(
    opened: Connection,
    keys: Keyring,
    home: Path,
    *,
    events: int,
    of_a_document: int = 1000,
    of_a_user: int = 8,
) -> None:
    """Fill an empty home: documents of so many events each, and users of so many documents each."""
    opened.execute("set session_replication_role = replica")
    for number in range(max(events // of_a_document, 1)):
        name = "notes" if number % 4 else "profile"
        path = GardenPath(f"users/user-{number // of_a_user}/parts/part-{number % of_a_user}/{name}.md")
        rows = list(_document(path, keys, of_a_document, home))
        _insert(opened, "events", EVENT_COLUMNS, rows)
        tail = Tail(
            sequence=len(rows),
            chain=rows[-1]["chain_hash"],
            version=len(rows),
            last=rows[-1],
            head_row=rows[-1],
        )
        head = head_of_tail(tail)
        head = head._replace(seal=seal_head(path.user_id, path.text, head, keys))
        row = {**head_row(path.user_id, path.text, head), **seal_row(head.seal, HEAD_SEAL)}
        _insert(opened, "documents", HEAD_COLUMNS, [row])
    opened.execute(_FEED)
    opened.execute("analyze")


def _document(path: GardenPath, keys: Keyring, events: int, home: Path) -> Iterator[dict[str, Any]]:
    """The events of one document; a line is added each time, and the oldest goes when there are many."""
    file, history = home / path.text, home / path.history.text
    for folder in (file.parent, history):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    caller = Caller(path.user_id, "companion", tool_call_id="call-1")
    identity = f"---\nid: {path.entity_id}\nuser_id: {path.user_id}\nschema: 1\n---\n\n"
    head = [*identity.splitlines(keepends=True), "# Notes\n", "\n"]
    chain, lines, before = NO_CHAIN, [*head], ""
    op = "append_file" if path.document_name == "notes" else "replace_section"
    for sequence, at in zip(range(1, events + 1), _times(path.text), strict=False):
        lines.append(f"- {at:%Y-%m-%d} she said that entry {sequence} matters, and why it does\n")
        del lines[len(head) : len(lines) - _LINES_KEPT]
        text = "".join(lines)
        splices = splices_between(before, text)
        event = Event(
            user_id=path.user_id, event_id=uuid7(at), stream=path.text, sequence=sequence,
            statement=Statement(
                type="notes_update", op=op, tool="fs.append", path=path.text, entity=path.entity_id,
                rationale="captured theme", evidence_refs=("ev:s12-m40",), lint={"counts": {}, "new": []},
                edit=EditPayload(asked={"path": path.text, "text": lines[-1]}, answer={"ok": True}),
            ),
            caller=caller, idempotency_key=None, created_at=at, status=Status.PENDING,
            splices=splices, document_version=sequence, leaves_file=True,
            before_hash=content_hash(before) if before else None,
            before_raw_hash=raw_hash(encoded(before)) if before else None,
            intended_hash=content_hash(text), intended_raw_hash=raw_hash(encoded(text)),
            line_hash=line_seal(canonical(text), keys),
        )  # fmt: skip
        event, row = seal_event(event, chain, keys)
        ended = seal_state(
            event,
            keys,
            status=Status.COMMITTED,
            after_hash=event.intended_hash,
            written_at=at,
            committed_at=at,
        )
        chain = event.chain.mac
        if op == "replace_section" and before:
            (home / path.copy_of(at, event.event_id).text).write_text(before)
        before = text
        yield {**row, "status": "committed", "after_hash": ended.after_hash, "written_at": at,
               "committed_at": at, **seal_row(ended.state, ("state_seal", "state_salt_version"))}  # fmt: skip
    file.write_text(before)


def _times(path: str) -> Iterator[datetime]:
    start = _BEGUN + timedelta(microseconds=len(path))
    return (start + timedelta(seconds=number) for number in count())


def _insert(opened: Connection, table: str, names: tuple[str, ...], rows: list[Any]) -> None:
    values = ", ".join(f"%({name})s" for name in names)
    sql = f"insert into garden.{table} ({', '.join(names)}) values ({values})"
    with opened.cursor() as cursor:
        cursor.executemany(sql.encode(), [parameters(row) for row in rows])


_FEED = b"""
insert into garden.feed
select user_id, row_number() over (partition by user_id order by event_id), event_id, status, stream, sequence
from garden.events where status in ('committed', 'failed')
"""
