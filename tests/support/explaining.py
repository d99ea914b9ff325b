"""A pool whose connection also explains the plan of every query it runs."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from garden.events.pool import Pool
from garden.events.statements import statements
from tests.support.waiting import until

_PARAMETER = re.compile(r"%\((\w+)\)s")
# No queries over tables: setting the role, and calls of schema functions.
_NO_QUERY = re.compile(rb"select (set_config|pg_|garden\.|\* from garden\.open_stream)|set transaction")
_HIDDEN = b"""
select from pg_class
where relnamespace = 'garden'::regnamespace and relkind = 'r' and relallvisible < relpages"""
_NAMES = {
    text: name
    for file in (
        "queries",
        "maintenance",
        "recoveries",
        "store",
        "tokens",
        "approvals",
        "sign_ins",
        "feed",
        "passages",
        "recall",
        "recall_usage",
        "calls",
        "versions",
        "kept_texts",
        "log",
    )
    for name, text in statements(file).items()
}

Result = TypeVar("Result")


@dataclass(frozen=True)
class Plan:
    """The plan of a query."""

    indexes: frozenset[str]
    scanned_tables: frozenset[str]
    sorts: bool
    rows_read: int


class ExplainingPool(Pool):
    """Takes the place of a pool; everything runs in one transaction that is never committed."""

    def __init__(self, opened: psycopg.Connection[DictRow]) -> None:
        self.plans: dict[str, dict[str, Plan]] = {}
        self._opened = opened

    def read(self, work: Callable[[Any], Result]) -> Result:
        with self.connection() as connection:
            return work(connection)

    @contextmanager
    def connection(self) -> Iterator[Any]:
        yield self.take()

    def take(self) -> Any:
        self._opened.execute("set local role garden_service")
        return _ExplainingConnection(self._opened, self.plans)

    def give_back(self, connection: Any) -> None:
        pass


class _ExplainingConnection:
    def __init__(self, opened: psycopg.Connection[DictRow], plans: dict[str, dict[str, Plan]]) -> None:
        self._opened = opened
        self._plans = plans

    def pipeline(self) -> AbstractContextManager[None]:
        return nullcontext()

    def transaction(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        pass

    def execute(
        self,
        query: bytes,
        values: Mapping[str, Any] | None = None,
        *,
        prepare: bool | None = None,
        binary: bool = False,
    ) -> psycopg.Cursor[DictRow]:
        if query == statements("queries")["freeze"]:
            return self._opened.execute("select")
        if _NO_QUERY.match(query) is None:
            self._plans[_NAMES[query]] = self._explain(query.decode(), values or {}, prepare)
        return self._opened.execute(query, values, prepare=prepare, binary=binary)

    def _explain(self, query: str, values: Mapping[str, Any], prepare: bool | None) -> dict[str, Plan]:
        plans = {"custom": self._plan(b"explain (analyze, format json) " + query.encode(), values)}
        if prepare is not False:
            # psycopg prepares a statement by itself after a few uses.
            self._opened.execute(query.encode(), values, prepare=True)
            self._opened.execute("set local plan_cache_mode = force_generic_plan")
            plans["generic"] = self._plan(self._execution(query, values))
            self._opened.execute("set local plan_cache_mode = auto")
        return plans

    def _execution(self, query: str, values: Mapping[str, Any]) -> sql.Composed:
        names = list(dict.fromkeys(_PARAMETER.findall(query)))
        text = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", query)
        row = self._opened.execute(
            "select name from pg_prepared_statements where statement = %s", [text]
        ).fetchone()
        assert row is not None
        given = sql.SQL(", ").join(sql.Literal(values[name]) for name in names)
        arguments = sql.SQL("({})").format(given) if names else sql.SQL("")
        return sql.SQL("explain (analyze, format json) execute {}{}").format(
            sql.Identifier(row["name"]), arguments
        )

    def _plan(self, explain: bytes | sql.Composed, values: Mapping[str, Any] | None = None) -> Plan:
        with self._opened.transaction(force_rollback=True):
            row = self._opened.execute(explain, values, prepare=False).fetchone()
        assert row is not None
        nodes = list(_nodes(row["QUERY PLAN"][0]["Plan"]))
        return Plan(
            indexes=frozenset(node["Index Name"] for node in nodes if "Index Name" in node),
            scanned_tables=frozenset(
                node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"
            ),
            sorts=_sorts(row["QUERY PLAN"][0]["Plan"]),
            rows_read=sum(_rows_read(node) for node in nodes if "Scan" in node["Node Type"]),
        )


def _rows_read(node: dict[str, Any]) -> int:
    left_out: float = sum(count for name, count in node.items() if name.startswith("Rows Removed by"))
    found, rounds = float(node["Actual Rows"]), int(node["Actual Loops"])
    return round((found + left_out) * rounds)


def _sorts(node: dict[str, Any]) -> bool:
    """Whether rows are sorted; the few that belong to one row, in a sub-plan, do not count."""
    inner = (each for each in node.get("Plans", ()) if each["Parent Relationship"] != "SubPlan")
    return "Sort" in node["Node Type"] or any(map(_sorts, inner))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def vacuum(opened: psycopg.Connection[Any]) -> None:
    """Do what autovacuum does sooner or later; plans depend on it."""

    def is_all_visible() -> bool:
        # A page stays unmarked while an older snapshot is open, and a query then reads the page too.
        opened.execute(b"vacuum (analyze)")
        return opened.execute(_HIDDEN).fetchall() == []

    until(is_all_visible)


@contextmanager
def explaining_pool(url: str) -> Iterator[ExplainingPool]:
    with (
        psycopg.connect(url, autocommit=True, row_factory=dict_row) as opened,
        opened.transaction(force_rollback=True),
    ):
        yield ExplainingPool(opened)
