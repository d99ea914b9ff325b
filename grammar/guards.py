"""The guards: checks on the result of every edit before it may be written.

They do not depend on how an edit is made. They compare the text before and after: the anchors and their
headings, the identity, the Change Log, and for a section edit every byte outside the section.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter

from garden.grammar.change_log import (
    body_with_entry,
    change_log_refusal,
    change_logs,
    find_change_log,
    is_extended,
)
from garden.grammar.document import Document, Section
from garden.grammar.edits import (
    AppendLogLine,
    AppendToFile,
    AppendToSection,
    ArchiveDocument,
    CreateDocument,
    CurateList,
    Edit,
    ReplaceSection,
)
from garden.grammar.file_edits import entry_section
from garden.grammar.frontmatter_block import IDENTITY_KEYS, ambiguous_scalars
from garden.grammar.kinds.declaration import Kind, is_free
from garden.grammar.lines import split_any_lines
from garden.grammar.log_roll import count_roll_lines, may_roll, read_log
from garden.grammar.lookup import find_section
from garden.grammar.refusals import (
    AlreadyExistsError,
    AnchorChangedError,
    IdentityChangedError,
    InvalidInputError,
    MalformedDocumentError,
    PatchConflictError,
)
from garden.grammar.values import Anchor, Heading

_ABSENT = object()
_SECTION_LEVEL = 2
_HINT_OPEN = "Close every fence, HTML comment and HTML tag in the new text."


def check_edit(
    before: Document | None,
    after: Document,
    edit: Edit,
    kind: Kind | None = None,
    *,
    section: Section | None = None,
    log: Section | None = None,
    log_body: str = "",
) -> None:
    """Refuse a result that no edit may have; `before` is None for a new document.

    `section` is the only section of `before` that the edit may change; it is looked up if not given. `log` is
    the Change Log if an edit of another section adds a line to it; its body must then equal `log_body`.
    """
    if before is not None and isinstance(edit, CreateDocument):
        raise AlreadyExistsError("A document already exists here.", hint="Edit it, or choose another path.")
    changed = after.changes_since(before) if before else None
    if not is_free(kind):
        _check_structure(before, after, changed)
    if before is None:
        return
    if isinstance(edit, ArchiveDocument):
        _check_archived(after, kind)
        return
    _check_change_log(before, after, kind)
    section = section or _edited_section(before, edit, kind)
    if section is not None:
        head = log.text[: log.content.head_end] if log else ""
        wanted = {before.number_of(log): head + log_body} if log else {}
        _check_untouched(before, after, section, wanted, changed)
    if isinstance(edit, AppendLogLine) and not _is_log_line(before, after, edit, section):
        raise change_log_refusal()
    if isinstance(edit, AppendToFile) and not _is_appended(before, after, section):
        raise PatchConflictError(
            "The append would change the text above it.", hint="Edit the section instead."
        )


def _check_structure(before: Document | None, after: Document, changed: list[int] | None) -> None:
    """Refuse to damage what a document that is not free-form must keep."""
    _check_frontmatter(before, after)
    if before is None:
        _check_new_anchors(Counter(), after)
        return
    _check_identity(before, after)
    _check_anchors(before, after, changed)


def _check_archived(after: Document, kind: Kind | None) -> None:
    if after.length or not is_free(kind):
        raise PatchConflictError(
            "An archived document is a free-form one without a text.", hint="Archive it with fs.archive."
        )


def _is_log_line(before: Document, after: Document, edit: AppendLogLine, log: Section | None) -> bool:
    """Whether the Change Log has just this line more."""
    if log is None:
        return after.text == before.text
    grown = after.section(before.number_of(log))
    return grown.body == body_with_entry(before, log, edit.line)


def _edited_section(before: Document, edit: Edit, kind: Kind | None) -> Section | None:
    """Return the only section that the edit may change; None if it may change the whole document."""
    if isinstance(edit, ReplaceSection | AppendToSection | CurateList):
        return find_section(before, edit.section)
    return entry_section(before, kind, edit.text) if isinstance(edit, AppendToFile) else None


def _is_appended(before: Document, after: Document, section: Section | None) -> bool:
    """Whether the text above an appended entry is as it was."""
    if section is None:
        return after.text.startswith(before.text)
    grown = after.section(before.number_of(section))
    return grown.layout.words.startswith(section.layout.words)


def check_erasure(before: Document, after: Document) -> None:
    """Refuse an erasure that removes an anchor or changes the identity of a document that has them."""
    _check_kept_anchors(before, after)
    _check_new_anchors(_counts(before), after)
    _check_strays(before, after)
    if not before.malformed:
        _check_frontmatter(before, after)
        _check_identity(before, after)


def check_whole(after: Document, kind: Kind | None = None) -> None:
    """Refuse a damaged result of an edit that accepts a damaged document."""
    if is_free(kind):
        return
    _check_frontmatter(None, after)
    _check_new_anchors(Counter(), after)


def refuse_malformed(document: Document, kind: Kind | None = None) -> None:
    """Refuse to edit a document whose frontmatter can't be trusted; a free-form document needs none."""
    if document.malformed and not is_free(kind):
        faults = _frontmatter_faults(document)
        raise MalformedDocumentError(
            f"The frontmatter of this document is malformed: {' '.join(faults)}",
            hint="A maintainer can repair it with md.repair ('garden repair'), or restore an earlier version "
            "with md.restore ('garden restore'). Its owner can correct the block at the top with any editor.",
            details={"faults": faults},
        )


