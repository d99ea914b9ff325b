"""Repairing: what tools hold on to and miss in a text is put back, and every line of the person's stays.

What a whole text said before tells what belongs where. For each anchor that is gone, the first of these that
holds:

1. Its heading is still there: the comment goes right below it, in the place of what is left of it.
2. Its comment is still there: it names the heading above it, where that has none and nothing stands between;
   else the old heading goes back above the comment.
3. A new heading stands above words of the section: it is the old one in other words, and keeps them.
4. All words of the section stand where it was, under the section before: heading and comment go above them.
5. Nothing of it is left: heading and comment come back with nothing below, where the section was.

Where two places would do, none is chosen.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from garden.grammar.body import layout_of
from garden.grammar.canonical import canonical
from garden.grammar.document import Document, Section
from garden.grammar.frontmatter_repair import Mended, with_frontmatter
from garden.grammar.lines import flat, split_any_lines, with_newlines
from garden.grammar.new_text import swallows_what_follows
from garden.grammar.parser import parse
from garden.grammar.refusals import NotRepairableError
from garden.grammar.values import Heading, Span

_MARKS = re.compile(r"[\W_]+")
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
class Repaired:
    """A text with everything put back, what that was, and what its reader should know.

    `emptied` are the sections that came back without the words that they had.
    """

    text: str
    mended: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Leftover:
    """A line that holds what an anchor comment left, where no tool finds it; `rest` is what else is on it."""

    span: Span
    name: str
    rest: str


def repaired(text: str, good: str, identity: Mapping[str, object]) -> Repaired:
    """Put back what a whole text before had; `identity` is what the frontmatter must say now."""
    whole = parse(good)
    front = with_frontmatter(text, whole, identity)
    anchors = _with_anchors(front.text, whole)
    _check(front.text, anchors.text, whole)
    emptied = _emptied(_missing(parse(front.text), whole), parse(anchors.text))
    return Repaired(anchors.text, front.mended + anchors.mended, front.warnings, emptied)


def _emptied(missing: Sequence[Section], after: Document) -> tuple[str, ...]:
    empty = {each.anchor for each in after.sections if not _lines(each)}
    return tuple(each.name for each in missing if each.anchor in empty and _lines(each))


def _with_anchors(text: str, good: Document) -> Mended:
    mended: list[str] = []
    for rule in (_under_headings, _around_comments, _under_new_headings, _above_words, _as_new_sections):
        while done := _step(rule, text, good):
            text = done.text
            mended += done.mended
    cleared = _without_leftovers(text)
    if cleared != text and not mended:
        mended.append("anchor comments that stood beside their place")
    return Mended(cleared, tuple(mended))


def _step(rule: "_Rule", text: str, good: Document) -> Mended | None:
    """Put one more anchor back by a rule; None where the rule has nothing to say, or nothing comes of it."""
    document = parse(text)
    missing = _missing(document, good)
    done = rule(document, good, missing) if missing else None
    return done if done and len(_missing(parse(done.text), good)) < len(missing) else None


def _missing(document: Document, good: Document) -> list[Section]:
    there = {section.anchor for section in document.sections}
    return [section for section in good.sections if section.anchor and section.anchor not in there]


_Rule = Callable[[Document, Document, Sequence[Section]], Mended | None]


def _under_headings(document: Document, good: Document, missing: Sequence[Section]) -> Mended | None:
    for section in missing:
        alike = [each for each in missing if each.heading.text == section.heading.text]
        places = _places_for(document, good, section)
        if len(places) > len(alike) > 0:
            places = [each for each in places if _shared(each, section, good)] or places
        if places and len(places) != len(alike):
            raise _ambiguous(section, places)
        if places:
            return _claimed(document, places[alike.index(section)], section)
    return None


def _places_for(document: Document, good: Document, section: Section) -> list[Section]:
    free = [each for each in document.sections if _is_free(each, document, good)]
    exact = [each for each in free if each.heading.text == section.heading.text]
    own = {each.heading.text for each in good.sections}
    return exact or [
        each
        for each in free
        if _words(each.heading) == _words(section.heading) and each.heading.text not in own
    ]


def _is_free(place: Section, document: Document, good: Document) -> bool:
    """Tell whether a heading has no anchor, or one that is nobody's, or is another's who has it as well."""
    anchors = {each.anchor: each.heading.text for each in good.sections if each.anchor}
    if place.anchor is None or place.anchor not in anchors:
        return True
    count = sum(each.anchor == place.anchor for each in document.sections)
    return count > 1 and place.heading.text != anchors[place.anchor]


def _claimed(document: Document, place: Section, section: Section) -> Mended:
    """Put the section's comment right below a heading, in the place of what stands there of one."""
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
    return Mended(text, (f"the anchor '{section.anchor}' under '{place.heading.text}'",))


def _around_comments(document: Document, good: Document, missing: Sequence[Section]) -> Mended | None:
    for section in missing:
        found = [each for each in _leftovers(document) if each.name in _names(section) and not each.rest]
        if len(found) > 1:
            raise NotRepairableError(
                f"The comment of {section.name} stands in {len(found)} places, and its heading in none.",
                hint="Take all but one of them out with an editor, or restore an earlier version.",
                details={"anchor": section.name},
            )
        if found:
            return _around(document, good, found[0], section)
    return None


