"""The base of the typed methods: their answers and the keyword arguments that many share."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypedDict, TypeVar, cast

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")
_Tools = TypeVar("_Tools", bound="Family")


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


Ask: TypeAlias = Callable[[str, Mapping[str, Any]], Any]
"""Calls a tool by its name: gives the answer, or something to await for it."""


class Family:
    """A family of tools for one caller."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def _run(self, tool: str, arguments: dict[str, Any]) -> Answer[Any]:
        """Call a tool with the `locals()` of its typed method."""
        del arguments["self"]
        shared = arguments.pop("shared", {})
        answer: Answer[Any] = self._ask(tool, {**arguments, **shared})
        return answer


class Part(Generic[_Tools]):
    """A family of tools as an attribute of the toolbelt, for the same caller."""

    def __init__(self, family: type[_Tools]) -> None:
        self._family = family
        self.__doc__ = family.__doc__

    def __get__(self, toolbelt: Family, _owner: type[Family]) -> _Tools:
        return self._family(toolbelt._ask)


def awaited(
    method: Callable[Concatenate[Any, _Arguments], _Result],
) -> Callable[Concatenate[Family, _Arguments], Coroutine[Any, Any, _Result]]:
    """Make the coroutine of a typed method, with its parameters and its docstring."""

    @wraps(method)
    async def call(self: Family, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        # The method returns what the family's `ask` returns: here, something to await.
        return await cast("Awaitable[_Result]", method(self, *args, **kwargs))

    return call
