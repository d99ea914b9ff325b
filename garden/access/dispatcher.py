"""One call, from a name and arguments to an answer: the only way in, whatever the surface."""

import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from pydantic_core import to_jsonable_python

from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.tools.declaration import Call, Reply, Tool
from garden.tools.pace import Pace
from garden.tools.requests import check_role, find_tool, understood
from garden.tools.wire import correlated
from garden.writing.services import Services

Envelope = dict[str, Any]
Watch = Callable[[str, str, float], None]
"""Is told of each call: its tool, "ok" or the error's code, and the seconds that it took."""

_NO_TOOL = "unknown"


class Dispatcher:
    """Finds the tool, understands the request, runs it, and wraps what comes of it."""

    def __init__(self, services: Services, tools: Mapping[str, Tool[Any]]) -> None:
        self._services = services
        self._tools = tools
        self._watch: Watch = lambda _tool, _code, _seconds: None

    def watch(self, watch: Watch) -> None:
        """Have every call that is answered with an envelope told to somebody."""
        self._watch = watch

    def call(self, caller: Caller, name: str, args: object, pace: Pace | None = None) -> Envelope:
        """Answer with an envelope, come what may."""
        started, called = time.perf_counter(), _NO_TOOL
        try:
            tool = find_tool(self._tools, name)
            called = tool.name
            reply, meta = self._run(caller, tool, args, pace or Pace())
            envelope = {"ok": True, "result": tool.written(reply.result), "meta": to_jsonable_python(meta)}
        except GardenError as error:
            envelope = refusal(error)
        except Exception:  # noqa: BLE001 - the outermost edge of every call
            # As text: shown with its local variables, as some renderers do, it would hold what the call said.
            structlog.get_logger("garden.tools").error(
                "a call failed unexpectedly", tool=name[:100], exception=traceback.format_exc()
            )
            fault = InternalError("Something went wrong here.", hint="The service's log says more.")
            envelope = refusal(fault)
        code = "ok" if envelope["ok"] else envelope["error"]["code"]
        self._watch(called, code, time.perf_counter() - started)
        return envelope

    def answer(self, caller: Caller, name: str, args: object) -> tuple[Any, Mapping[str, Any]]:
        """Answer with Python values and what goes into `meta`, or raise what speaks against it."""
        tool = find_tool(self._tools, name)
        reply, meta = self._run(caller, tool, args, Pace())
        return tool.checked(reply.result), meta

    def _run(
        self, caller: Caller, tool: Tool[Any], args: object, pace: Pace
    ) -> tuple[Reply, Mapping[str, Any]]:
        started = time.perf_counter()
        check_role(tool, caller)
        request = understood(tool, args)
        # The last moment at which a call that waited for its turn can be given up with nothing done.
        pace.step()
        reply = tool.handler(Call(self._services, correlated(caller, request), self._tools, pace), request)
        took = milliseconds_since(started)
        return reply, {**reply.meta, "warnings": list(reply.warnings), "tookMs": took}


class InternalError(GardenError):
    """A fault of ours."""


def milliseconds_since(started: float) -> float:
    """Tell how long something took that began at this reading of the performance counter."""
    return round((time.perf_counter() - started) * 1000, 3)


def refusal(error: GardenError) -> Envelope:
    """Wrap an error."""
    return {
        "ok": False,
        "error": {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "details": to_jsonable_python(error.details, fallback=str),
        },
    }
