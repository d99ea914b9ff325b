"""One call, from a name and arguments to an answer: the only way in, whatever the surface."""

import time
import traceback
from collections.abc import Mapping
from typing import Any

import structlog
from pydantic_core import to_jsonable_python

from events.records import Caller
from garden.tools.declaration import Call, Reply, Role, Services, Tool
from garden.tools.pace import Pace
from garden.tools.understanding import find_tool, understood
from garden.tools.wire import correlated
from grammar.errors import GardenError

Envelope = dict[str, Any]


class RoleNotAllowedError(GardenError):
    """The tool is not for callers of this role."""

    code = "permission_denied"


class Dispatcher:
    """Finds the tool, understands the request, runs it, and wraps what comes of it."""

    def __init__(self, services: Services, tools: Mapping[str, Tool[Any]]) -> None:
        self._services = services
        self._tools = tools

    def call(self, caller: Caller, name: str, args: object, pace: Pace | None = None) -> Envelope:
        """Answer with an envelope, come what may."""
        try:
            tool, reply, meta = self._run(caller, name, args, pace or Pace())
            return {"ok": True, "result": tool.written(reply.result), "meta": to_jsonable_python(meta)}
        except GardenError as error:
            return refusal(error)
        except Exception:  # noqa: BLE001 - the outermost edge of every call
            # As text: shown with its local variables, as some renderers do, it would hold what the call said.
            structlog.get_logger("garden.tools").error(
                "a call failed unexpectedly", tool=name[:100], exception=traceback.format_exc()
            )
            return refusal(InternalError("Something went wrong here.", hint="The service's log says more."))

    def answer(self, caller: Caller, name: str, args: object) -> tuple[Any, Mapping[str, Any]]:
        """Answer with Python values and what goes into `meta`, or raise what speaks against it."""
        tool, reply, meta = self._run(caller, name, args, Pace())
        return tool.checked(reply.result), meta

    def _run(
        self, caller: Caller, name: str, args: object, pace: Pace
    ) -> tuple[Tool[Any], Reply, Mapping[str, Any]]:
        started = time.perf_counter()
        tool = find_tool(self._tools, name)
        check_role(tool, caller)
        request = understood(tool, args)
        # The last moment at which a call that waited for its turn can be given up with nothing done.
        pace.step()
        reply = tool.handler(Call(self._services, correlated(caller, request), self._tools, pace), request)
        took = round((time.perf_counter() - started) * 1000, 3)
        return tool, reply, {**reply.meta, "warnings": list(reply.warnings), "tookMs": took}


class InternalError(GardenError):
    """A fault of ours."""


def check_role(tool: Tool[Any], caller: Caller) -> None:
    """Refuse a tool to those it is not for."""
    if Role(caller.role) not in tool.traits.roles:
        raise RoleNotAllowedError(
            f"{tool.name} is not for the role {caller.role}.",
            hint=f"It is for: {', '.join(sorted(tool.traits.roles))}.",
        )


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
