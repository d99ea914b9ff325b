"""What a tool is: a declaration with a handler. Everything a surface needs is in it, or is made from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from garden.events.records import Caller
from garden.tools.pace import Pace
from garden.tools.wire import Request
from garden.writing.callers import Role
from garden.writing.planner import Intent, Plan
from garden.writing.services import Services

EVERYONE = frozenset(Role)
TENDERS = frozenset({Role.AGENT, Role.MAINTAINER})
MAINTAINERS = frozenset({Role.MAINTAINER})

Cost = Literal["light", "document", "many_documents"]


@dataclass(frozen=True)
class Call:
    """One call: who makes it, with which parts and among which tools, and who watches how it goes on."""

    services: Services
    caller: Caller
    tools: "Mapping[str, Tool[Any]]"
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True)
class Reply:
    """What a tool answers: the result in the shape that it promises, and what else there is to tell."""

    result: Any
    meta: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


Asked = TypeVar("Asked", bound=Request)


@dataclass(frozen=True)
class Traits:
    """What a caller may know of a tool before using it.

    One that writes only adds, unless it `replaces` words that stand in a document.
    """

    writes: bool = False
    replaces: bool = False
    roles: frozenset[Role] = EVERYONE
    idempotent: bool = True
    cost: Cost = "document"


@dataclass(frozen=True)
class Edits(Generic[Asked]):
    """How a tool's request becomes an edit of one document, and what it answers."""

    intent: Callable[[Call, Asked], Intent]
    answer: Callable[[Plan], Any]


@dataclass(frozen=True)
class Tool(Generic[Asked]):
    """A tool: its name, what it is for, the shapes it takes and gives, and what it does."""

    name: str
    title: str
    summary: str
    description: str
    request: type[Asked]
    result: Any
    handler: Callable[[Call, Asked], Reply]
    traits: Traits
    example: Mapping[str, Any]
    edits: Edits[Asked] | None = None

    @cached_property
    def answers(self) -> TypeAdapter[Any]:
        """What checks and writes the result."""
        return TypeAdapter(self.result)

    def checked(self, result: Any) -> Any:
        """Give a result as Python values, in the shape that the tool promises."""
        return self.answers.validate_python(result)

    def written(self, result: Any) -> Any:
        """Give a result as it travels."""
        return self.answers.dump_python(self.checked(result), mode="json", by_alias=True)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields that it takes, in the wire's spelling."""
        return frozenset(map(to_camel, self.request.model_fields))

    @cached_property
    def request_schema(self) -> dict[str, Any]:
        """The JSON schema of the request."""
        return self.request.model_json_schema(by_alias=True)

    @cached_property
    def result_schema(self) -> dict[str, Any]:
        """The JSON schema of the result."""
        return self.answers.json_schema(by_alias=True, mode="serialization")
