"""The account of calls: a record of every call, refusals included."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from garden.events.calls import CallLog, CallRow, call_json
from garden.events.identifiers import uuid7
from garden.events.saga import Status
from garden.gateway.access import Access
from garden.gateway.shaping import tokens_of
from garden.gateway.shown_arguments import show_arguments, show_text
from garden.grammar.errors import GardenError
from garden.tools.wire import CORRELATION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from garden.events.records import Caller
    from garden.tools.declaration import Reply, Tool

_NO_TOOL = "unknown"
_ERASED = "[erased words]"
_ARGUMENTS_CHARACTERS_MAX = 4000
_CALLER_IDS = {to_camel(name): name for name in CORRELATION}
# Errors that are not the caller's to mend.
_OURS = {"internal", "unavailable"}


class CallRecord:
    """The record of one call, while it is under way.

    A write carries it in its `caller`, so that the row comes with the intent of the event and is closed with
    the seal. When the call is over, its row is written or completed with a batch.
    """

    def __init__(self, log: CallLog, access: Access, name: str, args: object) -> None:
        self.access = access
        self.name = name
        self.args = args
        self.caller: Caller = replace(access.caller, call=self)
        self.tool: Tool[Any] | None = None
        self.reply: Reply | None = None
        self.shaped: Mapping[str, Any] = {}
        self._log = log
        self._event_id: UUID | None = None
        self._started_at, self._started = datetime.now(UTC), time.perf_counter()
        self._call_id = uuid7(self._started_at)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the record with the outcome of the call."""
        status, code, tokens = "success", None, self.shaped.get("tokens")
        if error is not None:
            known = error if isinstance(error, GardenError) else GardenError("")
            status, code, tokens = _status_of(known.code), known.code, tokens_of(known.message + known.hint)
        self._log.put(self._row(status, code, tokens))
        # It refers back to this: in a cycle, the words of the call would stay until a garbage collection.
        self.caller = self.access.caller

    def begun(self, event_id: UUID, status: Status) -> str:
        """The row of the call, with an event of it."""
        # The last one: an earlier one was of a plan that was discarded, or is in the row already.
        self._event_id = event_id
        return call_json([self._row("success" if status is Status.COMMITTED else "pending", None, None)])

    def ended(self, event_id: UUID, status: Status, code: str | None) -> str:
        """The outcome of the call once an event of it has ended."""
        known = {"first": self._call_id, "last": self._call_id, "event_id": event_id}
        outcome = "success" if status is Status.COMMITTED else _status_of(code)
        return call_json({**known, "status": outcome, "code": code, "milliseconds": self._milliseconds})

    def _row(self, status: str, code: str | None, tokens_out: int | None) -> CallRow:
        caller, summary = self.access.caller, self.shaped.get("summary")
        ids = {name: getattr(self.caller, field) for name, field in _CALLER_IDS.items()}
        ids["requestId"] = self.access.request_id
        # Any of them may hold the words that were refused because they had been erased.
        holds_erased = code == "erased"
        return {
            "user_id": caller.user_id,
            "call_id": self._call_id,
            "status": status,
            "code": code,
            "milliseconds": self._milliseconds,
            "actor": show_text(caller.actor),
            "role": caller.role,
            "surface": self.access.surface,
            "tool": _NO_TOOL if self.tool is None else self.tool.name,
            "arguments": _ERASED if holds_erased else self._arguments,
            "started_at": self._started_at,
            "summary": summary and show_text(summary),
            "tokens_in": tokens_of(self._sent or ""),
            "tokens_out": tokens_out,
            "ids": {} if holds_erased else {name: show_text(each) for name, each in ids.items() if each},
            "event_id": self._event_id or (self.reply and self.reply.meta.get("eventId")),
            "calls": 1,
        }

    @property
    def _milliseconds(self) -> float:
        return (time.perf_counter() - self._started) * 1000

    @cached_property
    def _sent(self) -> str | None:
        """The arguments as JSON; nothing if they are nested without end, or JSON has no form for them."""
        try:
            return to_json(self.args).decode()
        except ValueError:
            return None

    @cached_property
    def _arguments(self) -> Any:
        hidden = () if self.tool is None else self.tool.request.words_to_remove
        shown = show_arguments(self.args, self._sent, {*hidden, *map(to_camel, hidden)})
        size = len(to_json(shown).decode())
        return shown if size <= _ARGUMENTS_CHARACTERS_MAX else f"[{size} characters]"


def _status_of(code: str | None) -> str:
    return "failed" if code in _OURS else "refused"
