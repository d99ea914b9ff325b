"""`md.fix`: fixes the mechanical findings of lint in one document."""

from dataclasses import replace
from typing import Any

from garden.events.wire import Wire
from garden.files.paths import GardenPath
from garden.grammar.edits import WriteFile
from garden.grammar.refusals import NoDocumentError
from garden.lint.fixes import fix
from garden.tools.declaration import WRITERS, Call, Edits, Tool, Traits
from garden.tools.edits import edit_handler, intent_of
from garden.tools.wire import EditRequest
from garden.writing.documents import GardenDocument
from garden.writing.planner import Intent, Plan

_REASON = "Fixed mechanical findings."


class FixRequest(EditRequest):
    """The document to fix."""


class Fixed(Wire):
    """The findings that were fixed, a sentence each, and the new hash of the document."""

    fixed: list[str]
    new_hash: str


def _fix_intent(_call: Call, path: GardenPath, request: FixRequest) -> Intent:
    intent = intent_of(path, "md.fix", request, WriteFile(""), "fix", request.rationale or _REASON)
    return replace(intent, under_lock=_fixed_text)


def _fixed_text(_version: int, found: GardenDocument | None) -> WriteFile:
    if found is None:
        raise NoDocumentError("There is no document to fix.", hint="fs.list shows which documents there are.")
    return WriteFile(fix(found.document, found.kind))


def _fixed(plan: Plan) -> dict[str, Any]:
    left = {finding.key for finding in plan.after.report.findings}
    found = plan.before.report.findings if plan.before else ()
    fixed = [str(finding) for finding in found if finding.fixable and finding.key not in left]
    return {"fixed": fixed, "newHash": plan.after.document.hash}


_FIX = Edits(_fix_intent, _fixed, needs_key=True)

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "md.fix",
        "Fix a document's form",
        "Fix the mechanical findings of lint: canonical headings, white space, blank lines and line ends.",
        "Words, anchors, identity, code and the Change Log stay as they are. Without such a finding the "
        "document stays unchanged. md.lint lists the other findings, which need your judgement.",
        FixRequest,
        Fixed,
        edit_handler(_FIX),
        Traits(writes=True, replaces=True, roles=WRITERS),
        {"path": "users/ada/notes.md"},
        edits=_FIX,
    ),
)
