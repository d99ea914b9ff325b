"""Repairs a text: puts back missing anchors and identity, and keeps every line that the person wrote.

The last good text decides what belongs where. For each missing anchor the first of these rules that applies:

1. Its heading is still there: the comment goes directly below it.
2. Its comment is still there: the heading directly above takes it if it has no anchor; else the old heading
   goes back above the comment.
3. A new heading is above words of the section: the heading was reworded and keeps its new words.
4. All words of the section are where they were, under the section before: heading and comment go above them.
5. Nothing is left: heading and comment come back empty, where the section was.

If two places are possible, the repair is refused.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from garden.grammar.body import layout_of
from garden.grammar.canonical import canonical
from garden.grammar.document import Document, Section
from garden.grammar.frontmatter_repair import RepairStep, repair_frontmatter
from garden.grammar.lines import flat, split_any_lines, with_newlines
from garden.grammar.parser import parse
from garden.grammar.refusals import NotRepairableError
from garden.grammar.text_checks import has_open_end
from garden.grammar.values import Span

_LEFTOVER = re.compile(
    r"[ \t]*<?!?[-\u2013\u2014]{0,3}[ \t]*@anchor\b[: \t]*(?P<id>[A-Za-z0-9][A-Za-z0-9_-]*)?"
    r"(?:[ \t]+v?(?P<version>[0-9]{0,9}))?[ \t]*[-\u2013\u2014]{0,3}>?(?P<rest>[ \t]*)"
)
_COMMENT_AND_WORDS = re.compile(
    r"[ \t]*<!--[ \t]*@anchor:[ \t]*(?P<id>[A-Za-z0-9][A-Za-z0-9_-]*)[ \t]+v(?P<version>[0-9]{1,9})"
    r"[ \t]*-->[ \t]*(?P<rest>.*)"
)
_BY_HAND = "Put the comment right below its heading with an editor, or restore an earlier version."


@dataclass(frozen=True)
class RepairedText:
    """The repaired text, what was put back, and warnings for the caller.

    `emptied` lists the sections that came back without their words.
    """

    text: str
    repairs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Leftover:
    """A line with the remains of an anchor comment; `rest` is the other text on it."""

    span: Span
    name: str
    rest: str


def repair_text(text: str, good: str, identity: Mapping[str, object]) -> RepairedText:
    """Put back the anchors and identity of a good text; `identity` overrides its identity keys."""
    whole = parse(good)
    front = repair_frontmatter(text, whole, identity)
    anchors = _repair_anchors(front.text, whole)
    _check(front.text, anchors.text, whole)
    emptied = _emptied(_missing(parse(front.text), whole), parse(anchors.text))
    return RepairedText(anchors.text, front.repairs + anchors.repairs, front.warnings, emptied)


def _emptied(missing: Sequence[Section], after: Document) -> tuple[str, ...]:
    empty = {each.anchor for each in after.sections if not _lines(each)}
    return tuple(each.name for each in missing if each.anchor in empty and _lines(each))


def _repair_anchors(text: str, good: Document) -> RepairStep:
    repairs: list[str] = []
    for rule in (
        _put_below_heading,
        _put_heading_above_comment,
        _put_below_reworded_heading,
        _put_above_words,
        _add_empty_section,
    ):
        while done := _apply_rule(rule, text, good):
            text = done.text
            repairs += done.repairs
    cleared = _remove_leftovers(text)
    if cleared != text and not repairs:
        repairs.append("misplaced anchor comments")
    return RepairStep(cleared, tuple(repairs))


def _apply_rule(rule: "_Rule", text: str, good: Document) -> RepairStep | None:
    """Put one more anchor back by a rule; None if the rule does not apply or does not help."""
    document = parse(text)
    missing = _missing(document, good)
    done = rule(document, good, missing) if missing else None
    return done if done and len(_missing(parse(done.text), good)) < len(missing) else None


def _missing(document: Document, good: Document) -> list[Section]:
    there = {section.anchor for section in document.sections}
    return [section for section in good.sections if section.anchor and section.anchor not in there]


_Rule = Callable[[Document, Document, Sequence[Section]], RepairStep | None]


def _put_below_heading(document: Document, good: Document, missing: Sequence[Section]) -> RepairStep | None:
    for section in missing:
        alike = [each for each in missing if each.heading.text == section.heading.text]
        places = _places_for(document, good, section)
        if len(places) > len(alike) > 0:
            places = [each for each in places if _shared(each, section, good)] or places
        if places and len(places) != len(alike):
            raise _ambiguous(section, places)
        if places:
            return _put_comment(document, places[alike.index(section)], section)
    return None


def _places_for(document: Document, good: Document, section: Section) -> list[Section]:
    free = [each for each in document.sections if _is_free(each, document, good)]
    exact = [each for each in free if each.heading.text == section.heading.text]
    own = {each.heading.text for each in good.sections}
    return exact or [
        each for each in free if each.heading.words == section.heading.words and each.heading.text not in own
    ]


def _is_free(place: Section, document: Document, good: Document) -> bool:
    """Whether a heading has no anchor, an unknown one, or a second copy of another section's."""
    anchors = {each.anchor: each.heading.text for each in good.sections if each.anchor}
    if place.anchor is None or place.anchor not in anchors:
        return True
    count = sum(each.anchor == place.anchor for each in document.sections)
    return count > 1 and place.heading.text != anchors[place.anchor]


