"""Planning: applies an edit in memory, or refuses it. Nothing is written."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from garden.events.payloads import EditPayload
from garden.events.reader import EventReader
from garden.events.records import DocumentChange, Statement
from garden.events.stream import EventName
from garden.files.errors import FileExistsAlreadyError, FileTooLargeError
from garden.files.paths import GardenPath
from garden.grammar.apply import AppliedEdit, apply
from garden.grammar.canonical import canonical
from garden.grammar.change_log import find_change_log, log_entry
from garden.grammar.document import Document, Section
from garden.grammar.edits import (
    AppendLogLine,
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    CurateList,
    Edit,
    RecoveryEdit,
    ReplaceSection,
    ReplaceText,
    RestoreText,
    SectionEdit,
    WriteFile,
)
from garden.grammar.log_claims import log_claims
from garden.grammar.lookup import find_section
from garden.grammar.section_changes import changed_sections
from garden.home.settings import Caps
from garden.lint.comparison import Comparison, compare
from garden.lint.report import Report
from garden.writing.documents import Documents, GardenDocument
from garden.writing.log_claims import log_time, refuse_false_claims
from garden.writing.plan_refusals import (
    NO_DOCUMENT,
    NotTextToWriteError,
    check_precondition,
    override_required,
    refuse_broken,
    refuse_new_damage,
    refuse_still_broken,
)

MOVE_OP = "move"
ERASE_OP = "erase"
ARCHIVE_OP = "archive"
CHANGE_LOG_TYPE = "change_log"
WHOLE = "document"
NO_RATIONALE = "no rationale given"
_NOTHING = Report()
_EVENT_FINDINGS_MAX = 20
_OWED = "An override is owed: say in one line of overrideRationale, with events.log, why this is worth it."
# A diff names old lines, new ones and some around them.
_ROOM_FOR_CONTEXT = 3
_APPENDING = frozenset({"append_file", "append_section", "append_item"})


@dataclass(frozen=True, kw_only=True)
class Intent:
    """The edit that a caller wants, and why.

    `asked` is the request in the caller's own words. `only_new` refuses a document that exists.
    `foreign_log` lets its Change Log name events of another home. `under_lock` makes the edit from the
    version and the document found under the lock.
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
    foreign_log: bool = False
    under_lock: Callable[[int, GardenDocument | None], Edit] | None = None

    def at_version(self, version: int, document: GardenDocument | None) -> "Intent":
        """The intent with the edit for the version and the document found under the lock."""
        return self if self.under_lock is None else replace(self, edit=self.under_lock(version, document))

    @property
    def recovers(self) -> bool:
        """Whether it may edit a damaged document."""
        return isinstance(self.edit, RecoveryEdit)

    @property
    def recreates(self) -> bool:
        """Whether it may make a missing file again."""
        return isinstance(self.edit, RestoreText)


@dataclass(frozen=True)
class Plan:
    """The result of an intent in memory: the new text as `content`, its document and its lint findings.

    If the file is `missing`, `before` is the version in the event log. With `may_owe` a reason that it needs
    may come later.
    """

    intent: Intent
    before: GardenDocument | None
    applied: AppliedEdit
    content: bytes
    after: GardenDocument
    comparison: Comparison
    missing: bool = False
    may_owe: bool = False

    @property
    def unchanged(self) -> bool:
        """Whether the file stays as it is."""
        return self.applied.unchanged and not self.missing

    @property
    def needs_reason(self) -> bool:
        """Whether a cap would be exceeded without a reason; a text that is restored needs none."""
        exceeds = bool(self.comparison.exceeded) and not self.intent.recovers
        return exceeds and not self.intent.override_rationale

    @property
    def owes_reason(self) -> bool:
        """Whether the reason for exceeding a cap is to be given after the write."""
        return self.needs_reason and self.may_owe

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings for the caller."""
        missing = ("The file was missing; it is made anew.",) if self.missing else ()
        owed = (_OWED,) if self.owes_reason else ()
        return (*missing, *self.applied.warnings, *map(str, self.comparison.worse), *owed)

    @property
    def keeps_copy(self) -> bool:
        """Whether the version replaced goes into the history; an empty one does not."""
        return bool(self.before and self.before.document.length) and keeps_copy(
            self.intent.path, self.intent.op
        )

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections that an edit of the whole document changed, without its own Change Log line."""
        if self.applied.section_after is not None:
            return ()
        log = find_change_log(self.after.document, self.after.kind) if self.applied.logged else None
        changed = changed_sections(self.before.document if self.before else None, self.after.document)
        return tuple(name for name in changed if log is None or name != log.name)

    def statement(
        self, answer: Mapping[str, Any], file_time: str | None = None, *, in_transaction: bool | None = None
    ) -> Statement:
        """The statement of the event, with the answer for the caller."""
        intent, section = self.intent, self.applied.section_after
        exceeded = [finding.key for finding in self.comparison.exceeded]
        return Statement(
            type=CHANGE_LOG_TYPE if isinstance(intent.edit, AppendLogLine) else event_type(intent.path),
            op=intent.op,
            tool=intent.tool,
            path=intent.path.text,
            entity=entity_of(intent.path),
            section_anchor=section.name if section else None,
            sections=self.sections,
            rationale=intent.rationale,
            override_rationale=intent.override_rationale,
            evidence_refs=intent.evidence_refs,
            edit=EditPayload(
                asked=dict(intent.asked),
                answer=answer,
                sealed=(section.span.start, section.span.end) if section else None,
                from_version=intent.edit.version if isinstance(intent.edit, RecoveryEdit) else None,
                file_was_missing=self.missing or None,
                file_time=file_time,
                in_transaction=in_transaction,
            ),
            lint={
                "counts": self.after.report.counts,
                "exceeded": exceeded,
                **({"owed": exceeded} if self.owes_reason else {}),
                "new": [str(finding) for finding in self.comparison.worse[:_EVENT_FINDINGS_MAX]],
            },
        )

    def change(self) -> DocumentChange:
        """The change that the event records."""
        section = self.applied.section_after
        return DocumentChange(
            splices=self.applied.splices,
            intended_hash=self.after.document.hash,
            intended_raw_hash=self.after.raw_hash,
            sealed_text=canonical(section.text if section else self.after.text),
        )


