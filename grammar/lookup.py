"""Finds the section that a caller names."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from garden.grammar.document import Document, Section
from garden.grammar.kinds.declaration import Kind
from garden.grammar.refusals import AnchorAmbiguousError, AnchorNotFoundError, excerpt
from garden.grammar.values import Anchor

_ANCHOR_NAME = re.compile(r"(?:@anchor:\s*)?([A-Za-z0-9][A-Za-z0-9_-]*)(?:\s+v([0-9]{1,9}))?")

_MAX_LISTED = 40
_MAX_COMPARED = 200


def find_section(document: Document, name: str) -> Section:
    """Find a section by `concerns v1`, `concerns` or its heading, in any case; refuse an ambiguous name."""
    found = _by_anchor(document, name) or _by_similar_name(document, name)
    if not found:
        raise AnchorNotFoundError(
            f"There is no section {excerpt(name)!r}.",
            hint=_suggestion(document.sections, name) or _listing(document.sections),
            details={"sections": [section.name for section in document.sections]},
        )
    if len(found) > 1:
        raise AnchorAmbiguousError(
            f"{len(found)} sections match {excerpt(name)!r}.",
            hint=f"Name one of them exactly. {_listing(tuple(found))}",
            details={"sections": [{"name": section.name, "line": section.line} for section in found]},
        )
    return found[0]


def anchor_names(kinds: Iterable[Kind], name: str) -> frozenset[str]:
    """Return the names under which events may record a section: this name and its declared anchors.

    `Open Questions`, `questions` and `QUESTIONS V1` all name `questions v1`.
    """
    declared = (section for kind in kinds for section in kind.sections)
    return frozenset(
        [
            name.strip(),
            *(
                str(section.anchor)
                for section in declared
                if _names_anchor(name.casefold(), section.anchor) or _folded(section.heading) == _folded(name)
            ),
        ]
    )


def _by_anchor(document: Document, name: str) -> list[Section]:
    match = _ANCHOR_NAME.fullmatch(name.strip())
    if match is None:
        return []
    if match[2]:
        numbers = document.numbers_with(Anchor(match[1], int(match[2])))
        return [document.section(number) for number in numbers]
    return [section for section in document.sections if section.anchor and section.anchor.id == match[1]]


def _by_similar_name(document: Document, name: str) -> list[Section]:
    """Find sections by anchor or heading in any case; the exact heading counts before similar ones."""
    wanted = _folded(name)
    if not wanted:
        return []
    anchored = {
        section.span
        for section in document.sections
        if section.anchor and _names_anchor(wanted, _lower(section.anchor))
    }
    headed = [section for section in document.sections if _folded(section.heading.text) == wanted]
    exact = [section for section in headed if section.heading.text == name.strip()]
    chosen = anchored | {section.span for section in (not anchored and exact) or headed}
    return [section for section in document.sections if section.span in chosen]


def _names_anchor(name: str, anchor: Anchor) -> bool:
    match = _ANCHOR_NAME.fullmatch(name.strip())
    return (
        match is not None and match[1] == anchor.id and (match[2] is None or int(match[2]) == anchor.version)
    )


def _lower(anchor: Anchor) -> Anchor:
    return anchor._replace(id=anchor.id.casefold())


def _folded(words: str) -> str:
    return " ".join(words.split()).casefold()


def _suggestion(sections: tuple[Section, ...], name: str) -> str:
    """Ask whether the nearest section was meant, if one is near."""
    known = {
        _folded(words): section.name
        for section in sections[:_MAX_COMPARED]
        for words in (section.name, section.heading.text, section.anchor.id if section.anchor else "")
    }
    close = get_close_matches(_folded(name[:_MAX_COMPARED]), known, n=1, cutoff=0.8)
    return f"Did you mean {known[close[0]]!r}?" if close else ""


def _listing(sections: tuple[Section, ...]) -> str:
    if not sections:
        return "The document has no sections; write the file, or append to it."
    names = ", ".join(f"{section.name!r} (line {section.line})" for section in sections[:_MAX_LISTED])
    more = len(sections) - _MAX_LISTED
    return f"There are: {names}{f', and {more} more' if more > 0 else ''}."
