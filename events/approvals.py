"""Approvals in the database: calls that were asked about, and the answers."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import Field

from garden.events.identifiers import uuid7
from garden.events.pool import Pool
from garden.events.wire import Wire

LISTED_MAX = 100
OPEN_MAX = 100

State = Literal["pending", "approved", "denied", "used", "edited", "void", "expired"]
STATES: tuple[State, ...] = get_args(State)


class Approval(Wire):
    """A call that was asked about, and the answer; without its words once it is no longer open."""

    approval_id: UUID
    state: State
    tool: str
    actor: str
    role: str
    asked_at: datetime
    expires_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None = Field(repr=False)
    event_id: UUID | None = Field(description="The event of the approver's own call, if it was edited.")
    args: dict[str, Any] | None = Field(repr=False)
    lines_added: int
    lines_removed: int
    diff: str | None = Field(repr=False)


class ApprovalStore:
    """The approvals, each of one user. Every change is conditional, so that it may be sent twice."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def read(self, user_id: str, limit: int = LISTED_MAX, **wanted: Any) -> tuple[Approval, ...]:
        """Read approvals, newest first: by `actor`, `state`, `approval_id` or `call_mark`.

        `is_waiting` tells those without an answer, then the oldest first, from all others; a page begins
        `after` the last of the page before.
        """
        names = ("actor", "state", "approval_id", "call_mark", "is_waiting", "after")
        values = {**dict.fromkeys(names), **wanted, "user_id": user_id, "limit": limit}
        return tuple(Approval(**row) for row in self._pool.fetch("service", "approvals", "read", values))

    def ask(self, user_id: str, seconds: int, call: Mapping[str, Any]) -> None:
        """Ask about a call, unless it is asked about already or too many calls are."""
        made = {"approval_id": uuid7(datetime.now(UTC)), "seconds": seconds, "args": Jsonb(call["args"])}
        self.change(user_id, "ask", **{**call, **made, "open_max": OPEN_MAX})

    def take(self, user_id: str, effect_marks: Mapping[UUID, bytes]) -> bool:
        """Use up all of these approvals, if each is approved for its effect; or none."""
        return self.change(user_id, "take", ids=[*effect_marks], marks=[*effect_marks.values()])

    def change(self, user_id: str, name: str, /, **values: Any) -> bool:
        """Send a statement, such as `decide` or `reopen`; whether it found its approval."""
        return bool(self._pool.fetch("service", "approvals", name, {**values, "user_id": user_id}))
