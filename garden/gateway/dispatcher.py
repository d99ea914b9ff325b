"""The dispatcher: every call of a tool, on any surface, goes through it."""

import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import to_jsonable_python

from garden.gateway.access import Access
from garden.gateway.account import CallRecord
from garden.gateway.approvals import Approvals
from garden.gateway.limits import RateLimits
from garden.gateway.parsed_call import ParsedCall
from garden.gateway.policies import Policies
from garden.gateway.shaping import shape
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.tools.declaration import Call, Reply, Tool
from garden.tools.nearest_path import naming_nearest_path
from garden.tools.progress import CallProgress
from garden.tools.request_paths import check_paths
from garden.tools.requests import check_role, find_tool, parse_request
from garden.tools.wire import Request, with_correlation
from garden.writing.services import Services

Envelope = dict[str, Any]
Watch = Callable[[str, str, float], None]
"""Receives each call's tool, "ok" or error code, and duration in seconds."""

_NO_TOOL = "unknown"


@dataclass(frozen=True)
class Gates:
    """What a call passes on its way to the tool."""

    policies: Policies
    limits: RateLimits
    approvals: Approvals
    record: Callable[[Access, str, object], CallRecord]


class Dispatcher:
    """Carries every call of every surface through one chain.

    1. The tool is known, and the caller's phase and role have it.
    2. The request is valid, its paths are the caller's, and it brings no secret.
    3. The rate limits have room for it.
    4. The permission gate lets it pass: allowed, or approved exactly so.
    5. The account records it, before and after; refusals of the earlier steps too.
    6. It runs, with a deadline.
    7. Its answer is shaped.
    """

    def __init__(self, services: Services, tools: Mapping[str, Tool[Any]], gates: Gates) -> None:
        self._services = services
        self._tools = tools
        self.gates = gates
        self._watch: Watch = lambda _tool, _code, _seconds: None

    def watch(self, watch: Watch) -> None:
        """Report every call that returns an envelope to this function."""
        self._watch = watch

    def tools_of(self, access: Access) -> list[Tool[Any]]:
        """The tools that a caller may use."""
        rules, role = self.gates.policies.rules(access), access.caller.role
        return [tool for tool in self._tools.values() if rules.offers(tool, role)]

    def call(self, access: Access, name: str, args: object, progress: CallProgress | None = None) -> Envelope:
        """Run a tool and return an envelope; errors become envelopes as well."""
        started = time.perf_counter()
        record = self.gates.record(access, name, args)
        try:
            tool, reply, meta = self._handle(record, progress or CallProgress())
            envelope = answer(tool, reply, meta)
        except Exception as error:  # noqa: BLE001 - the outermost edge of every call
            envelope = refusal(expected_error(error, name))
        self.report(record, envelope, started)
        return envelope

    def report(self, record: CallRecord, envelope: Envelope, started: float) -> None:
        """Report a call that was answered."""
        code = "ok" if envelope["ok"] else envelope["error"]["code"]
        called = _NO_TOOL if record.tool is None else record.tool.name
        self._watch(called, code, time.perf_counter() - started)

    def run(self, access: Access, name: str, args: object) -> tuple[Any, Mapping[str, Any]]:
        """Run a tool and return its result as Python values, with its `meta`; errors are raised."""
        record = self.gates.record(access, name, args)
        tool, reply, meta = self._handle(record, CallProgress())
        return tool.validate_result(reply.result), meta

    def _handle(
        self, record: CallRecord, progress: CallProgress
    ) -> tuple[Tool[Any], Reply, Mapping[str, Any]]:
        started = time.perf_counter()
        with record:
            parsed, call = self._let_pass(record, progress)
            tool, request = parsed.tool, parsed.request
            # A call that was cancelled while it waited for a thread stops here, before it has any effect.
            progress.begin(parsed.rules.deadline_seconds(tool))
            with naming_nearest_path(self._services, record.access.caller, request):
                reply = record.reply = tool.handler(call, request)
            record.shaped = shape(tool, request, reply)
        return tool, reply, parsed.meta_of(reply, record.shaped, started)

    @contextmanager
    def admit(self, access: Access, name: str, args: Mapping[str, Any]) -> Iterator[None]:
        """Let the block find what this tool would show; it is refused and recorded like a call."""
        with self.gates.record(access, name, args) as record:
            self._let_pass(record, CallProgress())
            yield

    def _let_pass(self, record: CallRecord, progress: CallProgress) -> tuple[ParsedCall, Call]:
        """Take a call through steps 1 to 4; returns it as it was sent, and as it is carried out."""
        parsed = self.parse(record, progress)
        self.gates.limits.take(parsed.access, parsed.rules, parsed.tool)
        return parsed, self.gates.approvals.check(parsed)

    def parse(self, record: CallRecord, progress: CallProgress) -> ParsedCall:
        """Find the tool that a call names, and check its request: steps 1 and 2."""
        access = record.access
        tool = record.tool = find_tool(self._tools, record.name)
        rules = self.gates.policies.rules(access)
        rules.check_listed(tool)
        check_role(tool, access.caller)
        request = parse_request(tool, record.args)
        with naming_nearest_path(self._services, access.caller, request):
            check_paths(access.caller, request, self._services.files.declared)
        record.caller = with_correlation(record.caller, request)
        if access.edits_approval is not None:
            record.caller = replace(record.caller, agent_action_id=f"approval:{access.edits_approval}")
        call = Call(self._services, record.caller, self._tools, progress, rules.permission)
        # The words of a call that is asked about are stored, also where the tool itself stores none.
        stores = tool.traits.writes or rules.permission(tool) == "ask"
        warnings = _check_for_secrets(call, request) if stores else ()
        return ParsedCall(access, rules, tool, call, request, warnings)


def _check_for_secrets(call: Call, request: Request) -> tuple[str, ...]:
    # Reading needs none of it, and it takes a while to load.
    from garden.tools.secrets import check_for_secrets

    return check_for_secrets(call.services, call.caller, request)


class InternalError(GardenError):
    """The service has a bug."""


def expected_error(error: Exception, name: object) -> GardenError:
    """An error that a caller may see; any other is a bug and only logged."""
    if isinstance(error, GardenError):
        return error
    # Logged as text, because some renderers show local variables, and those hold the user's words.
    get_logger("garden.tools").error(
        "a call failed unexpectedly",
        tool=str(name)[:100],
        exception="".join(traceback.format_exception(error)),
    )
    return InternalError("Something went wrong here.", hint="The service's log says more.")


def answer(tool: Tool[Any], reply: Reply, meta: Mapping[str, Any]) -> Envelope:
    """Envelope of a reply."""
    # A replay whose answer was erased has no result.
    result = None if reply.result is None else tool.dump_result(reply.result)
    return {"ok": True, "result": result, "meta": to_jsonable_python(meta)}


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
