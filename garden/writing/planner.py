"""Planning: what an edit would make of a document, or why it may not. Nothing is written anywhere."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, ClassVar

from garden.events.records import DocumentChange, Head, Statement
from garden.events.stream import EventName
from garden.files.errors import FileExistsAlreadyError, FileTooLargeError
from garden.files.paths import GardenPath
from garden.files.plain_files import check_content, raw_hash
from garden.grammar.apply import AppliedEdit, apply
from garden.grammar.canonical import canonical
from garden.grammar.change_log import log_entry
from garden.grammar.document import Section
from garden.grammar.edits import (
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    CurateList,
    Edit,
    RecoveryEdit,
    ReplaceSection,
    RestoreText,
    SectionEdit,
    WriteFile,
)
from garden.grammar.errors import GardenError
from garden.grammar.guards import refuse_malformed
from garden.grammar.lookup import find_section
from garden.lint.comparison import Comparison, compare
from garden.lint.finding import Finding, Severity
from garden.lint.report import Report
from garden.writing.documents import Documents, GardenDocument

MOVE_OP = "move"
FILE_WAS_MISSING = "fileWasMissing"
_WHOLE = "document"
_HASH = re.compile("sha256:[0-9a-f]{64}")
_NO_RATIONALE = "no rationale given"
_NOTHING = Report()
_EVENT_FINDINGS_MAX = 20
# A diff names old lines, new ones and some around them.
_ROOM_FOR_CONTEXT = 3
_RULE_OF_PLACE = "MG203"
_IDENTITY_RULES = frozenset({"MG201", "MG202", _RULE_OF_PLACE})
_TEXT_RULES = frozenset({"MG704"})
_APPENDING = frozenset({"append_file", "append_section", "append_item"})


class PreconditionFailedError(GardenError):
    """The document or section is not what the caller believes it to be."""

    code: ClassVar[str] = "precondition_failed"


class OverrideRequiredError(GardenError):
    """The edit would exceed a soft cap, and nobody said why."""

    code: ClassVar[str] = "override_required"


class DocumentDamagedError(GardenError):
    """The document lacks what tools hold on to; no tool edits it before that is mended."""

    code: ClassVar[str] = "document_damaged"


class NotTextToWriteError(GardenError):
    """The new text holds what no document may hold."""

    code: ClassVar[str] = "not_text"


class IdentityRefusedError(GardenError):
    """The new text says something about its identity that its path does not."""

    code: ClassVar[str] = "identity_changed"


class AnchorsRefusedError(GardenError):
    """The new text would leave an anchor where no tool finds it."""

    code: ClassVar[str] = "anchor_changed"


@dataclass(frozen=True, kw_only=True)
class Intent:
    """What a caller wants done to a document, and why.

    `asked` is the edit in the caller's own words. `only_new` refuses to touch a document that is there.
    `under_lock` gives the edit where that depends on which version stands when the document is locked.
    """

    path: GardenPath
    edit: Edit
    tool: str
    op: str
    rationale: str | None = None
    override_rationale: str | None = None
    evidence_refs: tuple[str, ...] = ()
    if_match: str | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    only_new: bool = False
    under_lock: Callable[[int], Edit] | None = None

    @property
    def recovers(self) -> bool:
        """Whether it is for documents that other edits leave alone, since they are damaged."""
        return isinstance(self.edit, RecoveryEdit)

    @property
    def recreates(self) -> bool:
        """Whether it is for documents whose file is missing, too."""
        return isinstance(self.edit, RestoreText)


@dataclass(frozen=True)
class Plan:
    """What an intent makes of a document: the new text and all that is to be known about it.

    Where the file is `missing`, `before` is what the account says of it.
    """

    intent: Intent
    before: GardenDocument | None
    applied: AppliedEdit
    after: GardenDocument
    comparison: Comparison
    missing: bool = False

    @property
    def unchanged(self) -> bool:
        """Whether the file stays as it is."""
        return self.applied.unchanged and not self.missing

    @property
    def needs_reason(self) -> bool:
        """Whether a cap would be exceeded and nobody said why; what stood there once was answered for."""
        exceeds = bool(self.comparison.exceeded) and not self.intent.recovers
        return exceeds and not self.intent.override_rationale

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said about it."""
        missing = ("The file was missing; it is made anew.",) if self.missing else ()
        return (*missing, *self.applied.warnings, *map(str, self.comparison.worse))

    @property
    def section_before(self) -> Section | None:
        """The edited section as it was; None where the whole document was edited."""
        return self.applied.section_before

    @property
    def section_after(self) -> Section | None:
        """The edited section as it will be."""
        return self.applied.section_after

    @property
    def keeps_copy(self) -> bool:
        """Whether the version that is replaced goes into the history; one without text does not."""
        return bool(self.before and self.before.text) and keeps_copy(self.intent.path, self.intent.op)

    @property
    def statement(self) -> Statement:
        """What the event says."""
        intent, section = self.intent, self.section_after
        return Statement(
            type=event_type(intent.path),
            op=intent.op,
            tool=intent.tool,
            path=intent.path.text,
            entity=entity_of(intent.path),
            section_anchor=section.name if section else None,
            rationale=intent.rationale,
            override_rationale=intent.override_rationale,
            evidence_refs=intent.evidence_refs,
            edit={
                "asked": dict(intent.asked),
                **({"sealed": list(section.span)} if section else {}),
                **({"fromVersion": intent.edit.version} if isinstance(intent.edit, RecoveryEdit) else {}),
                **({FILE_WAS_MISSING: True} if self.missing else {}),
            },
            lint=lint_summary(self.after.report, self.comparison),
        )

    def change(self, head: Head) -> DocumentChange:
        """What the event does, from what the account believes to be there."""
        section = self.section_after
        return DocumentChange(
            splice=self.applied.splice,
            before_hash=head.content_hash,
            before_raw_hash=head.raw_hash,
            intended_hash=self.after.document.hash,
            intended_raw_hash=self.after.raw_hash,
            sealed_text=canonical(section.text if section else self.after.text),
        )


