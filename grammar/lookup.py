"""Finds the section that a caller names."""

import re

from garden.grammar.document import Document, Section
from garden.grammar.refusals import AnchorAmbiguousError, AnchorNotFoundError, excerpt

_ANCHOR_NAME = re.compile(r"(?:@anchor:\s*)?([A-Za-z0-9][A-Za-z0-9_-]*)(?:\s+v([0-9]{1,9}))?")

_MAX_LISTED = 40


def find_section(document: Document, name: str) -> Section:
    """Find a section by `concerns v1`, by `concerns` if unambiguous, else by its heading; or refuse."""
    found = _by_anchor(document, name) or _by_heading(document, name)
    if not found:
        raise AnchorNotFoundError(
            f"There is no section {excerpt(name)!r}.",
            hint=_listing(document.sections),
            details={"sections": [section.name for section in document.sections]},
        )
    if len(found) > 1:
        raise AnchorAmbiguousError(
            f"{len(found)} sections match {excerpt(name)!r}.",
            hint=f"Name one of them exactly. {_listing(tuple(found))}",
            details={"sections": [{"name": section.name, "line": section.line} for section in found]},
        )
    return found[0]


def _by_anchor(document: Document, name: str) -> list[Section]:
    match = _ANCHOR_NAME.fullmatch(name.strip())
    if match is None:
        return []
    version = int(match[2]) if match[2] else None
    return [
        section
        for section in document.sections
        if section.anchor
        and section.anchor.id == match[1]
        and (version is None or section.anchor.version == version)
    ]


def _by_heading(document: Document, name: str) -> list[Section]:
    return [
        section
        for section in document.sections
        if section.anchor is None and section.heading.text and section.heading.text == name.strip()
    ]


def _listing(sections: tuple[Section, ...]) -> str:
    if not sections:
        return "The document has no sections; write the file, or append to it."
    names = ", ".join(f"{section.name!r} (line {section.line})" for section in sections[:_MAX_LISTED])
    more = len(sections) - _MAX_LISTED
    return f"There are: {names}{f', and {more} more' if more > 0 else ''}."
