"""Attempts of every command on every table by every role, each undone.

Ada has one row in every table and Bob has two, so that the lowest bit of a count of rows says whether Ada's
was among them. A change of rows reads none of their columns, for then the policies for reading would hide
what those for changing let through.
"""

import secrets
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from garden.events.database import Connection, connection
from tests.support.named_sql import named_sql

TABLES = (
    "events", "documents", "idempotency_records", "event_annotations", "tokens", "feed", "recoveries",
    "erasures", "erased_rows", "erased_words", "recall_documents", "recall_passages", "recall_usage",
    "recall_given", "kept_texts", "grown_documents", "log_leaves", "log_checkpoints", "call_counts",
    "tool_calls", "approvals", "sign_ins",
    "schema_migrations",
)  # fmt: skip
# A row of one of these belongs to no user.
OF_NO_USER = ("log_checkpoints", "schema_migrations")
ROLES = ("garden_reader", "garden_service", "garden_maintainer")
USERS = (None, "ada", "bob")

# The columns that may change; the tables that are not listed here have none.
STATE = {
    "events": (
        "status", "after_hash", "error", "written_at", "committed_at", "failed_at", "state_seal",
        "state_salt_version",
    ),
    "documents": (
        "version", "content_hash", "raw_hash", "has_file", "head_event_id", "open_event_id", "tail_sequence",
        "tail_chain_hash", "updated_at", "seal", "seal_salt_version",
    ),
    "idempotency_records": (
        "fingerprint", "event_id", "response", "created_at", "expires_at", "seal", "seal_salt_version",
        "answer_seal", "answer_salt_version",
    ),
    "tokens": ("revoked_at", "revoked_seal", "revoked_salt_version"),
    "recoveries": ("attempts", "last_at", "error", "quarantined_at"),
    "erasures": ("passage", "finished_at", "events", "bytes", "seal", "seal_salt_version"),
    "erased_rows": ("erasure_id", "commitments", "version_hash", "seal", "seal_salt_version"),
    "recall_documents": ("generation", "version", "analysis", "changed"),
    "recall_passages": (
        "until", "language", "previous", "day", "tags", "priority", "summary_type", "period_key",
        "words", "vector", "embedder", "changed",
    ),
    "recall_usage": ("calls", "empty", "milliseconds"),
    "call_counts": ("slot", "clock", "counts", "counted_on"),
    "tool_calls": ("status", "milliseconds", "code", "summary", "tokens_out", "event_id", "calls"),
    "approvals": ("state", "args", "diff", "decided_by", "decided_at", "reason", "event_id"),
}  # fmt: skip

# The columns that only an erasure changes.
WORDS = {
    "events": (
        "section_anchor", "sections", "rationale", "override_rationale", "evidence_refs", "edit",
        "splices_removed",
        "splices_inserted", "before_hash", "before_raw_hash", "intended_hash", "intended_raw_hash", "lint",
        "tool_call_id", "transaction_id", "agent_action_id", "idempotency_key", "line_hash", "salts",
    ),
    "event_annotations": (
        "rationale", "override_rationale", "evidence_refs", "details", "tool_call_id", "transaction_id",
        "agent_action_id", "salts",
    ),
    "tool_calls": ("arguments", "ids"),
}  # fmt: skip

# The number of Ada's expired requests: a bit of its own in a count.
_EXPIRED_ROWS = 4

Place = tuple[str, str]


@dataclass(frozen=True)
class Probe:
    """Statements of one command on one table: a role may do all of them or none."""

    table: str
    command: str
    statements: Sequence[str]
    # Whether only the right counts, which is the same for every user, and not the effect.
    right_only: bool = False

    @property
    def users(self) -> Sequence[str | None]:
        return (None,) if self.right_only else USERS