class Planner:
    """Plans edits with the kinds and the limits of this garden."""

    def __init__(self, documents: Documents, document_bytes_max: int) -> None:
        self._documents = documents
        self._bytes_max = document_bytes_max

    def plan(
        self,
        intent: Intent,
        before: GardenDocument | None,
        name: EventName,
        damage: Mapping[str, Any] | None = None,
        *,
        may_exceed: bool = False,
        missing: bool = False,
    ) -> Plan:
        """Apply an intent in memory, or refuse; with `may_exceed` a cap without a reason is no refusal.

        Where the file is `missing`, `before` is what the account says of it.
        """
        if before is not None:
            if intent.only_new:
                raise FileExistsAlreadyError
            if not intent.recovers:
                refuse_broken(before, damage)
        document = before.document if before else None
        section = (
            find_section(document, intent.edit.section)
            if document and isinstance(intent.edit, SectionEdit)
            else None
        )
        check_precondition(intent.if_match, before, section)
        # Before anything is made of it: parsing a hundred megabytes takes long, only to say it is too much.
        if _characters(intent.edit) > self._bytes_max * _ROOM_FOR_CONTEXT:
            raise FileTooLargeError(self._bytes_max)
        kind = self._documents.kind_of(intent.path)
        entry = _entry(intent, before, name, section)
        applied = apply(document, intent.edit, kind=kind, entry=entry, section=section)
        content = _encoded(applied.text)
        check_content(content, self._bytes_max)
        after = GardenDocument(intent.path, raw_hash(content), applied.after, kind, previous=document)
        comparison = compare(before.report if before else _NOTHING, after.report)
        plan = Plan(intent, before, applied, after, comparison, missing)
        if intent.recovers:
            refuse_still_broken(intent, after)
        elif not plan.unchanged:
            refuse_new_damage(after)
        if plan.needs_reason and not plan.unchanged and not may_exceed:
            raise _override_required(comparison.exceeded)
        return plan


def _encoded(text: str) -> bytes:
    """Give the bytes of a new text, or refuse: the file was text, so the words sent are at fault."""
    if "\0" in text:
        raise NotTextToWriteError(
            "The text holds a zero byte.", hint="Leave it out, and send the rest again."
        )
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotTextToWriteError(
            "The text holds half a surrogate pair, which is no character.",
            hint="Leave it out, or send the whole character.",
        ) from None


def _characters(edit: Edit) -> int:
    """Count the words of an edit."""
    match edit:
        case (
            ReplaceSection(text=text)
            | AppendToSection(text=text)
            | AppendToFile(text=text)
            | WriteFile(text=text)
        ):
            return len(text)
        case ApplyDiff(diff=diff):
            return len(diff)
        case CurateList(ops=ops):
            return sum(len(str(op)) for op in ops)
        case _:
            return 0


def keeps_copy(path: GardenPath, op: str) -> bool:
    """Tell whether an edit of this sort keeps the version that it replaces.

    Appends to notes don't: each would keep a copy of all that came before, and the events hold it anyway. Nor
    does a move, which replaces nothing.
    """
    return op != MOVE_OP and not (path.document_name == "notes" and op in _APPENDING)


def event_type(path: GardenPath) -> str:
    """Name what an edit of this document is an update of."""
    match path.kind:
        case "part_profile":
            return "profile_update"
        case "relationship_profile":
            return "relationship_update"
        case kind:
            return f"{kind}_update"


def entity_of(path: GardenPath) -> str:
    """Name whom a document is about: a part, a relationship, or the user."""
    return path.entity_id or path.user_id


