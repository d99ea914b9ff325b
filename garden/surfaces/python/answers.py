"""What the typed methods stand on: answers in Python's terms, and the fields that many tools share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypedDict, TypeVar

from garden.access.dispatcher import Dispatcher
from garden.events.records import Caller

Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """What a tool answered, and what else there is to tell: `meta` is the envelope's."""

    result: Result
    meta: Mapping[str, Any]


class Correlated(TypedDict, total=False):
    """What may be said beside anything that is recorded."""

    rationale: str
    override_rationale: str
    evidence_refs: Sequence[str]
    idempotency_key: str
    tool_call_id: str
    transaction_id: str
    agent_action_id: str


class Written(Correlated, total=False):
    """What every edit takes beside its own fields."""

    if_match: str
    dry_run: bool


class Family:
    """Tools of one family, for one caller."""

    def __init__(self, dispatcher: Dispatcher, caller: Caller) -> None:
        self._dispatcher = dispatcher
        self._caller = caller

    def _run(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        given = {name: value for name, value in fields.items() if value is not None}
        result, meta = self._dispatcher.answer(self._caller, tool, given)
        return Answer(result, meta)


Asking: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[Answer[Any]]]


class AsyncFamily:
    """Tools of one family, for one caller, whose answers are awaited."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    async def _run(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        return await self._asking(tool, fields)
