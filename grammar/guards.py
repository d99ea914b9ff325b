"""The guards: what no edit may do, checked on every result before anyone may write it.

They know nothing of how an edit is made. They read the text before and the text after, and compare: the
anchors and their headings, the identity, the Change Log, and for an edit of one section all bytes outside it.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping

from garden.grammar.change_log import change_logs, goes_on_from, refuse_rewriting
from garden.grammar.document import Document, Section
from garden.grammar.edits import (
    AppendToFile,
    AppendToSection,
    CreateDocument,
    CurateList,
    Edit,
    ReplaceSection,
)
from garden.grammar.frontmatter_block import IDENTITY_KEYS, ambiguous_scalars
from garden.grammar.kinds.declaration import Kind
from garden.grammar.lines import split_any_lines
from garden.grammar.lookup import find_section
from garden.grammar.pieces import pieces_of
from garden.grammar.refusals import (
    AlreadyExistsError,
    AnchorChangedError,
    IdentityChangedError,
    MalformedDocumentError,
    PatchConflictError,
)
from garden.grammar.values import Anchor, Heading

_ABSENT = object()
_SECTION_LEVEL = 2
_MARKS = re.compile(r"[\W_]+")
_HINT_OPEN = "Close every fence, HTML comment and HTML tag in the new text."


def check(
    before: Document | None,
    after: Document,
    edit: Edit,
    kind: Kind | None = None,
    *,
    log: Section | None = None,
    log_body: str = "",
) -> None:
    """Refuse a result that does what no edit may do; `before` is None where a document begins.

    `log` is the Change Log where an edit of another section brought a line for it, `log_body` what its body
    must be then, to the letter.
    """
    if before is not None and isinstance(edit, CreateDocument):
        raise AlreadyExistsError("A document stands here already.", hint="Edit it, or choose another place.")
    _check_frontmatter(before, after)
    if before is None:
        _check_new_anchors(Counter(), after)
        return
    _check_identity(before, after)
    _check_anchors(before, after)
    _check_change_log(before, after, kind)
    if isinstance(edit, ReplaceSection | AppendToSection | CurateList):
        section = find_section(before, edit.section)
        wanted = {log.span.start: log.text[: len(log.text) - len(log.body)] + log_body} if log else {}
        _check_untouched(before, after, section, wanted)
    if isinstance(edit, AppendToFile) and not after.text.startswith(before.text):
        raise PatchConflictError(
            "An append would change what stands above.", hint="Edit the section instead."
        )


def check_whole(after: Document) -> None:
    """Refuse a result that is not whole, of an edit whose document need not have been."""
    _check_frontmatter(None, after)
    _check_new_anchors(Counter(), after)


def refuse_malformed(document: Document) -> None:
    """Refuse to edit a document whose frontmatter can't be trusted."""
    faults = [problem.message for problem in document.problems if problem.code.startswith("frontmatter_")]
    if document.malformed:
        raise MalformedDocumentError(
            f"The frontmatter of this document is malformed: {' '.join(faults)}",
            hint="A maintainer has md.repair ('garden repair') put it back, or md.restore ('garden restore') "
            "an earlier version. Its owner can mend the block at the top with any editor.",
            details={"faults": faults},
        )


def _check_frontmatter(before: Document | None, after: Document) -> None:
    if before is not None:
        refuse_malformed(before)
    if after.malformed:
        faults = [problem.message for problem in after.problems if problem.code.startswith("frontmatter_")]
        raise MalformedDocumentError(
            f"The result would have malformed frontmatter. {' '.join(faults)}",
            hint="Keep one block of plain `key: value` lines between two `---` lines at the very top.",
            details={"faults": faults},
        )


def _check_identity(before: Document, after: Document) -> None:
    old, new = before.values, after.values
    changed = [
        key
        for key in IDENTITY_KEYS
        if not _same(old.get(key, _ABSENT), new.get(key, _ABSENT)) or _reads_differently(before, after, key)
    ]
    if changed:
        raise IdentityChangedError(
            f"The result would change the identity of the document: {', '.join(changed)}.",
            hint="Keep id, user_id, schema and participants as they are; all other keys are free.",
            details={"keys": changed},
        )


def _reads_differently(before: Document, after: Document, key: str) -> bool:
    """Tell whether a value that this reader finds unchanged is another one to a reader of other YAML."""
    old, new = before.frontmatter, after.frontmatter
    if old is None or new is None or old.raw == new.raw:
        return False
    return ambiguous_scalars(old.raw, key) != ambiguous_scalars(new.raw, key)


def _same(before: object, after: object) -> bool:
    """Compare values without taking 1, 1.0 and true for one another."""
    if type(before) is not type(after):
        return False
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(map(_same, before, after))
    return before == after


def _check_anchors(before: Document, after: Document) -> None:
    _check_kept_anchors(before, after)
    _check_new_anchors(_counts(before), after)
    _check_headings_of_anchors(before, after)
    _check_strays(before, after)


def _counts(document: Document) -> Counter[Anchor]:
    return Counter(section.anchor for section in document.sections if section.anchor)