def lint_summary(report: Report, comparison: Comparison) -> dict[str, Any]:
    """Say for the event what lint found, and what the edit made worse."""
    return {
        "counts": report.counts,
        "exceeded": [finding.key for finding in comparison.exceeded],
        "new": [str(finding) for finding in comparison.worse[:_EVENT_FINDINGS_MAX]],
    }


def _entry(
    intent: Intent, before: GardenDocument | None, name: EventName, section: Section | None
) -> str | None:
    """Write the Change Log line of a material edit; notes and new documents get none."""
    if before is None or intent.path.document_name == "notes":
        return None
    return log_entry(
        name.at.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ"),
        section.name if section else _WHOLE,
        intent.op,
        intent.rationale or _NO_RATIONALE,
        str(name.event_id),
        intent.override_rationale,
    )


def check_precondition(
    if_match: str | None, before: GardenDocument | None, section: Section | None = None
) -> None:
    """Refuse where the hash that a caller knows is neither the document's nor the edited section's."""
    if if_match is None:
        return
    current: dict[str, str] = {}
    if before is not None:
        current["documentHash"] = before.document.hash
        if section is not None:
            current["sectionHash"] = section.hash
    if not _HASH.fullmatch(if_match):
        # Still no bad argument: an entity tag that nothing has is a precondition that does not hold.
        raise PreconditionFailedError(
            "ifMatch is no hash, so it can't be the current one.",
            hint="A hash reads 'sha256:' and 64 hexadecimal digits; fs.hash gives the current one.",
            details=current,
        )
    if if_match not in current.values():
        raise PreconditionFailedError(
            "It has changed since you read it: ifMatch is not its current hash."
            if before
            else "There is no document here yet, so ifMatch can't hold.",
            hint="Read it again, make your change to what it says now, and send the hash of that."
            if before
            else "Leave ifMatch out to begin a document.",
            details=current,
        )


def refuse_broken(
    before: GardenDocument, damage: Mapping[str, Any] | None, *, but_for_place: bool = False
) -> None:
    """Refuse to work on what lacks the things that tools hold on to; a move may mend a wrong place."""
    refuse_malformed(before.document)
    findings = before.report.of(Severity.BLOCK)
    found = [str(finding) for finding in findings if not (but_for_place and finding.rule == _RULE_OF_PLACE)]
    reasons = [*_said(damage), *found]
    if reasons:
        raise DocumentDamagedError(
            f"This document is damaged, and no tool edits it: {reasons[0]}",
            hint="A maintainer has md.repair ('garden repair') put back what is missing, or md.restore "
            "('garden restore') an earlier version. Its owner can mend it with any editor.",
            details={"reasons": reasons},
        )


def refuse_still_broken(intent: Intent, after: GardenDocument) -> None:
    """Refuse a recovery after which tools would still leave the document alone."""
    reasons = list(after.report.blocked_reasons)
    if not reasons:
        return
    if isinstance(intent.edit, RestoreText):
        message = f"Version {intent.edit.version} is damaged itself"
        hint = "Choose another one; events.query with this path lists them."
    else:
        message = "Something is amiss that only a person can mend"
        hint = "Mend it with any editor, or put an earlier version back with md.restore ('garden restore')."
    raise DocumentDamagedError(f"{message}: {reasons[0]}", hint=hint, details={"reasons": reasons})


def _said(damage: Mapping[str, Any] | None) -> list[str]:
    if not damage:
        return []
    gone = [f"an edit from outside took out the anchor '{anchor}'." for anchor in damage.get("anchors", [])]
    other = [
        f"an edit from outside changed '{key}' in the frontmatter." for key in damage.get("identity", {})
    ]
    return gone + other


def refuse_new_damage(after: GardenDocument) -> None:
    """Refuse a text that tools could not work on any more."""
    if not after.report.blocked:
        return
    reasons = after.report.blocked_reasons
    rules = {finding.rule for finding in after.report.of(Severity.BLOCK)}
    details = {"reasons": list(reasons)}
    if rules & _TEXT_RULES:
        raise NotTextToWriteError(
            f"The new text is not plain text: {reasons[0]}",
            hint="Leave such characters out.",
            details=details,
        )
    if rules & _IDENTITY_RULES:
        raise IdentityRefusedError(
            f"The frontmatter does not fit the path: {reasons[0]}",
            hint="Begin the document with md.plant, which writes the right frontmatter, and edit it then.",
            details=details,
        )
    raise AnchorsRefusedError(
        f"The anchors would not be where tools look for them: {reasons[0]}",
        hint="Put each section's anchor comment on the line right after its heading; md.plant writes them.",
        details=details,
    )


def _override_required(exceeded: tuple[Finding, ...]) -> OverrideRequiredError:
    return OverrideRequiredError(
        f"This would exceed a soft cap: {exceeded[0]}",
        hint="Take something out first, or say in one line of overrideRationale why it is worth it.",
        details={"findings": [str(finding) for finding in exceeded]},
    )
