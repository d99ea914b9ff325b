"""Tools that know Markdown: sections, lists, history copies, lint and new documents."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field, StrictBool, field_validator, model_validator

from garden.events.database import DatabaseUnavailableError
from garden.events.pool import PoolBusyError
from garden.events.wire import Wire
from garden.files.paths import GardenPath, Place
from garden.grammar.edits import AppendToSection, CreateDocument, ReplaceSection
from garden.grammar.errors import GardenError
from garden.grammar.list_edits import OPS_MAX
from garden.lint.finding import Finding
from garden.lint.report import Report
from garden.tools.declaration import WRITERS, Call, Edits, Reply, Tool, Traits
from garden.tools.documents import read_document
from garden.tools.edits import edit_handler, intent_of, new_hash_of, request_identity, write_reply
from garden.tools.list_operations import ItemWish, ListOpName, edit_of, op_of
from garden.tools.request_paths import document_or_copy_path, document_path
from garden.tools.wire import EditRequest, Line, NewHash, Reason, Request, is_absent
from garden.writing.documents import identity_for_new
from garden.writing.file_wishes import FileWish
from garden.writing.planner import Intent, Plan


class ParticipantsError(GardenError):
    """Participants are missing, or the document can't have any."""

    code = "invalid_input"


class PathRequest(Request):
    """The document to read."""

    path: str = Field(description="A document or a history copy.")


class SectionName(Wire):
    """A section and its first line."""

    anchor: str
    heading: str
    start_line: int


class SectionChange(Wire):
    """Give one of the two."""

    replace: str | None = Field(None, description="New body.")
    append: str | None = Field(None, description="Text to add below.")

    @model_validator(mode="after")
    def _one_of_two(self) -> "SectionChange":
        if (self.replace is None) == (self.append is None):
            raise ValueError("give either replace or append")
        return self


class PatchSectionRequest(EditRequest):
    """The section and its change."""

    section_anchor: str = Field(description="Its anchor, such as concerns v1, or its heading.")
    change: SectionChange


class CurateListRequest(EditRequest):
    """The list and the operations on it."""

    other_names: ClassVar[Mapping[str, str]] = {"op": "ops", "item": "items"}

    section_anchor: str = Field(description="Its anchor, such as evidence v1.")
    ops: ListOpName | Annotated[tuple[ListOpName, ...], Field(min_length=1, max_length=OPS_MAX)] = Field(
        description="One for all items, or one for each."
    )
    items: ItemWish | Annotated[tuple[ItemWish, ...], Field(min_length=1, max_length=OPS_MAX)] = Field(
        description="To append, the text; to prune or merge, the whole text, an ev: token, or number and "
        "first words: '3: I can't relax'."
    )
    reason: Reason = Field(min_length=1, description="Why; it is recorded.")

    @field_validator("items")
    @classmethod
    def _as_list(cls, items: ItemWish | tuple[ItemWish, ...]) -> tuple[ItemWish, ...]:
        return items if isinstance(items, tuple) else (items,)

    @model_validator(mode="after")
    def _ops_fit_items(self) -> "CurateListRequest":
        edit_of(self.section_anchor, self.ops, self.items)
        return self


class HashesOfChange(Wire):
    """Hash of the section before and after the edit."""

    before_hash: str
    after_hash: str


class SnapshotRequest(EditRequest):
    """The document to copy."""


class HistoryPath(Wire):
    """Path of the copy."""

    history_path: str


class Lint(Wire):
    """Lint findings as sentences."""

    warnings: list[str]
    blocked: bool
    blocked_reasons: list[str] | None = Field(None, exclude_if=is_absent)


class Diagnostic(Wire):
    """One lint finding."""

    rule: str
    name: str
    severity: Literal["block", "cap", "style"]
    message: str
    anchor: str | None
    line: int
    column: int
    fixable: StrictBool


class Diagnostics(Wire):
    """Lint findings as objects."""

    warnings: list[Diagnostic]
    blocked: bool
    blocked_reasons: list[Diagnostic] | None = Field(None, exclude_if=is_absent)


class PlantRequest(EditRequest):
    """The document to create."""

    path: str = Field(description="The new document; its path decides the kind.")
    title: Line | None = Field(None, description="Title; by default the kind's.")
    participants: Annotated[tuple[Line, ...], Field(max_length=20)] = Field(
        (), description="Of a relationship: part ids or names."
    )