def _check_kept_anchors(before: Document, after: Document) -> None:
    gone = sorted({str(anchor) for anchor, _ in _comments(before) - _comments(after)})
    if gone:
        raise AnchorChangedError(
            f"The result would remove or alter the anchor of {', '.join(gone)}.",
            hint="Keep every anchor comment as it is, on the line right after its heading; "
            "a fence or comment left open above it has the same effect as taking it away.",
            details={"anchors": gone},
        )


def _comments(document: Document) -> set[tuple[Anchor, str]]:
    return {
        (section.anchor, section.anchor_span.of(document.text).strip(" \t\r\n"))
        for section in document.sections
        if section.anchor and section.anchor_span
    }


def _check_new_anchors(before: Counter[Anchor], after: Document) -> None:
    repeated = sorted(
        str(anchor) for anchor, count in _counts(after).items() if count > max(before[anchor], 1)
    )
    if repeated:
        raise AnchorChangedError(
            f"The result would hold an anchor twice: {', '.join(repeated)}.",
            hint="Each anchor names one section. Give a new section an anchor of its own, or none.",
            details={"anchors": repeated},
        )


def _check_headings_of_anchors(before: Document, after: Document) -> None:
    """Refuse an anchor under a heading that was another section's, or beside the heading it had.

    A heading may be reworded: then its old words stand nowhere else, and its new ones are new.
    """
    if _heads(before) == _heads(after):
        return
    # To the letter first, for "C" and "C++" are two headings; then by their words, for "c" and "C" are one.
    moved = _moved(before, after, _text) or _moved(before, after, _words)
    if moved:
        raise AnchorChangedError(
            f"The result would move an anchor to another heading: {', '.join(moved)}.",
            hint="An anchor stays with its heading; move heading, anchor and body together.",
            details={"anchors": moved},
        )


def _heads(document: Document) -> list[tuple[Anchor | None, str]]:
    return [(section.anchor, section.heading.text) for section in document.sections]


def _moved(before: Document, after: Document, said_by: Callable[[Heading], str]) -> list[str]:
    own: dict[Anchor, set[str]] = {}
    for section in before.sections:
        if section.anchor:
            own.setdefault(section.anchor, set()).add(said_by(section.heading))
    old = {said_by(section.heading) for section in before.sections}
    new = {said_by(section.heading) for section in after.sections}
    # A section's old heading may also have become a heading of another level.
    new |= _outside_sections(after, said_by) - _outside_sections(before, said_by)
    return [
        section.name
        for section in after.sections
        if section.anchor in own
        and (said := said_by(section.heading)) not in own[section.anchor]
        and (said in old or own[section.anchor] & new)
    ]


def _outside_sections(document: Document, said_by: Callable[[Heading], str]) -> set[str]:
    return {said_by(heading) for heading in document.headings if heading.level != _SECTION_LEVEL}


def _text(heading: Heading) -> str:
    return heading.text


def _words(heading: Heading) -> str:
    return _MARKS.sub(" ", heading.text).strip().casefold() or heading.text


def _check_strays(before: Document, after: Document) -> None:
    """Refuse to lose or to add an anchor that stands where none belongs."""
    old, new = _strays(before), _strays(after)
    gone, added = old - new, new - old
    if gone:
        # One that has become code, or stands in a list now, isn't lost.
        mentioned = _mentioned(after)
        gone = {stray for stray in gone if _from_comment(stray) not in mentioned}
    if gone or added:
        raise AnchorChangedError(
            f"The result would {'lose' if gone else 'add'} an anchor comment that names no section.",
            hint="Anchor comments stand on the line right after an H2 heading and nowhere else.",
            details={"anchors": sorted(gone or added)},
        )


def _mentioned(document: Document) -> set[str]:
    return {_from_comment(line) for line in split_any_lines(document.text) if "@anchor" in line}


def _from_comment(line: str) -> str:
    return line[max(line.find("<!--"), 0) :].strip()


def _strays(document: Document) -> set[str]:
    return {
        problem.span.of(document.text).strip()
        for problem in document.problems
        if problem.code == "anchor_stray"
    }


def _check_change_log(before: Document, after: Document, kind: Kind | None) -> None:
    for log in change_logs(before, kind):
        grown = [section for section in after.sections if section.anchor == log.anchor]
        if not all(goes_on_from(log, section) for section in grown):
            raise refuse_rewriting()


def _check_untouched(before: Document, after: Document, section: Section, wanted: Mapping[int, str]) -> None:
    """Refuse any change outside the body of this section but those wanted, by where a piece begins."""
    old, new = pieces_of(before), pieces_of(after)
    if len(old) != len(new):
        raise PatchConflictError(
            "The edit would make a section appear or disappear.",
            hint=_HINT_OPEN,
        )
    for piece, result in zip(old, new, strict=True):
        own = piece.start == section.span.start
        expected = wanted.get(piece.start, piece.text)
        if piece.head != result.head if own else expected != result.text:
            raise PatchConflictError("The edit would change bytes outside its section.", hint=_HINT_OPEN)