def _frontmatter_faults(document: Document) -> list[str]:
    return [problem.message for problem in document.problems if problem.code.startswith("frontmatter_")]


def _check_frontmatter(before: Document | None, after: Document) -> None:
    if before is not None:
        refuse_malformed(before)
    if after.malformed:
        faults = _frontmatter_faults(after)
        raise MalformedDocumentError(
            f"The result would have malformed frontmatter. {' '.join(faults)}",
            hint="Keep one block of plain `key: value` lines between two `---` lines at the very top.",
            details={"faults": faults},
        )


def _check_identity(before: Document, after: Document) -> None:
    if before.frontmatter is after.frontmatter:
        return
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
    """Whether a value that is unchanged in YAML 1.1 may have changed for a reader of YAML 1.2."""
    old, new = before.frontmatter, after.frontmatter
    if old is None or new is None or old.raw == new.raw:
        return False
    return ambiguous_scalars(old.raw, key) != ambiguous_scalars(new.raw, key)


def _same(before: object, after: object) -> bool:
    """Compare values; 1, 1.0 and true are different."""
    if type(before) is not type(after):
        return False
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(map(_same, before, after))
    return before == after


def _check_anchors(before: Document, after: Document, changed: list[int] | None) -> None:
    if changed is not None and _has_same_heads(before, after, changed):
        return
    _check_kept_anchors(before, after)
    _check_new_anchors(_counts(before), after)
    _check_headings_of_anchors(before, after)
    _check_strays(before, after)


def _has_same_heads(before: Document, after: Document, changed: Iterable[int]) -> bool:
    """Whether the contents that changed have their headings and anchors as before, and nowhere else one."""
    for number in changed:
        old, new = before.contents[number], after.contents[number]
        if old.level != new.level or old.head != new.head or old.strays or new.strays:
            return False
    return True


def _counts(document: Document) -> Counter[Anchor]:
    return Counter(section.anchor for section in document.sections if section.anchor)


def _check_kept_anchors(before: Document, after: Document) -> None:
    gone = sorted({str(anchor) for anchor, _ in _comments(before) - _comments(after)})
    if gone:
        raise AnchorChangedError(
            f"The result would remove or alter the anchor of {', '.join(gone)}.",
            hint="Keep every anchor comment as it is, on the line right after its heading; "
            "a fence or comment left open above an anchor hides it.",
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
            f"The result would contain an anchor twice: {', '.join(repeated)}.",
            hint="Each anchor names one section. Give a new section an anchor of its own, or none.",
            details={"anchors": repeated},
        )