def list_sections(call: Call, request: PathRequest) -> Reply:
    """List a document's sections."""
    document = read_document(call.services, document_or_copy_path(call.caller, request.path)).document
    sections = [
        SectionName(
            anchor=str(section.anchor) if section.anchor else "",
            heading=section.heading.text,
            start_line=section.line,
        )
        for section in document.sections
    ]
    return Reply(sections)


def _patch_intent(_call: Call, path: GardenPath, request: PatchSectionRequest) -> Intent:
    section, change = request.section_anchor, request.change
    edit: ReplaceSection | AppendToSection
    if change.replace is not None:
        edit, op = ReplaceSection(section, change.replace), "replace_section"
    else:
        edit, op = AppendToSection(section, change.append or ""), "append_section"
    return intent_of(path, "md.patch_section", request, edit, op)


def _curate_intent(_call: Call, path: GardenPath, request: CurateListRequest) -> Intent:
    edit = edit_of(request.section_anchor, request.ops, request.items)
    return intent_of(path, "md.curate_list", request, edit, op_of(edit), _why(request))


def _why(request: CurateListRequest) -> str:
    """Join the reason and a separate rationale, so that neither is lost."""
    if request.rationale in {None, "", request.reason}:
        return request.reason
    return f"{request.reason} {request.rationale}"


def _hashes(plan: Plan) -> dict[str, Any]:
    before, after = plan.applied.section_before, plan.applied.section_after
    return {
        "beforeHash": before.hash if before else None,
        "afterHash": after.hash if after else None,
    }


def _plant_intent(call: Call, path: GardenPath, request: PlantRequest) -> Intent:
    _check_participants(path, request.participants)
    kind = call.services.documents.kinds[str(path.kind)]
    identity = identity_for_new(path, request.participants)
    edit = CreateDocument(kind, request.title or kind.title, identity)
    # An existing document, even a damaged one, is never overwritten.
    return replace(intent_of(path, "md.plant", request, edit, "plant"), only_new=True)


def _check_participants(path: GardenPath, participants: tuple[str, ...]) -> None:
    """Require participants for a relationship's profile, and refuse them elsewhere."""
    wanted = path.kind == "relationship_profile"
    if wanted and not participants:
        raise ParticipantsError(
            "A relationship's profile needs participants.", hint="Give participants: part ids or names."
        )
    if participants and not wanted:
        raise ParticipantsError(
            "Only a relationship's profile has participants.", hint="Leave participants out."
        )


def snapshot_history(call: Call, request: SnapshotRequest) -> Reply:
    """Copy the current version of a document into its history."""
    wish = FileWish(
        path=document_path(call.caller, request.path),
        tool="md.snapshot_history",
        rationale=request.rationale,
        evidence_refs=request.evidence_refs,
        if_match=request.if_match,
        dry_run=request.dry_run,
        sees_file=call.sees_file,
    )
    # Only a caller's own key is remembered: the same words may ask for another copy a version later.
    asked = (
        request_identity(call, wish.tool, wish.path, request) if request.idempotency_key is not None else None
    )
    return write_reply(call.services.snapshots.take(call.caller, wish, asked), dry_run=request.dry_run)


def lint_in_words(call: Call, request: PathRequest) -> Reply:
    """Return lint findings as sentences."""
    path = document_or_copy_path(call.caller, request.path)
    report = read_document(call.services, path).report
    owing, unknown = _owing(call, path, report)
    owed = [f"override owed: {finding} (evt:{event_id})" for finding, event_id in owing]
    reasons = list(report.blocked_reasons) or None
    lint = Lint(warnings=[*report.warnings, *owed], blocked=report.blocked, blocked_reasons=reasons)
    return Reply(lint, warnings=unknown)


def lint_as_objects(call: Call, request: PathRequest) -> Reply:
    """Return lint findings as objects."""
    path = document_or_copy_path(call.caller, request.path)
    report = read_document(call.services, path).report
    owing, unknown = _owing(call, path, report)
    blocks = [_diagnostic(finding) for finding in report.findings if finding.severity == "block"]
    others = [_diagnostic(finding) for finding in report.findings if finding.severity != "block"]
    others += [
        _diagnostic(replace(finding, message=f"override owed: {finding.message} (evt:{event_id})"))
        for finding, event_id in owing
    ]
    diagnostics = Diagnostics(warnings=others, blocked=report.blocked, blocked_reasons=blocks or None)
    return Reply(diagnostics, warnings=unknown)


