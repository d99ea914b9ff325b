"""The declaration of a tool. Surfaces, schemas and documents are derived from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import TypeAdapter

from garden.events.records import Caller
from garden.tools.progress import CallProgress
from garden.tools.wire import Request
from garden.writing.callers import Role
from garden.writing.services import Services

if TYPE_CHECKING:
    from garden.files.paths import GardenPath
    from garden.writing.planner import Intent, Plan

EVERYONE = frozenset(Role)
WRITERS = frozenset({Role.AGENT, Role.MAINTAINER})
MAINTAINERS = frozenset({Role.MAINTAINER})

Cost = Literal["light", "document", "many_documents"]
Phase = Literal["observe", "tend", "maintain"]
PHASES: tuple[Phase, ...] = ("observe", "tend", "maintain")
"""What callers may do: read; also write; also move and repair. Each phase has the tools of those before."""


@dataclass(frozen=True)
class Call:
    """One call of a tool: the caller, the services and tools it may use, and its progress.

    Before anything is recorded, `sees_plan` gets the plan of an edit, and `sees_file` gets path and hash of a
    file that is moved or copied; both may refuse.
    """

    services: Services
    caller: Caller
    tools: "Mapping[str, Tool[Any]]"
    progress: CallProgress = field(default_factory=CallProgress)
    permission: "Callable[[Tool[Any]], str]" = lambda _tool: "allow"
    """Whether the caller's policy has a tool; its role may still refuse it."""
    sees_plan: "Callable[[Plan], None] | None" = None
    sees_file: Callable[[str, str], None] | None = None


@dataclass(frozen=True)
class OnWire:
    """A result in its JSON form, made by this code and of the tool's result type: it is sent unchecked."""

    value: Any


@dataclass(frozen=True)
class Reply:
    """A handler's answer: the promised result, extra `meta` fields, and warnings."""

    result: Any
    meta: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


_RequestT = TypeVar("_RequestT", bound=Request)


@dataclass(frozen=True)
class Traits:
    """What a caller may know about a tool before using it.

    A tool that writes but does not set `replaces` only adds text. One that `maintains` moves or repairs.
    """

    writes: bool = False
    replaces: bool = False
    maintains: bool = False
    roles: frozenset[Role] = EVERYONE
    idempotent: bool = True
    cost: Cost = "document"

    @property
    def phase(self) -> Phase:
        """The first phase that has the tool."""
        return "maintain" if self.maintains else "tend" if self.writes else "observe"


@dataclass(frozen=True)
class Edits(Generic[_RequestT]):
    """How a tool that edits one document makes an intent from a request, and a result from a plan.

    A tool that needs a key to be replayed does not count the same words as sent again.
    """

    intent: "Callable[[Call, GardenPath, _RequestT], Intent]"
    result: "Callable[[Plan], Any]"
    needs_key: bool = False


@dataclass(frozen=True)
class Tool(Generic[_RequestT]):
    """A tool: its name, its texts, its request and result types, and its handler.

    `positional` names the optional field, or `opts`, that Python callers may give by position.
    """

    name: str
    title: str
    summary: str
    description: str
    request: type[_RequestT]
    result: Any
    handler: Callable[[Call, _RequestT], Reply]
    traits: Traits
    example: Mapping[str, Any]
    edits: Edits[_RequestT] | None = None
    positional: str | None = None

    @cached_property
    def result_adapter(self) -> TypeAdapter[Any]:
        """Validator and serializer of the result."""
        return TypeAdapter(self.result)

    def validate_result(self, result: Any) -> Any:
        """Convert a result to the Python type that the tool promises."""
        return self.result_adapter.validate_python(result.value if isinstance(result, OnWire) else result)

    def dump_result(self, result: Any) -> Any:
        """Convert a result to its JSON form."""
        if isinstance(result, OnWire):
            return result.value
        return self.result_adapter.dump_python(self.validate_result(result), mode="json", by_alias=True)

    @cached_property
    def fields(self) -> frozenset[str]:
        """Names of the request's fields on the wire."""
        return frozenset(field.alias or name for name, field in self.request.model_fields.items())

    @cached_property
    def request_schema(self) -> dict[str, Any]:
        """JSON schema of the request."""
        return self.request.model_json_schema(by_alias=True)

    @cached_property
    def result_schema(self) -> dict[str, Any]:
        """JSON schema of the result."""
        return self.result_adapter.json_schema(by_alias=True, mode="serialization")
