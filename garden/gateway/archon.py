"""The Archon envelope: one request with several calls, carried out in order."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel

from garden.gateway.access import Access
from garden.gateway.dispatcher import Envelope
from garden.gateway.several import NamedCall, NamedCalls, call_in_order
from garden.tools.requests import parse_form

DENIED = "Access denied by creator."
_HINT = (
    'Send {"phase": "EXECUTE", "intent": "tool_call", "summary": "...", "tools": '
    '[{"name": "archon.fs.read", "args": {"path": "..."}}], "requires_permission": false}.'
)


class ArchonRequest(BaseModel, extra="forbid", strict=True):
    """A request in the Archon envelope; a tool's name may begin with `archon.`."""

    phase: Literal["EXECUTE"]
    intent: Literal["tool_call"]
    summary: str = ""
    tools: NamedCalls
    requires_permission: bool = False


def run_archon(
    call: Callable[[Access, str, Any], Envelope], access: Access, request: object
) -> dict[str, Any]:
    """Carry out the calls in order; the first one that the gate refuses stops the rest.

    `results` has an entry for each call that was tried; `denied` names the refused one and all after it.
    """
    wanted = parse_form(ArchonRequest, request, "Archon request", _HINT)
    access = replace(access, asks_before_writes=access.asks_before_writes or wanted.requires_permission)
    envelopes, is_stopped = call_in_order(partial(call, access), map(_own_call, wanted.tools))
    names = [each.name for each in wanted.tools]
    results = [{"tool": name, "result": each} for name, each in zip(names, envelopes, strict=False)]
    done = {"success": all(each["ok"] for each in envelopes), "results": results}
    if not is_stopped:
        return done
    error = envelopes[-1]["error"]
    message = DENIED if error["code"] == "permission_denied" else error["message"]
    return {**done, "denied": names[len(results) - 1 :], "message": message}


def _own_call(call: NamedCall) -> tuple[str, dict[str, Any]]:
    """The garden's own name of a tool, and its arguments."""
    if call.name != "archon.fs.find":
        return call.name.removeprefix("archon."), call.args
    # Given both, base stays, and is refused as unknown.
    base = "base" if "root" in call.args else "root"
    return "fs.search", {base if name == "base" else name: value for name, value in call.args.items()}
