"""The tools that know Markdown: sections by their anchors, lists, history, lint, and new documents."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, model_validator

from garden.events.wire import Wire
from garden.files.paths import GardenPath
from garden.grammar.edits import AppendToSection, CreateDocument, ReplaceSection
from garden.grammar.errors import GardenError
from garden.grammar.list_edits import OPS_MAX
from garden.lint.finding import Finding
from garden.tools.declaration import TENDERS, Call, Edits, Reply, Tool, Traits
from garden.tools.documents import read_document
from garden.tools.edits import editing, intent_of, request_of
from garden.tools.list_operations import ItemWish, ListOpName, edit_of, op_of
from garden.tools.places import document_to_edit, file_to_read
from garden.tools.wire import Line, NewHash, Request, Words, WriteRequest, is_absent
from garden.writing.documents import identity_for_new
from garden.writing.planner import Intent, Plan
from garden.writing.snapshots import SnapshotIntent


class ParticipantsError(GardenError):
    """Participants are missing, or given where there can be none."""

    code = "invalid_input"


class PathRequest(Request):
    """Which document is meant."""

    path: str = Field(description="A document, or a copy in the history.")


class SectionName(Wire):
    """A section, and where it begins."""

    anchor: str
    heading: str
    start_line: int


class SectionChange(Wire):
    """What becomes of a section: one of the two."""

    replace: str | None = Field(None, description="The new body; the heading and the anchor stay.")
    append: str | None = Field(None, description="What is added below the body.")

    @model_validator(mode="after")
    def _one_of_two(self) -> "SectionChange":
        if (self.replace is None) == (self.append is None):
            raise ValueError("give either replace or append")
        return self


class PatchSectionRequest(WriteRequest):
    """Which section is to change, and how."""

    path: str = Field(description="The document.")
    section_anchor: str = Field(
        description="The section: concerns v1, or concerns where that is unambiguous."
    )
    change: SectionChange


class CurateListRequest(WriteRequest):
    """Which list is to be worked on, and how."""

    path: str = Field(description="The document.")
    section_anchor: str = Field(description="The section that holds the list: evidence v1.")
    ops: ListOpName | Annotated[tuple[ListOpName, ...], Field(min_length=1, max_length=OPS_MAX)] = Field(
        description="append, prune or merge: one for all items, or one for each."
    )
    items: Annotated[tuple[ItemWish, ...], Field(min_length=1, max_length=OPS_MAX)] = Field(
        description="For append the text of the item; for prune {match}: an ev: token, the whole text, "
        "or number "
        "and first words as in '3: I can't relax'; for merge {into, from: [...], text?}."
    )
    reason: Words = Field(min_length=1, description="Why; it is kept with the event and in the Change Log.")

    @model_validator(mode="after")
    def _ops_fit_items(self) -> "CurateListRequest":
        edit_of(self.section_anchor, self.ops, self.items)
        return self


class HashesOfChange(Wire):
    """What the section hashed to, and what it hashes to now."""

    before_hash: str
    after_hash: str


class SnapshotRequest(WriteRequest):
    """Of which document a copy is wanted."""

    path: str = Field(description="The document.")


class HistoryPath(Wire):
    """Where the copy is."""

    history_path: str


class Lint(Wire):
    """What lint says, in sentences."""

    warnings: list[str]
    blocked: bool
    blocked_reasons: list[str] | None = Field(None, exclude_if=is_absent)


class Diagnostic(Wire):
    """One finding."""

    rule: str
    name: str
    severity: Literal["block", "cap", "style"]
    message: str
    anchor: str | None
    line: int
    column: int
    fixable: StrictBool


class Diagnostics(Wire):
    """What lint says, as objects."""

    warnings: list[Diagnostic]
    blocked: bool
    blocked_reasons: list[Diagnostic] | None = Field(None, exclude_if=is_absent)


class PlantRequest(WriteRequest):
    """Which document is to begin."""

    path: str = Field(description="Where: its place among the allowed paths says of what kind it is.")
    title: Line | None = Field(None, description="Its title; without one, that of its kind.")
    participants: Annotated[tuple[Line, ...], Field(max_length=20)] = Field(
        (), description="For a relationship's profile: between whom it is, part ids or names."
    )


def list_sections(call: Call, request: PathRequest) -> Reply:
    """List a document's sections."""
    standing = read_document(call.services, file_to_read(call.caller, request.path))
    sections = [
        SectionName(
            anchor=str(section.anchor) if section.anchor else "",
            heading=section.heading.text,
            start_line=section.line,
        )
        for section in standing.document.sections
    ]
    return Reply(sections, {"documentHash": standing.document.hash})