def _owing(
    call: Call, path: GardenPath, report: Report
) -> tuple[list[tuple[Finding, UUID]], tuple[str, ...]]:
    """Exceeded caps that stand, each with an edit that exceeded it and whose reason is missing."""
    if not report.caps or path.place is not Place.DOCUMENT:
        return [], ()
    try:
        edits = call.services.reader.owed_overrides(path.user_id, path.text)
    except (DatabaseUnavailableError, PoolBusyError):
        return [], ("The database is unavailable, so overrides that are owed are not listed.",)
    return [(each, event_id) for each in report.caps for event_id in edits if each.key in edits[event_id]], ()


def _diagnostic(finding: Finding) -> Diagnostic:
    return Diagnostic.model_validate(finding, from_attributes=True)


_PATCH = Edits(_patch_intent, _hashes)
_CURATE = Edits(_curate_intent, _hashes)
_PLANT = Edits(_plant_intent, new_hash_of, needs_key=True)

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "md.list_sections",
        "List sections",
        "List the sections of a document with anchor, heading and first line.",
        "Use the anchor as sectionAnchor in other tools. A section without an anchor has an empty one; use "
        "its heading instead.",
        PathRequest,
        list[SectionName],
        list_sections,
        Traits(),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "md.patch_section",
        "Change a section",
        "Replace the body of one section or append to it; nothing else in the document changes.",
        "Heading and anchor stay. The new text must not contain an H1, an H2 or an anchor comment. Profiles "
        "and the overview get a Change Log line, so give a rationale. Send the section's hash as ifMatch to "
        "refuse the edit if the section has changed since you read it.",
        PatchSectionRequest,
        HashesOfChange,
        edit_handler(_PATCH),
        Traits(writes=True, replaces=True, roles=WRITERS),
        {
            "path": "users/ada/parts/critic/profile.md",
            "sectionAnchor": "concerns v1",
            "change": {"replace": "- Says yes before looking at the week"},
            "rationale": "She named it herself today.",
        },
        edits=_PATCH,
        positional="opts",
    ),
    Tool(
        "md.curate_list",
        "Curate a list",
        "Append, prune and merge the items of a section's list.",
        "An evidence item is a short quote with a token: '\"I can't relax\" (ev:s12-m40)'. More than seven "
        "need an overrideRationale. Nested content stays with its item. An item that matches nothing, or "
        "matches twice, is refused.",
        CurateListRequest,
        HashesOfChange,
        edit_handler(_CURATE),
        Traits(writes=True, replaces=True, roles=WRITERS),
        {
            "path": "users/ada/parts/critic/profile.md",
            "sectionAnchor": "evidence v1",
            "ops": "append",
            "items": ["\"I can't relax until it's done\" (ev:s12-m40)"],
            "reason": "It shows what the part is afraid of.",
        },
        edits=_CURATE,
    ),
    Tool(
        "md.snapshot_history",
        "Keep a copy",
        "Keep a timestamped copy of a document's current version in its history.",
        "Edits of profiles and the overview keep the replaced version anyway. List copies with fs.list on "
        "history/{userId}/... and read them with fs.read.",
        SnapshotRequest,
        HistoryPath,
        snapshot_history,
        Traits(writes=True, roles=WRITERS),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "md.lint",
        "Lint a document",
        "Report in sentences what is wrong with a document and whether that blocks edits.",
        "Warnings alone never block an edit; exceeding a cap further needs an overrideRationale. Where the "
        "settings let it come later, 'override owed' names the edits without one.",
        PathRequest,
        Lint,
        lint_in_words,
        Traits(),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "lint.check",
        "Lint a document, in detail",
        "Return every lint finding as an object with rule, severity and position.",
        "The findings are those of md.lint. Severity block blocks edits, cap needs an overrideRationale if "
        "the edit makes it worse, style never blocks.",
        PathRequest,
        Diagnostics,
        lint_as_objects,
        Traits(),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "md.plant",
        "Create a document",
        "Create a document from the template of its kind, with frontmatter, sections and anchors.",
        "The path decides the kind. An existing document is never overwritten. A relationship's profile "
        "needs participants.",
        PlantRequest,
        NewHash,
        edit_handler(_PLANT),
        Traits(writes=True, roles=WRITERS),
        {"path": "users/ada/parts/critic/profile.md", "title": "The Critic"},
        edits=_PLANT,
    ),
)
