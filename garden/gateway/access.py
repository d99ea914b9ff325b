"""A way in: the caller, the surface and what restricts the calls that come this way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from garden.events.records import Caller

Surface = Literal["python", "cli", "http", "mcp", "console"]


@dataclass(frozen=True, slots=True)
class TokenCaller(Caller):
    """A caller with a token that has a policy; callers with two tokens of one actor are equal."""

    policy: Mapping[str, Any] | None = field(default=None, compare=False)


def policy_of(caller: Caller) -> Mapping[str, Any] | None:
    """The policy of the token that a caller sent."""
    return caller.policy if isinstance(caller, TokenCaller) else None


@dataclass(frozen=True, slots=True)
class Access:
    """A caller at one surface.

    `edits_approval` is set while an approver carries out the call of that approval with other arguments.
    `policy` is that of the caller's token; it narrows the policy of `garden.toml` and never widens it. With
    `asks_before_writes` a tool that writes and is allowed needs an approval all the same.
    """

    caller: Caller
    surface: Surface = "python"
    policy: Mapping[str, Any] | None = None
    request_id: str | None = None
    asks_before_writes: bool = False
    edits_approval: UUID | None = None
