"""Fourteen kinds of tampering, each made as consistent as an attacker can make it who has no key.

The attacker is superuser of the database, reads and writes the disk, and has kept every head that there was.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.events.database import Connection, connection
from garden.events.keyring import Keyring
from garden.events.records import NO_CHAIN
from garden.events.rows import event_of, head_of
from garden.events.seals import seal_event, seal_head
from garden.home.keys import rotate_keys
from garden.session import Session
from tests.events.test_verifier import _DROP_ALL_CHECKS
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, ok, plant

TABLES = (
    "events", "event_annotations", "documents", "feed", "idempotency_records", "erasures", "erased_rows",
    "log_leaves", "log_checkpoints",
)  # fmt: skip
# Tables whose older rows show; stored answers may have gone without a trace.
BACKED_UP = ("events", "event_annotations", "documents", "feed", "log_leaves", "log_checkpoints")
_FOLDERS = ("users", "history", ".garden/tlog")
_RENUMBER = """
create temp table fed as
select user_id, row_number() over (partition by user_id order by position) as position, event_id, what,
       stream, sequence
from garden.feed as f
where exists (select from garden.events as e where (e.user_id, e.event_id) = (f.user_id, f.event_id));
delete from garden.feed;
insert into garden.feed select * from fed;
drop table fed;
delete from garden.idempotency_records as r
where not exists (select from garden.events as e where (e.user_id, e.event_id) = (r.user_id, r.event_id));
"""


def fill(garden: Garden, events: int, *, seed: int, after_call: Callable[[], None] = lambda: None) -> None:
    """Let two agents work until there are about so many events."""
    choose = random.Random(seed)  # noqa: S311 - it only chooses
    for user in ("ada", "ben"):
        plant(
            garden.session(user, "companion"),
            *(path.replace("ada", user) for path in (OVERVIEW, NOTES, CRITIC)),
        )
    for number in range(6, events):
        user = choose.choice(("ada", "ben"))
        session = garden.session(user, "companion", role="maintainer")
        choose.choice(_CALLS)(session, user, number)
        after_call()


def _append(session: Session, user: str, number: int) -> None:
    path = NOTES.replace("ada", user)
    ok(session, "fs.append", path=path, text=f"- said {number}", idempotencyKey=f"key {number}")


def _patch(session: Session, user: str, number: int) -> None:
    change = {"replace": f"- worry {number}\n- and the harbour {number % 7}"}
    path = CRITIC.replace("ada", user)
    ok(
        session,
        "md.patch_section",
        path=path,
        sectionAnchor="concerns v1",
        change=change,
        rationale="Told so.",
    )


def _note(session: Session, user: str, number: int) -> None:
    ok(session, "events.log", type="observation", rationale=f"thought {number} of {user}")


def _keep(session: Session, user: str, number: int) -> None:
    path = (NOTES, CRITIC)[number % 2].replace("ada", user)
    ok(session, "md.snapshot_history", path=path)


def _annotate(session: Session, user: str, number: int) -> None:
    call = {"filePath": NOTES.replace("ada", user), "toolCallId": f"call {number}"}
    ok(
        session,
        "fs.append",
        path=call["filePath"],
        text=f"- and said {number}",
        toolCallId=call["toolCallId"],
    )
    ok(session, "events.log", type="observation", rationale=f"It matters {number}.", **call)


_CALLS = (_append, _append, _annotate, _patch, _patch, _note, _keep)


class Attacker:
    """Tampers with a garden, and puts everything back afterwards."""

    def __init__(self, garden: Garden, url: str, seed: int) -> None:
        self.garden = garden
        self.url = url
        self.home = garden.home.path
        self.choose = random.Random(seed)  # noqa: S311 - it only chooses
        with connection(url) as owner:
            owner.execute("create table seen_heads as select * from garden.documents")
        fill(garden, 20, seed=seed, after_call=self._see_heads)
        self._keep_tables("older")
        rotate_keys(garden.settings, garden.home)
        fill_more = range(20, 44)
        for number in fill_more:
            user = self.choose.choice(("ada", "ben"))
            self.choose.choice(_CALLS)(garden.session(user, "companion", role="maintainer"), user, number)
            self._see_heads()
        operator = garden.session("ben", "operator", role="maintainer")
        ok(operator, "garden.erase", text="and the harbour 3", reason="Asked for.")
        _patch(operator, "ben", 45)

    def _see_heads(self) -> None:
        with connection(self.url) as owner:
            owner.execute("insert into seen_heads select * from garden.documents")

    def _keep_tables(self, prefix: str) -> None:
        with connection(self.url) as owner:
            for table in TABLES:
                owner.execute(f"drop table if exists {prefix}_{table}".encode())
                owner.execute(f"create table {prefix}_{table} as select * from garden.{table}".encode())

    def remember(self) -> None:
        """Keep what there is, to put it back after each attack."""
        self._keep_tables("kept")
        for folder in _FOLDERS:
            if (self.home / folder).exists():
                shutil.copytree(self.home / folder, self.home.parent / "kept" / folder)
        with connection(self.url) as owner:
            owner.execute(_DROP_ALL_CHECKS)

    @contextmanager
    def attack(self, kind: str) -> Iterator[str]:
        """Tamper in one way at a random place; yields what was done."""
        with self.as_superuser() as owner:
            done = KINDS[kind](self, owner)
        try:
            yield f"{kind}: {done}"
        finally:
            with self.as_superuser() as owner:
                for table in TABLES:
                    owner.execute(f"delete from garden.{table}".encode())
                    owner.execute(f"insert into garden.{table} select * from kept_{table}".encode())
            for folder in _FOLDERS:
                shutil.rmtree(self.home / folder, ignore_errors=True)
                if (kept := self.home.parent / "kept" / folder).exists():
                    shutil.copytree(kept, self.home / folder)

    @contextmanager
    def as_superuser(self) -> Iterator[Connection]:
        with connection(self.url) as owner, owner.transaction():
            owner.execute("set local session_replication_role = replica")
            yield owner

    def remove_log(self) -> None:
        """Remove the transparency log, so that the service begins another one."""
        with self.as_superuser() as owner:
            owner.execute("delete from garden.log_leaves")
            owner.execute("delete from garden.log_checkpoints")
        shutil.rmtree(self.home / ".garden/tlog", ignore_errors=True)

    def row(self, owner: Connection, where: str = "true") -> dict[str, Any]:
        """A random event."""
        rows = owner.execute(
            f"select user_id, event_id, stream, sequence, integrity_salt_version from garden.events as e"
            f" where {where} order by user_id, event_id".encode()
        ).fetchall()
        names = ("user_id", "event_id", "stream", "sequence", "integrity_salt_version")
        return dict(zip(names, self.choose.choice(rows), strict=True))

    def document(self, owner: Connection) -> tuple[str, str]:
        """The user and the path of a random document."""
        row = self.row(owner, "stream <> ''")
        return row["user_id"], row["stream"]

    def file(self, pattern: str) -> Path:
        return self.choose.choice(sorted(self.home.glob(pattern)))


def _of(row: dict[str, Any]) -> str:
    return f"where user_id = '{row['user_id']}' and event_id = '{row['event_id']}'"


def _after(row: dict[str, Any]) -> str:
    return f"user_id = '{row['user_id']}' and stream = '{row['stream']}' and sequence > {row['sequence']}"


def _edit_row(attacker: Attacker, owner: Connection) -> object:
    row = attacker.row(owner)
    change = attacker.choose.choice(
        ["rationale = 'another'", "actor = 'nobody'", "created_at = created_at - interval '1 day'",
         "splices_inserted = array['x'::bytea]", "edit = '{}'", "sequence = sequence + 1000"]
    )  # fmt: skip
    owner.execute(f"update garden.events set {change} {_of(row)}".encode())
    return row, change


def _delete_row(attacker: Attacker, owner: Connection) -> object:
    row = attacker.row(owner)
    owner.execute(f"delete from garden.events {_of(row)}".encode())
    owner.execute(
        "update garden.events set sequence = sequence - 1, document_version = document_version - 1"
        f" where {_after(row)}".encode()
    )
    owner.execute(_RENUMBER.encode())
    return row


def _insert_row(attacker: Attacker, owner: Connection) -> object:
    row = attacker.row(owner)
    owner.execute(f"update garden.events set sequence = sequence + 1 where {_after(row)}".encode())
    owner.execute(
        "insert into garden.events select (jsonb_populate_record(e, jsonb_build_object('event_id',"
        f" gen_random_uuid(), 'sequence', sequence + 1))).* from garden.events as e {_of(row)}".encode()
    )
    return row


def _reorder(attacker: Attacker, owner: Connection) -> object:
    row = attacker.row(owner, "e.sequence > 1")
    place = f"where user_id = '{row['user_id']}' and stream = '{row['stream']}' and sequence ="
    last = row["sequence"]
    for old, new in ((last, 0), (last - 1, last), (0, last - 1)):
        owner.execute(f"update garden.events set sequence = {new} {place} {old}".encode())
    return row


def _swap_users(attacker: Attacker, owner: Connection) -> object:
    row = attacker.row(owner, "user_id = 'ada'")
    other = attacker.row(owner, f"user_id = 'ben' and stream = '{row['stream'].replace('ada', 'ben')}'")
    for each, to in ((row, other), (other, row)):
        owner.execute(
            f"update garden.events set user_id = 'zed-{to['user_id']}', stream = '{to['stream']}',"
            f" path = nullif('{to['stream']}', ''), sequence = {to['sequence']} {_of(each)}".encode()
        )
    owner.execute("update garden.events set user_id = substr(user_id, 5) where user_id like 'zed-%'")
    return row, other


def _cut_off(attacker: Attacker, owner: Connection) -> object:
    """Put back a head that a document had, and remove what came after."""
    older = owner.execute(
        "select distinct s.user_id, s.path, s.tail_sequence, s.version, s.seal from seen_heads as s"
        " join garden.documents as d using (user_id, path)"
        " where path <> '' and s.tail_sequence < d.tail_sequence and s.open_event_id is null order by 1, 2, 3"
    ).fetchall()
    user, path, sequence, version, seal = attacker.choose.choice(older)
    owner.execute("delete from garden.documents where user_id = %s and path = %s", [user, path])
    head = "select distinct * from seen_heads where seal = %s"
    owner.execute(f"insert into garden.documents {head}".encode(), [seal])
    gone = owner.execute(
        "delete from garden.events where user_id = %s and stream = %s and sequence > %s returning event_id",
        [user, path, sequence],
    ).fetchall()
    owner.execute(_RENUMBER.encode())
    (attacker.home / path).write_bytes(_text_at(owner, user, path, version))
    for [event_id] in gone:
        for copy in attacker.home.glob(f"history/{user}/**/*-{event_id}.md"):
            copy.unlink()
    return user, path, sequence


def _text_at(owner: Connection, user: str, path: str, version: int) -> bytes:
    data = b""
    for offsets, removed, inserted in owner.execute(
        "select splice_offsets, splices_removed, splices_inserted from garden.events where user_id = %s"
        " and stream = %s and status = 'committed' and document_version <= %s order by sequence",
        [user, path, version],
    ).fetchall():
        for offset, old, new in reversed(list(zip(offsets, removed, inserted, strict=True))):
            data = data[:offset] + new + data[offset + len(old) :]
    return data


def _remove_document(attacker: Attacker, owner: Connection) -> object:
    user, path = attacker.document(owner)
    for table, column in (("events", "stream"), ("documents", "path")):
        owner.execute(
            f"delete from garden.{table} where user_id = %s and {column} = %s".encode(), [user, path]
        )
    owner.execute(_RENUMBER.encode())
    (attacker.home / path).unlink()
    shutil.rmtree(attacker.home / path.replace("users", "history", 1).removesuffix(".md"), ignore_errors=True)
    return user, path


def _flip_status(attacker: Attacker, owner: Connection) -> object:
    row = attacker.row(owner, "status = 'committed'")
    owner.execute(
        "update garden.events set status = 'failed', failed_at = committed_at, committed_at = null,"
        f' after_hash = null, error = \'{{"code": "no_space"}}\' {_of(row)}'.encode()
    )
    owner.execute(f"update garden.feed set what = 'failed' {_of(row)}".encode())
    return row


def _lower_key(attacker: Attacker, owner: Connection) -> object:
    row = attacker.row(owner, "integrity_salt_version = 2")
    columns = attacker.choose.choice([("integrity_salt_version",), ("state_salt_version",)])
    for column in columns:
        owner.execute(f"update garden.events set {column} = 1 {_of(row)}".encode())
    return row, columns


def _reseal(attacker: Attacker, owner: Connection) -> object:
    """Seal a whole stream and its head with another key of a version that there is."""
    user, path = attacker.document(owner)
    wrong, chain = Keyring(dict.fromkeys(attacker.garden.keys().versions, b"x" * 32)), NO_CHAIN
    with attacker.garden.services.reader.snapshot(user) as snapshot:
        rows = list(snapshot.rows("chain", {"stream": path}))
        [head] = [row for row in snapshot.fetch("heads", {}) if row["path"] == path]
    for row in rows:
        event, _ = seal_event(event_of(row), chain, wrong)
        chain = event.chain.mac
        owner.execute(
            "update garden.events set chain_hash = %s, integrity_salt_version = 2, state_seal = %s,"
            " state_salt_version = 2 where user_id = %s and event_id = %s",
            [chain, event.state.mac, user, event.event_id],
        )
    seal = seal_head(user, path, head_of(head)._replace(tail_chain_hash=chain), wrong)
    owner.execute(
        "update garden.documents set tail_chain_hash = %s, seal = %s, seal_salt_version = 2"
        " where user_id = %s and path = %s",
        [chain, seal.mac, user, path],
    )
    return user, path


def _older_table(attacker: Attacker, owner: Connection) -> object:
    table = attacker.choose.choice(BACKED_UP)
    owner.execute(f"delete from garden.{table}".encode())
    owner.execute(f"insert into garden.{table} select * from older_{table}".encode())
    return table


def _edit_file(attacker: Attacker, _owner: Connection) -> object:
    return _change(attacker, attacker.file("users/**/*.md"))


def _edit_copy(attacker: Attacker, _owner: Connection) -> object:
    return _change(attacker, attacker.file("history/**/*.md"))


def _change(attacker: Attacker, file: Path) -> Path:
    content = bytearray(file.read_bytes())
    content[attacker.choose.randrange(len(content))] ^= 1
    file.write_bytes(content)
    return file


def _delete_copy(attacker: Attacker, _owner: Connection) -> object:
    file = attacker.file("history/**/*.md")
    file.unlink()
    return file


KINDS: dict[str, Callable[[Attacker, Connection], object]] = {
    "row edited": _edit_row,
    "row deleted": _delete_row,
    "row inserted": _insert_row,
    "rows reordered": _reorder,
    "rows swapped between users": _swap_users,
    "newest events cut off": _cut_off,
    "document removed": _remove_document,
    "status flipped": _flip_status,
    "key version lowered": _lower_key,
    "chain recomputed": _reseal,
    "older table": _older_table,
    "file edited": _edit_file,
    "copy edited": _edit_copy,
    "copy deleted": _delete_copy,
}
# Made consistently, they leave rows that are all genuine; only the log knows that there were more.
NOT_FOUND_ALONE = {"newest events cut off", "document removed"}
