"""The cost of events: recording against a bare insert, row-level security, and growth.

The ratio to a bare insert depends on how long the disk takes to make that insert durable; so the figures say
how much of the bare insert was waiting for the disk.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row

from benchmarks.ratios import Ratio, Stopwatch, micro
from garden.demo.throw_away import throw_away_home
from garden.events.database import connection
from garden.events.idempotency import RequestIdentity
from garden.events.keyring import Keyring
from garden.events.migrations import migrate
from garden.events.payloads import EditPayload, NotePayload
from garden.events.pool import Pool, PooledConnection
from garden.events.reader import EventReader, Query
from garden.events.records import Caller, DocumentChange, Event, Statement
from garden.events.rows import event_row, parameters
from garden.events.statements import statements
from garden.events.store import EventStore
from garden.grammar.splice import Splice
from garden.home.embedded import EmbeddedPostgres
from tests.support.many_events import fill
from tests.support.named_sql import named_sql

_WARM_UP_ROUNDS = 50
_WRITE_ROUNDS = 1500
_READ_ROUNDS = 3000
_GROWTH_ROUNDS = 500
_EVENTS_OF_A_USER = 1000
_FEW_EVENTS = 10_000
_MANY_EVENTS = int(os.environ.get("GARDEN_BENCH_EVENTS", "1000000"))

_PATH = "users/user-1/parts/part-1/notes.md"
_CALLER = Caller(
    "user-1", "companion", tool_call_id="call-1", transaction_id="turn-1", agent_action_id="action-1"
)
_LINE = "- she noticed by herself that she had been holding her breath, and laughed (ev:s12-m40)\n" * 2
_EDIT = Statement(
    type="edit",
    op="append",
    tool="fs.append",
    path=_PATH,
    entity="part-1",
    section_anchor="inbox v1",
    rationale="She asked to have it written down.",
    evidence_refs=("s12-m40",),
    edit=EditPayload(asked={"append": _LINE}),
    lint={"warnings": []},
)
_NOTE = Statement(
    type="observation",
    op="log",
    tool="events.log",
    rationale=_LINE,
    evidence_refs=("s12-m40",),
    edit=NotePayload(details={"mood": "calm"}),
)

Result = TypeVar("Result")
Superuser = psycopg.Connection[DictRow]


def measure() -> Iterator[Ratio]:
    with throw_away_home() as home:
        server = EmbeddedPostgres(home).ensure_running()
        yield from _writing(_database(server, "writing"))
        few = _database(server, "few", _FEW_EVENTS)
        yield from _row_level_security(few)
        yield from _growth(few, _database(server, "many", _MANY_EVENTS))


def _database(server: str, name: str, events: int = 0) -> str:
    address, _, options = server.partition("?")
    url = f"{address.rpartition('/')[0]}/{name}?{options}"
    with connection(server) as opened:
        opened.execute(f"create database {name}".encode())
    with connection(url) as opened:
        migrate(opened)
        if events:
            started = time.perf_counter()
            fill(opened, events=events, users=events // _EVENTS_OF_A_USER)
            print(f"  ({events} events inserted in {time.perf_counter() - started:.0f} s)", flush=True)
    return url


def _sql(name: str) -> bytes:
    return named_sql(__file__)[name].encode()


def _writing(url: str) -> Iterator[Ratio]:
    keys, watch = Keyring.generate(), Stopwatch()
    with Pool(url) as pool, _superuser(url) as opened, _superuser(url) as not_waiting:
        store, reader, bare = EventStore(pool, lambda: keys), EventReader(pool), _BareTable(opened)
        not_waiting.execute("set synchronous_commit = off")
        for number in range(_WARM_UP_ROUNDS + _WRITE_ROUNDS):
            if number == _WARM_UP_ROUNDS:
                watch.warmed_up()
            _log(store, reader, bare, watch)
            _edit(store, bare, bare.through(not_waiting), watch)
    disk = watch.median("insert") - watch.median("insert, not waiting for the disk")
    waiting = f", the disk {micro(disk)} µs of it"
    yield watch.ratio("events.log / bare insert", "log", "insert of log", at_most=1.3, of_which=waiting)
    yield watch.ratio("begin of an edit / bare insert", "begin", "insert", at_most=1.3, of_which=waiting)
    yield watch.ratio("a whole edit / bare insert and bare update", "edit", "insert", "update", at_most=1.3)


def _log(store: EventStore, reader: EventReader, bare: "_BareTable", watch: Stopwatch) -> None:
    logged = watch.take("log", partial(store.log, _CALLER, _NOTE, _request()))
    event = reader.event(_CALLER.user_id, logged.event_id)
    if event is None:
        raise LookupError("what was logged is not there")
    watch.take("insert of log", partial(bare.insert, parameters(event_row(event))))


def _edit(store: EventStore, bare: "_BareTable", not_waiting: "_BareTable", watch: Stopwatch) -> None:
    row = parameters(event_row(watch.take("edit", partial(_whole_edit, store, _request(), watch))))
    place = watch.take("insert", partial(bare.insert, row))
    watch.take("update", partial(bare.update, row, place))
    watch.take("insert, not waiting for the disk", partial(not_waiting.insert, row))


def _whole_edit(store: EventStore, request: RequestIdentity, watch: Stopwatch) -> Event:
    with store.document(_CALLER, _PATH, request) as stream:
        change = _change(stream.head.version)
        event = watch.take("begin", partial(stream.begin, _EDIT, change))
        return stream.finish(event, {"path": _PATH, "eventId": str(event.event_id)})


def _request() -> RequestIdentity:
    return RequestIdentity(f"caller:{secrets.token_hex(16)}", secrets.token_bytes(32))


def _change(version: int) -> DocumentChange:
    after = f"sha256:{sha256(str(version).encode()).hexdigest()}"
    return DocumentChange(
        splices=(Splice(version * len(_LINE), "", _LINE),),
        intended_hash=after,
        intended_raw_hash=after,
        sealed_text=_LINE,
    )


class _BareTable:
    """The columns of an event without key, index, check, trigger or policy."""

    def __init__(self, opened: Superuser, names: list[str] | None = None) -> None:
        self._opened = opened
        self._update = _sql("update")
        self._names = names or self._create()
        values = ", ".join(f"%({name})s" for name in self._names)
        self._insert = _sql("insert").replace(b"{values}", values.encode())

    def _create(self) -> list[str]:
        columns = self._opened.execute(_sql("columns")).fetchall()
        kinds = ", ".join(f"{column['name']} {column['kind']}" for column in columns)
        self._opened.execute(f"create table public.bare ({kinds})".encode())
        return [column["name"] for column in columns]

    def through(self, opened: Superuser) -> "_BareTable":
        """The same table on another connection."""
        return _BareTable(opened, self._names)

    def insert(self, row: Mapping[str, Any]) -> str:
        found = self._opened.execute(self._insert, row, prepare=True).fetchone() or {}
        return str(found["place"])

    def update(self, row: Mapping[str, Any], place: str) -> None:
        self._opened.execute(self._update, {**row, "place": place}, prepare=True)


def _row_level_security(url: str) -> Iterator[Ratio]:
    watch = Stopwatch()
    with Pool(url) as pool, Pool(url, size_max=1) as nobodys, Pool(url, size_max=1) as somebodys:
        readers = {
            "as production": EventReader(pool),
            "past the rules": EventReader(_WithoutRules(nobodys, instead=None)),
            "past the policies": EventReader(_WithoutRules(somebodys, instead=_sql("act as no user"))),
        }
        for number in range(_WARM_UP_ROUNDS + _READ_ROUNDS):
            if number == _WARM_UP_ROUNDS:
                watch.warmed_up()
            user = f"user-{number % (_FEW_EVENTS // _EVENTS_OF_A_USER)}"
            for name, reader in readers.items():
                watch.take(name, partial(reader.query, user, Query()))
    yield watch.ratio(
        "a page as a user's reader / as a superuser", "as production", "past the rules", at_most=1.05
    )
    yield watch.ratio(
        "of that the policies, without saying for whom", "as production", "past the policies", at_most=1.05
    )


@contextmanager
def _superuser(url: str) -> Iterator[Superuser]:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as opened:
        yield opened


class _WithoutRules(Pool):
    """Runs the same queries on a superuser's connection, which no policy restricts."""

    def __init__(self, pool: Pool, *, instead: bytes | None) -> None:
        self._inner = pool
        self._instead = instead
        with pool.connection() as opened:
            opened.execute("set role none")

    def read(self, work: Callable[[Any], Result]) -> Result:
        return self._inner.read(lambda opened: work(_Superusers(opened, self._instead)))


