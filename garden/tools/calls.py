"""`calls.stats` tells how the calls of a garden went."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field

from garden.events.calls import CallLog
from garden.events.wire import Wire
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.wire import Line, Request

Period = Literal["1h", "1d", "1w"]
PERIODS: Mapping[str, timedelta] = {"1h": timedelta(hours=1), "1d": timedelta(1), "1w": timedelta(weeks=1)}


class CallsRequest(Request):
    """Which calls to count."""

    period: Period = Field("1d", description="The last hour, day or week.")
    actor: Line | None = Field(None, description="Only calls by this actor.")
    tool: Line | None = Field(None, description="Only calls of this tool.")


class ToolCalls(Wire):
    """A tool and how often it was called."""

    tool: str
    calls: int


class CallError(Wire):
    """A call that was answered with an error, or several refusals that share a row."""

    time: datetime
    tool: str
    code: str
    status: str
    calls: int


class CallStats(Wire):
    """The number of calls, the part that succeeded, and the milliseconds that most calls took at most."""

    calls: int
    success_rate: float | None
    latency: dict[str, float]
    refusals: dict[str, int]
    top_tools: tuple[ToolCalls, ...]
    errors: tuple[CallError, ...]


def stats_of(
    calls: CallLog, user_id: str, period: str, actor: str | None = None, tool: str | None = None
) -> CallStats:
    """Count a user's calls."""
    row = calls.stats(user_id, PERIODS[period], actor, tool)
    latency = dict(zip(("p50", "p95", "p99"), row.pop("latency") or (), strict=False))
    return CallStats(**row, latency=latency)


def _stats(call: Call, request: CallsRequest) -> Reply:
    return Reply(stats_of(call.services.calls, call.caller.user_id, **dict(request)))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "calls.stats",
        "Look up how calls went",
        "Count the calls of this garden's tools: success rate, latency, refusals and last errors.",
        "refusals counts, by error code, the calls that were refused.",
        CallsRequest,
        CallStats,
        _stats,
        Traits(cost="light"),
        {"period": "1d"},
    ),
)