@dataclass(frozen=True)
class Planner:
    """Plans edits with the kinds and the limits of this garden."""

    documents: Documents
    reader: EventReader
    document_bytes_max: int
    caps: Caps = "ask"

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
        """Apply an intent in memory, or refuse it; with `may_exceed` a cap needs no reason.

        If the file is `missing`, `before` is the version in the event log.
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
        if before is not None or intent.path.free is None or intent.if_match != NO_DOCUMENT:
            check_precondition(intent.if_match, before, section)
        # Checked before parsing, which takes long for a hundred megabytes.
        if _characters(intent.edit) > self.document_bytes_max * _ROOM_FOR_CONTEXT:
            raise FileTooLargeError(self.document_bytes_max)
        kind = self.documents.kind_of(intent.path)
        entry = _entry(intent, before, name, section)
        applied = apply(document, intent.edit, kind=kind, entry=entry, section=section)
        if not (intent.recovers or intent.foreign_log):
            refuse_false_claims(self.reader, intent.path, log_claims(document, applied.after, kind, entry))
        content = _encode(applied.after)
        if len(content) > self.document_bytes_max:
            raise FileTooLargeError(self.document_bytes_max)
        after = GardenDocument(intent.path, applied.after.raw_hash, applied.after, kind, previous=document)
        comparison = compare(before.report if before else _NOTHING, after.report)
        plan = Plan(intent, before, applied, content, after, comparison, missing, self.caps == "warn")
        if intent.recovers:
            refuse_still_broken(intent.edit, after)
        elif not plan.unchanged:
            refuse_new_damage(after)
        if plan.needs_reason and not (plan.owes_reason or plan.unchanged or may_exceed):
            raise override_required(comparison.exceeded)
        return plan


def _encode(document: Document) -> bytes:
    """Encode a new text, or refuse it."""
    if document.is_plain:
        return document.data
    if "\0" in document.text:
        raise NotTextToWriteError(
            "The text holds a zero byte.", hint="Leave it out, and send the rest again."
        )
    try:
        return document.text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotTextToWriteError(
            "The text holds half a surrogate pair, which is no character.",
            hint="Leave it out, or send the whole character.",
        ) from None


def _characters(edit: Edit) -> int:
    """Count the characters of an edit."""
    match edit:
        case (
            ReplaceSection(text=text)
            | AppendToSection(text=text)
            | AppendToFile(text=text)
            | WriteFile(text=text)
        ):
            return len(text)
        case ReplaceText():
            return len(edit.find) + len(edit.replace)
        case ApplyDiff(diff=diff):
            return len(diff)
        case CurateList(ops=ops):
            return sum(len(str(op)) for op in ops)
        case _:
            return 0


def keeps_copy(path: GardenPath, op: str) -> bool:
    """Whether an op on this document keeps the version that it replaces.

    Appends to notes and free-form documents don't: each would keep a copy of the whole document, which the
    events hold anyway. Nor does a move, which replaces nothing, nor an erasure.
    """
    return op not in {MOVE_OP, ERASE_OP} and not ((path.free or path.kind == "notes") and op in _APPENDING)


def event_type(path: GardenPath) -> str:
    """The type of the event for an edit of this document."""
    match path.kind:
        case "part_profile":
            return "profile_update"
        case "relationship_profile":
            return "relationship_update"
        case kind:
            return f"{kind}_update"


def edit_types(kinds: Iterable[str]) -> frozenset[str]:
    """The types of the events that edits record, in a garden with these kinds of documents."""
    return frozenset({"profile_update", "relationship_update", "folder_update"}) | {
        f"{kind}_update" for kind in kinds
    }


def entity_of(path: GardenPath) -> str:
    """The id of the part, relationship or user that a document is about."""
    return path.entity_id or path.user_id


def _entry(
    intent: Intent, before: GardenDocument | None, name: EventName, section: Section | None
) -> str | None:
    """The Change Log line of a material edit; notes and new documents get none."""
    if before is None or intent.path.kind == "notes":
        return None
    return log_entry(
        log_time(name.at),
        section.name if section else WHOLE,
        intent.op,
        intent.rationale or NO_RATIONALE,
        str(name.event_id),
        intent.override_rationale,
    )