class _Superusers:
    """A connection that keeps its superuser role for every user."""

    def __init__(self, opened: PooledConnection, instead: bytes | None) -> None:
        self._opened = opened
        self._instead = instead
        self.pipeline = opened.pipeline

    def execute(self, query: bytes, values: Mapping[str, Any], *, prepare: bool) -> Any:
        if query == statements("identities")["reader"]:
            return self._instead and self._opened.execute(self._instead, values, prepare=prepare)
        return self._opened.execute(query, values, prepare=prepare)


def _growth(few: str, many: str) -> Iterator[Ratio]:
    asked = {
        "a user's newest page": _newest_page,
        "a document's history": _history,
        "a look-up by tool call": _look_up,
    }
    with Pool(few) as small, Pool(many) as large:
        for title, query in asked.items():
            watch = Stopwatch()
            for number in range(_GROWTH_ROUNDS):
                for name, pool, events in (("few", small, _FEW_EVENTS), ("many", large, _MANY_EVENTS)):
                    users = events // _EVENTS_OF_A_USER
                    user = number % users
                    page = watch.take(
                        name, partial(EventReader(pool).query, f"user-{user}", query(user, users))
                    )
                    if not page.events:
                        raise LookupError(f"{title} is empty")
            yield watch.ratio(f"{title}: {_MANY_EVENTS} / {_FEW_EVENTS} events", "many", "few", at_most=5)


def _newest_page(_user: int, _users: int) -> Query:
    return Query()


def _history(user: int, _users: int) -> Query:
    return Query(path=f"users/user-{user}/parts/part-3/notes.md")


def _look_up(user: int, users: int) -> Query:
    return Query(tool_call_id=f"call-{user + 17 * users}")
