"""The base of the typed methods: their answers and the keyword arguments that many share."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypedDict, TypeVar, cast

from garden.access.dispatcher import Dispatcher
from garden.events.records import Caller

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


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

    def _ask(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        given = {name: value for name, value in fields.items() if value is not None}
        result, meta = self._dispatcher.run(self._caller, tool, given)
        return Answer(result, meta)

    def _run(self, tool: str, arguments: dict[str, Any]) -> Answer[Any]:
        return self._ask(tool, _fields(arguments))


Ask: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[Answer[Any]]]


class AsyncFamily:
    """A family of awaited tools for one caller."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def _run(self, tool: str, arguments: dict[str, Any]) -> Awaitable[Answer[Any]]:
        return self._ask(tool, _fields(arguments))


def awaited(
    method: Callable[Concatenate[Any, _Arguments], _Result],
) -> Callable[Concatenate[AsyncFamily, _Arguments], Coroutine[Any, Any, _Result]]:
    """Make the coroutine of a typed method, with its parameters and its docstring."""

    @wraps(method)
    async def call(self: AsyncFamily, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        # The method returns what `_run` of the family returns: here, something to await.
        return await cast("Awaitable[_Result]", method(self, *args, **kwargs))

    return call


def _fields(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fields of a request from the `locals()` of a typed method."""
    del arguments["self"]
    shared = arguments.pop("shared", {})
    return {**arguments, **shared}