def _check_headings_of_anchors(before: Document, after: Document) -> None:
    """Refuse an anchor that moved to another section's heading or away from its own.

    A heading may be reworded, if its old words are gone and its new words are new.
    """
    if _heads(before) == _heads(after):
        return
    # Compare the exact text first, because "C" and "C++" differ, then the words, because "c" and "C" do not.
    moved = _moved(before, after, attrgetter("text")) or _moved(before, after, attrgetter("words"))
    if moved:
        raise AnchorChangedError(
            f"The result would move an anchor to another heading: {', '.join(moved)}.",
            hint="An anchor stays with its heading; move heading, anchor and body together.",
            details={"anchors": moved},
        )


def _heads(document: Document) -> list[tuple[Anchor | None, str]]:
    return [(section.anchor, section.heading.text) for section in document.sections]


def _moved(before: Document, after: Document, key: Callable[[Heading], str]) -> list[str]:
    own: dict[Anchor, set[str]] = {}
    for section in before.sections:
        if section.anchor:
            own.setdefault(section.anchor, set()).add(key(section.heading))
    old = {key(section.heading) for section in before.sections}
    new = {key(section.heading) for section in after.sections}
    # A section's old heading may have become a heading of another level.
    new |= _outside_sections(after, key) - _outside_sections(before, key)
    return [
        section.name
        for section in after.sections
        if section.anchor in own
        and (words := key(section.heading)) not in own[section.anchor]
        and (words in old or own[section.anchor] & new)
    ]


def _outside_sections(document: Document, key: Callable[[Heading], str]) -> set[str]:
    return {key(heading) for heading in document.headings if heading.level != _SECTION_LEVEL}


def _check_strays(before: Document, after: Document) -> None:
    """Refuse to lose or add an anchor comment that belongs to no section."""
    old, new = _strays(before), _strays(after)
    gone, added = old - new, new - old
    if gone:
        # A comment that is now in code or in a list is not lost.
        mentioned = _mentioned(after)
        gone = {stray for stray in gone if _from_comment(stray) not in mentioned}
    if gone or added:
        raise AnchorChangedError(
            f"The result would {'lose' if gone else 'add'} an anchor comment that names no section.",
            hint="Anchor comments belong on the line right after an H2 heading and nowhere else.",
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
    for log in [section.content for section in change_logs(before, kind)]:
        if is_free(kind) and log.anchor and not after.numbers_with(log.anchor):
            raise change_log_refusal()
        for number in after.numbers_with(log.anchor) if log.anchor else ():
            later = after.contents[number]
            if later is log:
                continue
            if not is_extended(log, later):
                raise change_log_refusal()
            if count_roll_lines(later.body) > count_roll_lines(log.body):
                raise InvalidInputError(
                    "A line that stands for earlier lines of the Change Log can't be written by hand.",
                    hint="Leave it out; the log rolls by itself.",
                )


def check_roll(before: Document | None, edited: Document, rolled: Document, kind: Kind | None) -> None:
    """Refuse a roll of the Change Log that does more than take out its oldest lines.

    `before` is the document before the write, `edited` after its edit, `rolled` without the oldest lines.
    """
    earlier, log = find_change_log(before, kind) if before else None, find_change_log(edited, kind)
    after = find_change_log(rolled, kind)
    if earlier is None or log is None or after is None:
        raise change_log_refusal()
    _check_untouched(edited, rolled, log, {}, rolled.changes_since(edited))
    words = log.layout.words
    old, new = read_log(words), read_log(after.layout.words)
    is_exact = new.lead == old.lead and new.lines == old.lines[new.rolled - old.rolled :]
    is_due = may_roll(words) and old.rolled < new.rolled <= read_log(earlier.layout.words).written
    if not (is_exact and is_due):
        raise change_log_refusal()


def _check_untouched(
    before: Document, after: Document, section: Section, wanted: Mapping[int, str], changed: list[int] | None
) -> None:
    """Refuse any change outside the body of this section; `wanted` holds other expected texts by number."""
    if changed is None:
        raise PatchConflictError(
            "The edit would make a section appear or disappear.",
            hint=_HINT_OPEN,
        )
    own = before.number_of(section)
    for number in {*changed, *wanted}:
        old, new = before.contents[number], after.contents[number]
        expected = wanted.get(number, old.text)
        if old.head != new.head if number == own else expected != new.text:
            raise PatchConflictError("The edit would change bytes outside its section.", hint=_HINT_OPEN)
