"""`propose_change`: what an edit would do, told before it is done. Nothing is recorded."""

from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from garden.events.wire import Wire
from garden.grammar.errors import GardenError
from garden.tools.declaration import TENDERS, Call, Reply, Tool, Traits
from garden.tools.edits import request_of
from garden.tools.requests import check_role, find_tool, understood
from garden.tools.wire import Request, correlated
from garden.writing.write_path import Preview


class NotAnEditError(GardenError):
    """A tool that edits no document has nothing to preview."""

    code = "invalid_input"


class ProposeRequest(Request):
    """Which call is to be previewed."""

    tool: str = Field(description="The tool that would be called: md.patch_section, for example.")
    args: dict[str, Any] = Field(description="Its arguments, as they would be sent.")


class Proposal(Wire):
    """What the call would do."""

    diff: str
    safety_report: str
    requires_approval: Literal[False] = False


def propose(call: Call, request: ProposeRequest) -> Reply:
    """Plan a call as the tool itself would, and show the outcome."""
    tool = find_tool(call.tools, request.tool)
    check_role(tool, call.caller)
    if tool.edits is None:
        names = ", ".join(name for name, each in call.tools.items() if each.edits)
        raise NotAnEditError(
            f"{tool.name} edits no document, so there is nothing to preview.", hint=f"There is for: {names}."
        )
    wanted = understood(tool, request.args)
    caller = correlated(call.caller, wanted)
    intent = tool.edits.intent(call, wanted)
    asked = request_of(replace(call, caller=caller), tool.name, intent.path, wanted)
    preview = call.services.write_path.preview(caller, intent, asked, may_exceed=True)
    plan = preview.plan
    diff = plan.applied.diff(intent.path.text)
    meta = {"documentHash": plan.after.document.hash, "linesAdded": diff.added, "linesRemoved": diff.removed}
    return Reply(Proposal(diff=diff.text, safety_report=_safety(preview)), meta)


def _safety(preview: Preview) -> str:
    plan = preview.plan
    if plan.unchanged:
        return "Allowed, and nothing would change."
    verdict = (
        "Needs an overrideRationale: a soft cap would be exceeded."
        if plan.needs_reason
        else "Allowed by every hard block."
    )
    return "\n".join([verdict, *(f"- {warning}" for warning in preview.warnings)])


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "propose_change",
        "Preview an edit",
        "Shows what an edit would change and whether anything speaks against it, and changes nothing.",
        "Give the tool and its arguments as you would send them. A refusal is the one the real call "
        "would get.",
        ProposeRequest,
        Proposal,
        propose,
        Traits(roles=TENDERS),
        {
            "tool": "fs.append",
            "args": {"path": "users/ada/notes.md", "text": "2026-11-18: slept well."},
        },
    ),
)