def _around(document: Document, good: Document, left: _Leftover, section: Section) -> Mended:
    known = {each.heading.text for each in good.sections}
    for place in document.sections:
        above = document.text[place.body_span.start : left.span.start]
        is_first = place.span.start < left.span.start < place.span.end and not above.strip()
        if is_first and place.anchor is None and place.heading.text not in known:
            return _claimed(document, place, section)
    return _put_in(document, left.span.start, left.span.end, section)


def _under_new_headings(document: Document, good: Document, missing: Sequence[Section]) -> Mended | None:
    known = {each.heading.text for each in good.sections}
    new = [each for each in document.sections if each.anchor is None and each.heading.text not in known]
    for section in missing:
        places = [each for each in new if _shared(each, section, good)]
        rivals = [each for each in missing if any(_shared(place, each, good) for place in places)]
        if len(places) > 1 or len(rivals) > 1:
            raise _ambiguous(section, places)
        if places:
            return _claimed(document, places[0], section)
    return None


def _shared(place: Section, section: Section, good: Document) -> bool:
    """Tell whether words of a section, and of no other one, stand below a heading."""
    others = {line for each in good.sections if each != section for line in _lines(each)}
    return not (_lines(section) - others).isdisjoint(_lines(place))


def _lines(section: Section) -> set[str]:
    lines = {line.strip() for line in split_any_lines(section.body)}
    return {line for line in lines if line and "@anchor" not in line}


def _above_words(document: Document, good: Document, missing: Sequence[Section]) -> Mended | None:
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
            return _put_in(document, position, position, section)
    return None


def _before(document: Document, good: Document, section: Section) -> tuple[Section, Section] | None:
    """Find the nearest section that stood above one and is still there: as it is, and as it was."""
    there = {each.name: each for each in document.sections if each.anchor}
    above = [each for each in good.sections[: good.sections.index(section)] if each.name in there]
    return (there[above[-1].name], above[-1]) if above else None


def _as_new_sections(document: Document, good: Document, missing: Sequence[Section]) -> Mended | None:
    section = missing[0]
    before = _before(document, good, section)
    if before is not None:
        position = before[0].span.end
    else:
        wanted = {each.anchor for each in good.sections if each.anchor}
        after = [each.span.start for each in document.sections if each.anchor in wanted]
        position = min(after, default=len(document.text))
    if swallows_what_follows(document.text[:position]):
        raise NotRepairableError(
            f"The section {section.name} is gone, and where it stood a fence or a comment is left open.",
            hint="Close it with an editor, or restore an earlier version.",
            details={"anchor": section.name},
        )
    return _put_in(document, position, position, section)


def _put_in(document: Document, start: int, end: int, section: Section) -> Mended:
    """Put heading and comment in the place of a stretch, with a blank line where the text goes on."""
    newline, above, below = document.newline, document.text[:start], document.text[end:]
    flat_above = flat(above).replace(" \n", "\n")
    lead = "" if not above or flat_above.endswith("\n\n") else newline
    if above and not flat_above.endswith("\n"):
        lead = newline * 2
    heading = section.text[: section.heading.span.end - section.span.start].rstrip("\r\n")
    head = with_newlines(heading, newline) + newline + _comment(section) + newline
    trail = newline if below and not flat(below).lstrip(" \t").startswith("\n") else ""
    return Mended(above + lead + head + trail + below, (f"the section '{section.anchor}'",))


def _comment(section: Section) -> str:
    """Give a section's anchor comment as it was written."""
    start, end = section.anchor_span or section.heading.span
    return section.text[start - section.span.start : end - section.span.start].strip()


def _names(section: Section) -> set[str]:
    """What a comment may say that means this section; one that lost its version says the name alone."""
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


def _without_leftovers(text: str) -> str:
    """Take out what is left of comments whose anchors are in their place; words beside them stay."""
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
        f"Which heading the anchor '{section.anchor}' belongs to can't be told: {shown}.",
        hint=_BY_HAND,
        details={"anchor": section.name, "headings": headings},
    )


def _words(heading: Heading) -> str:
    return _MARKS.sub(" ", heading.text).strip().casefold() or heading.text


def _check(before: str, after: str, good: Document) -> None:
    """Refuse a result that misses anything still, or that lost a line of the person's."""
    document = parse(after)
    missing = [section.name for section in _missing(document, good)]
    if missing or document.malformed:
        raise NotRepairableError(
            f"Some of what is missing can't be put back: {', '.join(missing) or 'the frontmatter'}.",
            hint="Close what stands open above it, a fence or a comment, with an editor; or restore an "
            "earlier version.",
            details={"anchors": missing},
        )
    lines = (line.rstrip("\r\n") for line in split_any_lines(after))
    if not all(line in lines for line in _lines_of_a_person(before)):
        raise NotRepairableError(
            "Putting back what is missing would take words out.",
            hint="Mend it with an editor, or restore an earlier version.",
        )


def _lines_of_a_person(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_any_lines(text) if "@anchor" not in line]
