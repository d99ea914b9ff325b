"""The cost of reading events: row-level security, and growth."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row

from benchmarks.ratios import Ratio, Stopwatch
from garden.demo.throw_away import throw_away_home
from garden.events.database import connection
from garden.events.migrations import migrate
from garden.events.pool import Pool, PooledConnection
from garden.events.reader import EventReader, Query
from garden.events.statements import statements
from garden.home.embedded import EmbeddedPostgres
from tests.support.many_events import fill
from tests.support.named_sql import named_sql

_WARM_UP_ROUNDS = 50
_READ_ROUNDS = 3000
_GROWTH_ROUNDS = 500
_EVENTS_OF_A_USER = 1000
_FEW_EVENTS = 10_000
_MANY_EVENTS = int(os.environ.get("GARDEN_BENCH_EVENTS", "100000"))

Result = TypeVar("Result")
Superuser = psycopg.Connection[DictRow]


def measure() -> Iterator[Ratio]:
    with throw_away_home() as home:
        server = EmbeddedPostgres(home).ensure_running()
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

    def execute(self, query: bytes, values: Mapping[str, Any], **how: Any) -> Any:
        if query == statements("identities")["reader"]:
            return self._instead and self._opened.execute(self._instead, values, **how)
        return self._opened.execute(query, values, **how)


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