def _put_comment(document: Document, place: Section, section: Section) -> RepairStep:
    """Put the section's comment directly below a heading, replacing the remains of a comment."""
    end = place.heading.span.end
    after = end
    if place.anchor_span is not None:
        after = place.anchor_span.end
    else:
        line = next(iter(split_any_lines(document.text[end : place.span.end])), "")
        if (left := _leftover(line, end)) is not None and not left.rest:
            after = left.span.end
    gap = "" if document.text[:end].endswith(("\n", "\r")) else document.newline
    comment = _comment(section) + document.newline
    text = document.text[:end] + gap + comment + document.text[after:]
    return RepairStep(text, (f"the anchor '{section.anchor}' under '{place.heading.text}'",))


def _put_heading_above_comment(
    document: Document, good: Document, missing: Sequence[Section]
) -> RepairStep | None:
    for section in missing:
        found = [each for each in _leftovers(document) if each.name in _names(section) and not each.rest]
        if len(found) > 1:
            raise NotRepairableError(
                f"The comment of {section.name} is in {len(found)} places, and its heading is gone.",
                hint="Remove all but one of them with an editor, or restore an earlier version.",
                details={"anchor": section.name},
            )
        if found:
            return _restore_heading(document, good, found[0], section)
    return None


def _restore_heading(document: Document, good: Document, left: _Leftover, section: Section) -> RepairStep:
    known = {each.heading.text for each in good.sections}
    for place in document.sections:
        above = document.text[place.body_span.start : left.span.start]
        is_first = place.span.start < left.span.start < place.span.end and not above.strip()
        if is_first and place.anchor is None and place.heading.text not in known:
            return _put_comment(document, place, section)
    return _insert_head(document, left.span.start, left.span.end, section)


def _put_below_reworded_heading(
    document: Document, good: Document, missing: Sequence[Section]
) -> RepairStep | None:
    known = {each.heading.text for each in good.sections}
    new = [each for each in document.sections if each.anchor is None and each.heading.text not in known]
    for section in missing:
        places = [each for each in new if _shared(each, section, good)]
        rivals = [each for each in missing if any(_shared(place, each, good) for place in places)]
        if len(places) > 1 or len(rivals) > 1:
            raise _ambiguous(section, places)
        if places:
            return _put_comment(document, places[0], section)
    return None


def _shared(place: Section, section: Section, good: Document) -> bool:
    """Whether a heading has lines below it that only this section had."""
    others = {line for each in good.sections if each != section for line in _lines(each)}
    return not (_lines(section) - others).isdisjoint(_lines(place))


def _lines(section: Section) -> set[str]:
    lines = {line.strip() for line in split_any_lines(section.body)}
    return {line for line in lines if line and "@anchor" not in line}


def _put_above_words(document: Document, good: Document, missing: Sequence[Section]) -> RepairStep | None:
    for section in missing:
        words = canonical(layout_of(section.body).words).strip("\n")
        before = _before(document, good, section)
        if not words or before is None or words in canonical(before[1].body):
            continue
        body = flat(document.text[before[0].body_span.start : before[0].span.end])
        lines = r"[ \t]*\n".join(map(re.escape, words.split("\n")))
        found = [match.start() for match in re.finditer(rf"^{lines}[ \t]*$", body, re.MULTILINE)]
        if len(found) == 1:
            position = before[0].body_span.start + found[0]
            return _insert_head(document, position, position, section)
    return None


