"""Refusals of plans: a stale hash, a damaged document, a damaging text, a cap without a reason."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from garden.grammar.canonical import content_hash
from garden.grammar.document import Section
from garden.grammar.edits import Edit, RestoreText
from garden.grammar.errors import GardenError
from garden.grammar.guards import refuse_malformed
from garden.lint.finding import Finding, Severity
from garden.writing.documents import GardenDocument

_HASH = re.compile("sha256:[0-9a-f]{64}")
RULE_OF_PLACE = "MG203"
_IDENTITY_RULES = frozenset({"MG201", "MG202", RULE_OF_PLACE})
_TEXT_RULES = frozenset({"MG704"})


class PreconditionFailedError(GardenError):
    """The document or section has another hash than the caller sent."""

    code: ClassVar[str] = "precondition_failed"


class OverrideRequiredError(GardenError):
    """The edit would exceed a soft cap, and gives no reason."""

    code: ClassVar[str] = "override_required"


class DocumentDamagedError(GardenError):
    """The document lost anchors or identity; no tool edits it until it is repaired."""

    code: ClassVar[str] = "document_damaged"


class NotTextToWriteError(GardenError):
    """The new text holds characters that no document may hold."""

    code: ClassVar[str] = "not_text"


class IdentityRefusedError(GardenError):
    """The new text gives an identity that its path does not."""

    code: ClassVar[str] = "identity_changed"


class AnchorsRefusedError(GardenError):
    """The new text would leave an anchor where no tool finds it."""

    code: ClassVar[str] = "anchor_changed"


NO_DOCUMENT = content_hash("")
"""The `ifMatch` that only begins a free-form document; also that of an archived one, which is empty."""


def check_precondition(
    if_match: str | None, before: GardenDocument | None, section: Section | None = None
) -> None:
    """Refuse an `ifMatch` that is neither the document's hash nor the edited section's."""
    if if_match is None:
        return
    current: dict[str, str] = {}
    if before is not None:
        current["documentHash"] = before.document.hash
        if section is not None:
            current["sectionHash"] = section.hash
    if not _HASH.fullmatch(if_match):
        # Not an invalid argument: an entity tag that no document has is a precondition that fails.
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
            hint="Read it again, apply your edit to the current text, and send its hash."
            if before
            else "Leave ifMatch out to begin a document.",
            details=current,
        )


def refuse_broken(
    before: GardenDocument, damage: Mapping[str, Any] | None, *, but_for_place: bool = False
) -> None:
    """Refuse a document without its anchors or identity; a move may correct a wrong place."""
    refuse_malformed(before.document, before.kind)
    findings = before.report.of(Severity.BLOCK)
    found = [str(finding) for finding in findings if not (but_for_place and finding.rule == RULE_OF_PLACE)]
    reasons = [*_damage_reasons(damage), *found]
    if reasons:
        raise DocumentDamagedError(
            f"This document is damaged, and no tool edits it: {reasons[0]}",
            hint="A maintainer can put back what is missing with md.repair ('garden repair'), or an earlier "
            "version with md.restore ('garden restore'). Its owner can fix it with any editor.",
            details={"reasons": reasons},
        )


def refuse_still_broken(edit: Edit, after: GardenDocument) -> None:
    """Refuse a recovery that leaves the document damaged."""
    reasons = list(after.report.blocked_reasons)
    if not reasons:
        return
    if isinstance(edit, RestoreText):
        message = f"Version {edit.version} is damaged itself"
        hint = "Choose another one; events.query with this path lists them."
    else:
        message = "Only a person can repair this"
        hint = "Fix it with any editor, or put back an earlier version with md.restore ('garden restore')."
    raise DocumentDamagedError(f"{message}: {reasons[0]}", hint=hint, details={"reasons": reasons})


def _damage_reasons(damage: Mapping[str, Any] | None) -> list[str]:
    if not damage:
        return []
    gone = [f"an edit from outside took out the anchor '{anchor}'." for anchor in damage.get("anchors", [])]
    other = [
        f"an edit from outside changed '{key}' in the frontmatter." for key in damage.get("identity", {})
    ]
    return gone + other


def refuse_new_damage(after: GardenDocument) -> None:
    """Refuse a text on which no tool could work."""
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
            hint="Create the document with md.plant, which writes the right frontmatter, then edit it.",
            details=details,
        )
    raise AnchorsRefusedError(
        f"The anchors would not be where tools look for them: {reasons[0]}",
        hint="Put each section's anchor comment on the line right after its heading; md.plant writes them.",
        details=details,
    )


def override_required(exceeded: tuple[Finding, ...]) -> OverrideRequiredError:
    """Return the refusal for exceeded caps without a reason."""
    return OverrideRequiredError(
        f"This would exceed a soft cap: {exceeded[0]}",
        hint="Take something out first, or say in one line of overrideRationale why it is worth it.",
        details={"findings": [str(finding) for finding in exceeded]},
    )