def _patch_intent(call: Call, request: PatchSectionRequest) -> Intent:
    section, change = request.section_anchor, request.change
    if change.replace is not None:
        return intent_of(
            call, "md.patch_section", request, ReplaceSection(section, change.replace), "replace_section"
        )
    return intent_of(
        call, "md.patch_section", request, AppendToSection(section, change.append or ""), "append_section"
    )


def _curate_intent(call: Call, request: CurateListRequest) -> Intent:
    edit = edit_of(request.section_anchor, request.ops, request.items)
    return intent_of(call, "md.curate_list", request, edit, op_of(edit), _why(request))


def _why(request: CurateListRequest) -> str:
    """Put the reason and a rationale given beside it together; neither of them is to get lost."""
    if request.rationale in {None, "", request.reason}:
        return request.reason
    return f"{request.reason} {request.rationale}"


def _hashes(plan: Plan) -> dict[str, Any]:
    before, after = plan.section_before, plan.section_after
    return {
        "beforeHash": before.hash if before else None,
        "afterHash": after.hash if after else None,
    }


def _plant_intent(call: Call, request: PlantRequest) -> Intent:
    path = document_to_edit(call.caller, request.path)
    _check_participants(path, request.participants)
    kind = call.services.documents.kinds[str(path.kind)]
    identity = identity_for_new(path, request.participants)
    edit = CreateDocument(kind, request.title or kind.title, identity)
    # Whatever stands there, damaged or not, is somebody's.
    return replace(intent_of(call, "md.plant", request, edit, "plant"), only_new=True)


def _check_participants(path: GardenPath, participants: tuple[str, ...]) -> None:
    """Refuse a relationship between nobody, and participants where no document has any."""
    wanted = path.kind == "relationship_profile"
    if wanted and not participants:
        raise ParticipantsError(
            "A relationship's profile says between whom it is.", hint="Give participants: part ids or names."
        )
    if participants and not wanted:
        raise ParticipantsError(
            "Only a relationship's profile has participants.", hint="Leave participants out here."
        )


def _planted(plan: Plan) -> dict[str, Any]:
    return {"newHash": plan.after.document.hash}


def snapshot_history(call: Call, request: SnapshotRequest) -> Reply:
    """Copy the current version of a document into its history."""
    wish = SnapshotIntent(
        path=document_to_edit(call.caller, request.path),
        tool="md.snapshot_history",
        rationale=request.rationale,
        evidence_refs=request.evidence_refs,
        if_match=request.if_match,
        dry_run=request.dry_run,
    )
    # Without a key of the caller's own nothing is remembered: the same words a version later ask for
    # another copy.
    asked = request_of(call, "md.snapshot_history", wish.path, request) if request.idempotency_key else None
    taken = call.services.snapshots.take(call.caller, wish, asked)
    meta: dict[str, Any] = {"eventId": str(taken.event_id)} if taken.event_id else {"dryRun": True}
    if taken.replayed:
        meta["replayed"] = True
    elif not taken.is_new:
        meta["unchanged"] = True
    return Reply(HistoryPath(history_path=taken.history_path), meta)


def lint_in_words(call: Call, request: PathRequest) -> Reply:
    """Say what lint finds, in sentences."""
    report = read_document(call.services, file_to_read(call.caller, request.path)).report
    reasons = list(report.blocked_reasons) or None
    return Reply(Lint(warnings=list(report.warnings), blocked=report.blocked, blocked_reasons=reasons))