def _before(document: Document, good: Document, section: Section) -> tuple[Section, Section] | None:
    """Find the nearest earlier section that still exists: as it is now, and as it was."""
    there = {each.name: each for each in document.sections if each.anchor}
    above = [each for each in good.sections[: good.sections.index(section)] if each.name in there]
    return (there[above[-1].name], above[-1]) if above else None


def _add_empty_section(document: Document, good: Document, missing: Sequence[Section]) -> RepairStep | None:
    section = missing[0]
    before = _before(document, good, section)
    if before is not None:
        position = before[0].span.end
    else:
        wanted = {each.anchor for each in good.sections if each.anchor}
        after = [each.span.start for each in document.sections if each.anchor in wanted]
        position = min(after, default=len(document.text))
    if has_open_end(document.text[:position]):
        raise NotRepairableError(
            f"The section {section.name} is gone, and a fence or a comment is left open at its place.",
            hint="Close it with an editor, or restore an earlier version.",
            details={"anchor": section.name},
        )
    return _insert_head(document, position, position, section)


def _insert_head(document: Document, start: int, end: int, section: Section) -> RepairStep:
    """Replace a range by heading and comment, with blank lines around them as needed."""
    newline, above, below = document.newline, document.text[:start], document.text[end:]
    flat_above = flat(above).replace(" \n", "\n")
    lead = "" if not above or flat_above.endswith("\n\n") else newline
    if above and not flat_above.endswith("\n"):
        lead = newline * 2
    heading = section.text[: section.heading.span.end - section.span.start].rstrip("\r\n")
    head = with_newlines(heading, newline) + newline + _comment(section) + newline
    trail = newline if below and not flat(below).lstrip(" \t").startswith("\n") else ""
    return RepairStep(above + lead + head + trail + below, (f"the section '{section.anchor}'",))


def _comment(section: Section) -> str:
    """Return a section's anchor comment as it was written."""
    start, end = section.anchor_span or section.heading.span
    return section.text[start - section.span.start : end - section.span.start].strip()


def _names(section: Section) -> set[str]:
    """Names by which a comment may mean this section, with the version or without."""
    return {section.name, section.anchor.id} if section.anchor else set()


def _leftovers(document: Document) -> Iterator[_Leftover]:
    for problem in document.problems:
        if problem.code == "anchor_stray":
            line = next(iter(split_any_lines(document.text[problem.span.start :])), "")
            if (left := _leftover(line, problem.span.start)) is not None:
                yield left


def _leftover(line: str, start: int) -> _Leftover | None:
    words = line.rstrip("\r\n")
    match = _LEFTOVER.fullmatch(words) or _COMMENT_AND_WORDS.fullmatch(words)
    if match is None:
        return None
    name = " v".join([match["id"], str(int(match["version"]))]) if match["version"] else match["id"] or ""
    return _Leftover(Span(start, start + len(line)), name, match["rest"].strip())


def _remove_leftovers(text: str) -> str:
    """Remove the remains of comments whose anchors are in place; other words on the line stay."""
    document = parse(text)
    there = {name for section in document.sections for name in _names(section)}
    for left in reversed(list(_leftovers(document))):
        if left.name in there:
            line = left.span.of(text)
            rest = left.rest + line[len(line.rstrip("\r\n")) :] if left.rest else ""
            text = text[: left.span.start] + rest + text[left.span.end :]
    return text


def _ambiguous(section: Section, places: Sequence[Section]) -> NotRepairableError:
    headings = [{"heading": each.heading.text, "line": each.line} for each in places]
    shown = ", ".join(f"'{each.heading.text}' (line {each.line})" for each in places)
    return NotRepairableError(
        f"The anchor '{section.anchor}' may belong to more than one heading: {shown}.",
        hint=_BY_HAND,
        details={"anchor": section.name, "headings": headings},
    )


def _check(before: str, after: str, good: Document) -> None:
    """Refuse a result that still misses something or that lost a line of the person's text."""
    document = parse(after)
    missing = [section.name for section in _missing(document, good)]
    if missing or document.malformed:
        raise NotRepairableError(
            f"This can't be put back: {', '.join(missing) or 'the frontmatter'}.",
            hint="Close any open fence or comment above it with an editor, or restore an earlier version.",
            details={"anchors": missing},
        )
    lines = (line.rstrip("\r\n") for line in split_any_lines(after))
    if not all(line in lines for line in _person_lines(before)):
        raise NotRepairableError(
            "The repair would remove words.",
            hint="Repair it with an editor, or restore an earlier version.",
        )


def _person_lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_any_lines(text) if "@anchor" not in line]
