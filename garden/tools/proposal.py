"""`propose_change`: a preview of an edit. Nothing is recorded."""

from dataclasses import replace
from typing import Any

from pydantic import Field

from garden.events.wire import Wire
from garden.grammar.errors import GardenError
from garden.tools.declaration import WRITERS, Call, Reply, Tool, Traits
from garden.tools.edits import diff_of, preview_edit, write_reply
from garden.tools.request_paths import check_paths, document_path
from garden.tools.requests import ToolNotAllowedError, check_role, find_tool, parse_request
from garden.tools.secrets import check_for_secrets
from garden.tools.wire import Request, with_correlation
from garden.writing.outcomes import WriteOutcome
from garden.writing.write_path import Preview


class NotAnEditError(GardenError):
    """The tool does not edit one document, so it can't be proposed."""

    code = "invalid_input"


class ProposeRequest(Request):
    """The call to preview."""

    tool: str = Field(description="The tool to preview, such as md.patch_section.")
    args: dict[str, Any] = Field(description="The tool's arguments.")


class Proposal(Wire):
    """What the call would change."""

    diff: str
    safety_report: str
    requires_approval: bool


def propose(call: Call, request: ProposeRequest) -> Reply:
    """Plan a call exactly as the tool would and return its diff."""
    tool = find_tool(call.tools, request.tool)
    check_role(tool, call.caller)
    permission = call.permission(tool)
    if permission == "deny":
        raise ToolNotAllowedError(
            "Access denied by creator.", hint=f"The policy denies {tool.name}; ask the operator."
        )
    if tool.edits is None:
        names = ", ".join(name for name, each in call.tools.items() if each.edits)
        raise NotAnEditError(
            f"{tool.name} does not edit one document, so it can't be proposed.",
            hint=f"Tools that can: {names}. Other tools that write take dryRun.",
        )
    wanted = parse_request(tool, request.args)
    check_paths(call.caller, wanted, call.services.files.declared)
    caller = with_correlation(call.caller, wanted)
    warnings = check_for_secrets(call.services, caller, wanted)
    path = document_path(caller, wanted.path)
    preview = preview_edit(replace(call, caller=caller), tool.edits, path, wanted, may_exceed=True)
    if isinstance(preview, WriteOutcome):
        replay = write_reply(preview)
        report = "\n".join(["Nothing would change: the answer is a replay.", *_bullets(preview.warnings)])
        return Reply(
            Proposal(diff="", safety_report=report, requires_approval=False), replay.meta, replay.warnings
        )
    plan = preview.plan
    diff, meta, cut = diff_of(plan)
    return Reply(
        Proposal(diff=diff, safety_report=_safety(preview), requires_approval=permission == "ask"),
        meta,
        (*warnings, *cut),
    )


def _safety(preview: Preview) -> str:
    plan = preview.plan
    if plan.unchanged:
        return "Allowed; nothing would change."
    verdict = (
        "Needs an overrideRationale: the edit would exceed a soft cap."
        if plan.needs_reason and not plan.owes_reason
        else "Allowed: no hard block applies."
    )
    return "\n".join([verdict, *_bullets(preview.warnings)])


def _bullets(warnings: tuple[str, ...]) -> list[str]:
    return [f"- {warning}" for warning in warnings]


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "propose_change",
        "Preview an edit",
        "Show what an edit would change and whether it is allowed, without changing anything.",
        "Pass the tool and its arguments. A refusal is the same as the real call's.",
        ProposeRequest,
        Proposal,
        propose,
        Traits(roles=WRITERS),
        {
            "tool": "fs.append",
            "args": {"path": "users/ada/notes.md", "text": "2026-11-18: slept well."},
        },
    ),
)