class Ground:
    """A migrated database with rows in it, in a transaction that is never committed, its roles included."""

    def __init__(self, opened: Connection) -> None:
        self.opened = opened
        self.sql = named_sql(__file__)
        mark = secrets.token_hex(6)
        self.stranger, self.owner = f"stranger_{mark}", f"owner_{mark}"
        self.identities = (*ROLES, self.stranger, self.owner, self.ask("select current_user")[0][0])
        self._prepare()
        self.probes = list(self.all_probes())
        self.wide = {(each.table, each.command) for each in self.probes if len(each.statements) > 1}

    def run(self, sql: str) -> None:
        self.opened.execute(sql.encode())

    def ask(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self.opened.execute(sql.encode(), values or None).fetchall()

    def columns(self, table: str) -> list[str]:
        return [name for (name,) in self.ask(self._fill("columns", table))]

    @contextmanager
    def but_for(self, change: str) -> Iterator[None]:
        """The same ground with one change, undone at the end of the block."""
        self.run("savepoint unaltered")
        try:
            self.run(change)
            yield
        finally:
            self.run("rollback to savepoint unaltered")

    def outcomes(self, places: Container[Place]) -> dict[Place, str]:
        """The marks of every identity for the commands of these places, user by user."""
        probes = [each for each in self.probes if (each.table, each.command) in places]
        asked = [
            (who, whose, statement)
            for probe in probes
            for who in self.identities
            for whose in probe.users
            for statement in probe.statements
        ]
        found = iter(self.ask(self.sql["attempts"], [list(each) for each in zip(*asked, strict=True)]))
        return {
            (probe.table, probe.command): " ".join(
                "".join(agreed(mark(probe, *next(found)[0]) for _ in probe.statements) for _ in probe.users)
                for _ in self.identities
            )
            for probe in probes
        }

    def all_probes(self) -> Iterator[Probe]:
        for table in TABLES:
            yield from self._probes(table)
        yield self._probe("events", "insert failed", user="ada", row=9)
        yield self._probe("events", "jump")
        yield self._probe("documents", "fall back to a lower version")
        yield self._probe("documents", "fall back to a lower sequence")
        yield self._probe("tokens", "take a revocation back")
        yield self._probe("erasures", "take a tombstone back")
        yield self._probe("schema", "create in it", right_only=True)

    def _probes(self, table: str) -> Iterator[Probe]:
        columns, state = self.columns(table), STATE.get(table, ())
        words = WORDS.get(table, ())
        others = [column for column in columns if column not in (*state, *words)]
        yield self._probe(table, "select")
        yield self._probe(table, "insert", user="ada", row=9)
        yield self._probe(table, "delete")
        yield self._probe(table, "truncate")
        yield self._of_columns(table, "change anything else", others, right_only=False)
        if state:
            yield self._probe(table, "change its state")
            yield self._of_columns(table, "set a state column", state, template="set a column")
        if words:
            yield self._of_columns(
                table, "change words", words, template="change anything else", right_only=False
            )
            yield self._probe(table, "erase words")
            yield self._of_columns(table, "set a word", words, template="set a column")
        yield self._of_columns(table, "read a column", columns)
        yield self._of_columns(table, "fill a column", columns)
        yield self._of_columns(table, "set another column", others, template="set a column")
        for command in ("add a trigger", "refer to it", "reindex"):
            yield self._probe(table, command, right_only=True)

    def _probe(self, table: str, command: str, *, right_only: bool = False, **fill: object) -> Probe:
        return Probe(table, command, [self._fill(command, table, **fill)], right_only)

    def _of_columns(
        self, table: str, command: str, columns: Iterable[str], *, template: str = "", right_only: bool = True
    ) -> Probe:
        statements = [self._fill(template or command, table, column=column) for column in columns]
        return Probe(table, command, statements, right_only)

    def _fill(self, command: str, table: str, **values: object) -> str:
        sql = self.sql.get(f"{command} {table}") or self.sql[command]
        for name, value in {"table": f"garden.{table}", **values}.items():
            sql = sql.replace(f"{{{name}}}", str(value))
        return sql

    def _prepare(self) -> None:
        self.run(self.sql["prepare"].replace("{stranger}", self.stranger).replace("{owner}", self.owner))
        for table in TABLES:
            for user, row in (("ada", 1), ("bob", 1), ("bob", 2)):
                if table not in OF_NO_USER or (user, row) == ("ada", 1):
                    self.run(self._fill("insert", table, user=user, row=row))
        for table in ("idempotency_records", "approvals", "sign_ins"):
            for row in range(_EXPIRED_ROWS):
                self.run(self._fill("insert expired", table, user="ada", row=row))


@contextmanager
def ground(url: str) -> Iterator[Ground]:
    with connection(url) as opened, opened.transaction(force_rollback=True):
        yield Ground(opened)


def mark(probe: Probe, state: str, message: str, context: str) -> str:
    """The mark of an attempt, as `test_permissions.py` lists them, or its message."""
    refused = _refusal(probe.table, state, message, context)
    if refused in ("#", "-"):
        return refused
    if probe.right_only:
        return "r" if refused or state == "MG000" else f"({message})"
    if refused or state != "MG000":
        return refused or f"({message})"
    if probe.command == "truncate":
        return "+"
    return "+" if int(message) & 1 else "x" if int(message) & _EXPIRED_ROWS else "."


def _refusal(table: str, state: str, message: str, context: str) -> str | None:
    if message.startswith("permission denied for schema garden"):
        return "#"
    # A truncation cascades to other tables, which may refuse it when this one no longer does.
    if any(f"table {other}" in message or f"{other} is" in message for other in TABLES if other != table):
        return None
    if message.startswith(("permission denied", "must be owner")):
        return "-"
    if "row-level security" in message:
        return "p"
    if "PL/pgSQL function garden.refuse_" in context:
        return "t"
    return "c" if state.startswith("23") else None


def agreed(marks: Iterable[str]) -> str:
    """One mark for all, or every different one."""
    return "/".join(sorted(set(marks)))
