"""The dispatcher: every call of a tool, on any surface, goes through it."""

import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.tools.declaration import Call, Reply, Tool
from garden.tools.progress import CallProgress
from garden.tools.requests import check_role, find_tool, parse_request
from garden.tools.wire import Request, with_correlation
from garden.writing.services import Services

Envelope = dict[str, Any]
Watch = Callable[[str, str, float], None]
"""Receives each call's tool, "ok" or error code, and duration in seconds."""

_NO_TOOL = "unknown"


class Dispatcher:
    """Find the tool, parse the request, run the handler and wrap its reply."""

    def __init__(self, services: Services, tools: Mapping[str, Tool[Any]]) -> None:
        self._services = services
        self._tools = tools
        self._watch: Watch = lambda _tool, _code, _seconds: None

    def watch(self, watch: Watch) -> None:
        """Report every call that returns an envelope to this function."""
        self._watch = watch

    def call(self, caller: Caller, name: str, args: object, progress: CallProgress | None = None) -> Envelope:
        """Run a tool and return an envelope; errors become envelopes as well."""
        started, called = time.perf_counter(), _NO_TOOL
        try:
            tool = find_tool(self._tools, name)
            called = tool.name
            reply, meta = self._handle(caller, tool, args, progress or CallProgress())
            envelope = {
                "ok": True,
                "result": tool.dump_result(reply.result),
                "meta": to_jsonable_python(meta),
            }
        except GardenError as error:
            envelope = refusal(error)
        except Exception:  # noqa: BLE001 - the outermost edge of every call
            # Logged as text, because some renderers show local variables, and those hold the user's words.
            get_logger("garden.tools").error(
                "a call failed unexpectedly", tool=name[:100], exception=traceback.format_exc()
            )
            envelope = refusal(
                InternalError("Something went wrong here.", hint="The service's log says more.")
            )
        code = "ok" if envelope["ok"] else envelope["error"]["code"]
        self._watch(called, code, time.perf_counter() - started)
        return envelope

    def run(self, caller: Caller, name: str, args: object) -> tuple[Any, Mapping[str, Any]]:
        """Run a tool and return its result as Python values, with its `meta`; errors are raised."""
        tool = find_tool(self._tools, name)
        reply, meta = self._handle(caller, tool, args, CallProgress())
        return tool.validate_result(reply.result), meta

    def _handle(
        self, caller: Caller, tool: Tool[Any], args: object, progress: CallProgress
    ) -> tuple[Reply, Mapping[str, Any]]:
        started = time.perf_counter()
        check_role(tool, caller)
        request = parse_request(tool, args)
        # A call that was cancelled while it waited for a thread stops here, before it has any effect.
        progress.step()
        call = Call(self._services, with_correlation(caller, request), self._tools, progress)
        warnings = _check_for_secrets(call, request) if tool.traits.writes else ()
        reply = tool.handler(call, request)
        took = milliseconds_since(started)
        return reply, {**reply.meta, "warnings": [*reply.warnings, *warnings], "tookMs": took}


def _check_for_secrets(call: Call, request: Request) -> tuple[str, ...]:
    # Reading needs none of it, and it takes a while to load.
    from garden.tools.secrets import check_for_secrets

    return check_for_secrets(call.services, call.caller, request)


class InternalError(GardenError):
    """The service has a bug."""


def milliseconds_since(started: float) -> float:
    """Milliseconds since a reading of the performance counter."""
    return round((time.perf_counter() - started) * 1000, 3)


def refusal(error: GardenError) -> Envelope:
    """Envelope of an error."""
    return {
        "ok": False,
        "error": {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "details": to_jsonable_python(error.details, fallback=str),
        },
    }