def lint_as_objects(call: Call, request: PathRequest) -> Reply:
    """Say what lint finds, as objects."""
    report = read_document(call.services, file_to_read(call.caller, request.path)).report
    blocks = [_diagnostic(finding) for finding in report.findings if finding.severity == "block"]
    others = [_diagnostic(finding) for finding in report.findings if finding.severity != "block"]
    return Reply(Diagnostics(warnings=others, blocked=report.blocked, blocked_reasons=blocks or None))


def _diagnostic(finding: Finding) -> Diagnostic:
    return Diagnostic(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity.value,
        message=finding.message,
        anchor=finding.anchor,
        line=finding.line,
        column=finding.column,
        fixable=finding.fixable,
    )


_PATCH = Edits(_patch_intent, _hashes)
_CURATE = Edits(_curate_intent, _hashes)
_PLANT = Edits(_plant_intent, _planted)

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "md.list_sections",
        "List sections",
        "Lists the sections of a document: anchor, heading and number of the first line of each.",
        "The anchor is what the other md tools take as sectionAnchor. A section without one has an empty "
        "anchor, "
        "and is named by its heading.",
        PathRequest,
        list[SectionName],
        list_sections,
        Traits(),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "md.patch_section",
        "Change a section",
        "Replaces the body of one section, or appends to it; nothing else in the document changes.",
        "Heading and anchor stay. The new text holds no H1, no H2 and no anchor comment. In profiles and the "
        "overview a Change Log line is added by itself, so give a rationale. Others may edit other "
        "sections at "
        "the same time; send the section's hash as ifMatch to be sure that this one is as you read it.",
        PatchSectionRequest,
        HashesOfChange,
        editing(_PATCH),
        Traits(writes=True, replaces=True, roles=TENDERS),
        {
            "path": "users/ada/parts/critic/profile.md",
            "sectionAnchor": "concerns v1",
            "change": {"replace": "- Says yes before looking at the week"},
            "rationale": "She named it herself today.",
        },
        edits=_PATCH,
    ),
    Tool(
        "md.curate_list",
        "Curate a list",
        "Appends, prunes and merges the items of a section's list.",
        "An evidence item is a short quote with a token: '\"I can't relax\" (ev:s12-m40)'. More than "
        "seven of "
        "them need an overrideRationale. Items stay whole with all that is nested in them; one that is not "
        "found, or found twice, is refused.",
        CurateListRequest,
        HashesOfChange,
        editing(_CURATE),
        Traits(writes=True, replaces=True, roles=TENDERS),
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
        "Keeps a timestamped copy of a document's current version in its history.",
        "Edits of profiles and the overview keep the replaced version by themselves. List copies with "
        "fs.list on "
        "history/{userId}/..., read them with fs.read.",
        SnapshotRequest,
        HistoryPath,
        snapshot_history,
        Traits(writes=True, roles=TENDERS),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "md.lint",
        "Lint a document",
        "Says in sentences what is amiss in a document, and whether anything stops edits.",
        "Warnings never stop an edit by themselves; exceeding a cap further needs an overrideRationale.",
        PathRequest,
        Lint,
        lint_in_words,
        Traits(),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "lint.check",
        "Lint a document, in detail",
        "Gives every finding about a document as an object, with its rule, severity and place.",
        "The same findings as md.lint. Severity block stops edits, cap asks for an overrideRationale when it "
        "grows, style stops nothing.",
        PathRequest,
        Diagnostics,
        lint_as_objects,
        Traits(),
        {"path": "users/ada/parts/critic/profile.md"},
    ),
    Tool(
        "md.plant",
        "Begin a document",
        "Begins a document from the template of its kind, with the right frontmatter, sections and anchors.",
        "The path says the kind. A document that is there is never overwritten. A relationship's profile "
        "takes "
        "participants.",
        PlantRequest,
        NewHash,
        editing(_PLANT),
        Traits(writes=True, roles=TENDERS),
        {"path": "users/ada/parts/critic/profile.md", "title": "The Critic"},
        edits=_PLANT,
    ),
)
