"""Recall: ask the garden, see why it answers so, and what was given as context to whom."""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from garden.grammar.errors import GardenError
from garden.surfaces.web.console.visits import Page, View, Visit, address
from garden.surfaces.web.problems import STATUSES

_CHARACTERS_MAX, _GIVEN_CHARACTERS_MAX = 1200, 160
_GIVEN_PAGE, _GIVEN_SHOWN = 6, 40
_FILTERS = ("from_day", "to", "as_of")
_VERSION = re.compile(" v[0-9]+$")


def show_recall(visit: Visit) -> Page:
    """Show the form, and the passages that answer its question with their scores."""
    query, problem, found, warnings = visit.query.get("query", "").strip(), None, None, ()
    given = {name: visit.query.get(name, "").strip() for name in _FILTERS}
    try:
        if query:
            wished: dict[str, Any] = {name: value for name, value in given.items() if value}
            answer = visit.session.memory.recall(query, limit=20, explain=True, **wished)
            found, warnings = answer.result.memories, answer.meta["warnings"]
    except GardenError as error:
        problem = error
    values: dict[str, Any] = {
        "query": query,
        "given": given,
        "found": found,
        "warnings": warnings,
        "problem": problem,
    }
    values |= {"parts_of": parts_of, "link_to": link_to, "characters": _CHARACTERS_MAX, "short": visit.short}
    return Page("recall.html", values, STATUSES[problem.code] if problem else 200)


def show_given(visit: Visit) -> Page:
    """Show which passages were given as context to whom, newest first."""
    first = visit.query.get("first")
    found, after = visit.garden.lookups.given(visit.access, _GIVEN_PAGE, first, shown=_GIVEN_SHOWN)
    values = {"found": found, "link_to": link_to, "short": visit.short, "characters": _GIVEN_CHARACTERS_MAX}
    older = address("/recall/given", first=after) if after else ""
    return Page("given.html", {**values, "older": older})


def parts_of(text: str, words: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """A text in parts, each with whether it is one of the words that the question has too."""
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    for number, part in enumerate(re.split(f"({pattern})", text, flags=re.IGNORECASE) if words else [text]):
        if part:
            yield number % 2 == 1, part


def link_to(path: str, anchor: str) -> str:
    """The address of a section in its document."""
    section = _VERSION.sub("", anchor)
    return f"{address('/documents/' + path, section=section)}#{quote(section)}"


VIEWS = (
    View("GET", "/recall", show_recall),
    View("GET", "/recall/given", show_given),
)
