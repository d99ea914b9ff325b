"""The base of the typed methods: their answers and the keyword arguments that many share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypedDict, TypeVar

from garden.access.dispatcher import Dispatcher
from garden.events.records import Caller

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Answer(Generic[_Result]):
    """A tool's result, with the envelope's `meta`."""

    result: _Result
    meta: Mapping[str, Any]


class RecordedFields(TypedDict, total=False):
    """Keyword arguments of every tool that records something."""

    rationale: str
    override_rationale: str
    evidence_refs: Sequence[str]
    idempotency_key: str
    tool_call_id: str
    transaction_id: str
    agent_action_id: str


class WriteFields(RecordedFields, total=False):
    """Keyword arguments of every tool that writes."""

    if_match: str
    dry_run: bool


class Family:
    """A family of tools for one caller."""

    def __init__(self, dispatcher: Dispatcher, caller: Caller) -> None:
        self._dispatcher = dispatcher
        self._caller = caller

    def _run(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        given = {name: value for name, value in fields.items() if value is not None}
        result, meta = self._dispatcher.run(self._caller, tool, given)
        return Answer(result, meta)


Ask: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[Answer[Any]]]


class AsyncFamily:
    """A family of awaited tools for one caller."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def _run(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        return await self._ask(tool, fields)
