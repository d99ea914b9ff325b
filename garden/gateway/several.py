"""Several tools in one request: in order, each through the whole chain; or in a transaction."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictStr

from garden.events.wire import Wire
from garden.gateway.dispatcher import Envelope
from garden.tools.requests import InvalidRequestError, parse_form

CALLS_MAX = 50
# The gate's refusals; any other error is the tool's own, and the calls after it run.
_STOPPING = frozenset({"permission_denied", "permission_required", "rate_limited", "delete_not_allowed"})
_HINT = f'tools is a list of 1 to {CALLS_MAX} calls, each {{"name": "fs.read", "args": {{...}}}}.'


class NamedCall(Wire):
    """A call: a tool's name, and its arguments."""

    name: StrictStr
    args: dict[str, Any] = Field(default_factory=dict)


NamedCalls = Annotated[list[NamedCall], Field(min_length=1, max_length=CALLS_MAX)]


class SeveralCalls(Wire):
    """Calls to make in this order; in a transaction all or none, and its key is that of all."""

    tools: NamedCalls
    transaction: StrictBool = False
    idempotency_key: StrictStr | None = None


def parse_calls(request: object) -> SeveralCalls:
    """Parse a request with several calls, or just the list of them."""
    given = {"tools": request} if isinstance(request, list | tuple) else request
    wanted = parse_form(SeveralCalls, given, "request with several calls", _HINT)
    if wanted.idempotency_key is not None and not wanted.transaction:
        raise InvalidRequestError(
            "Only a transaction has an idempotencyKey for all calls.",
            hint="Put it into the args of each call.",
        )
    return wanted


def call_in_order(
    call: Callable[[str, Any], Envelope], calls: Iterable[tuple[str, Any]]
) -> tuple[list[Envelope], bool]:
    """Make calls until the gate refuses one, and say whether it did."""
    envelopes: list[Envelope] = []
    for name, args in calls:
        envelopes.append(call(name, args))
        if not envelopes[-1]["ok"] and envelopes[-1]["error"]["code"] in _STOPPING:
            return envelopes, True
    return envelopes, False


def summed_up(
    calls: Sequence[NamedCall], envelopes: Sequence[Envelope], is_stopped: bool = False
) -> dict[str, Any]:
    """The answer to several calls, of those that were tried."""
    results = [{"tool": each.name, **done} for each, done in zip(calls, envelopes, strict=False)]
    done = {"success": all(each["ok"] for each in results), "results": results}
    if is_stopped:
        ran = [each["tool"] for each in results if each["ok"]]
        return {**done, "denied": results[-1]["tool"], "ran": ran}
    return done
