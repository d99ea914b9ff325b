"""The versions of a document: listed, and any two compared by words, side by side or as a diff."""

import re
from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from garden.grammar.diffs import hunks, line_opcodes
from garden.grammar.errors import GardenError
from garden.grammar.lines import split_lines, without_line_end
from garden.surfaces.web.console.document_pages import address_of, document_page, may, path_of
from garden.surfaces.web.console.visits import Page, Visit

_PAGE = 25
_ROWS_MAX, _ROW_CHARACTERS_MAX = 400, 2_000
_FORMS = {"words": "Words", "side": "Side by side", "unified": "Lines"}
# No mark reaches over the beginning of another: a line of beginnings alone would be read again from each.
_MARKED = re.compile(r"(\[-(?:(?!\[-).)*?-\]|\{\+(?:(?!\{\+).)*?\+\})")
_MARKS = {"[-": "del", "{+": "ins"}


class Row(NamedTuple):
    """A line of the old text beside a line of the new one; a side without a line has no number."""

    kind: str
    old_number: int | None
    old: str
    new_number: int | None
    new: str


def show_versions(visit: Visit) -> Page:
    """List the versions, newest first."""
    path = path_of(visit)
    found = visit.session.history.log(path=path, limit=_PAGE, cursor=visit.query.get("cursor")).result
    # A version at an earlier path has a number of that path.
    rows = [(each, str(each.version) if each.path == path else str(each.event_id)) for each in found.versions]
    values = {
        "versions": rows,
        "earlier_path": {each.path: visit.short(each.path) for each in found.versions if each.path != path},
        "is_first_page": "cursor" not in visit.query,
        "may_restore": may(visit, "md.restore"),
        "may_undo": may(visit, "md.undo"),
        "next": address_of(visit, view="versions", cursor=found.cursor) if found.cursor else "",
    }
    return document_page(visit, "document_versions.html", "versions", values)


def compare(visit: Visit) -> Page:
    """Compare two versions, or a version with the file as it is now."""
    old, new = visit.query.get("from", "").strip(), visit.query.get("to", "").strip()
    form = visit.query.get("as", "words")
    form = form if form in _FORMS else "words"
    first = old or "head~1"
    values: dict[str, Any] = {"old": first, "new": new, "form": form, "forms": _FORMS, "found": None}
    values["is_cut"] = False
    try:
        values |= _compared(visit, first, new or None, form)
    except GardenError as problem:
        # No version was asked for: there may be only one.
        shown = problem if old or problem.code != "not_found" else None
        return document_page(visit, "document_compare.html", "compare", values, shown)
    return document_page(visit, "document_compare.html", "compare", values)


def _compared(visit: Visit, old: str, new: str | None, form: str) -> dict[str, Any]:
    path, history = path_of(visit), visit.session.history
    found = history.diff(path, old, to=new, words=form == "words").result
    values: dict[str, Any] = {"found": found}
    if form == "words":
        values["lines"] = list(word_lines(found.diff))
    if form == "side":
        before = history.show(path, old).result.text
        after = history.show(path, new).result.text if new else _current_text(visit, path)
        rows = list(islice(side_by_side(before, after), _ROWS_MAX + 1))
        values |= {"rows": rows[:_ROWS_MAX], "is_cut": len(rows) > _ROWS_MAX}
    return values


def _current_text(visit: Visit, path: str) -> str:
    return visit.garden.lookups.text(visit.access, path).text


def word_lines(diff: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The lines of a diff by words, each in pieces that stayed, went (`del`) or came (`ins`)."""
    for line in diff.split("\n")[2:-1]:
        if line.startswith("@@ "):
            yield "hunk", [("", line)]
        else:
            pieces = filter(None, _MARKED.split(line))
            yield "same", [_unmarked(each) for each in pieces]


def _unmarked(piece: str) -> tuple[str, str]:
    mark = _MARKS.get(piece[:2]) if _MARKED.fullmatch(piece) else None
    return (mark, piece[2:-2]) if mark else ("", piece)


def side_by_side(before: str, after: str) -> Iterator[Row]:
    """The changed lines of two texts with those around them, the old beside the new."""
    old, new = split_lines(before), split_lines(after)
    if old == new:
        return
    for number, group in enumerate(hunks(line_opcodes(old, new))):
        if number:
            yield Row("gap", None, "", None, "")
        for tag, start, end, new_start, new_end in group:
            pairs = zip_longest(
                enumerate(old[start:end], start + 1), enumerate(new[new_start:new_end], new_start + 1)
            )
            for was, now in pairs:
                yield Row("same" if tag == "equal" else "changed", *_numbered(was), *_numbered(now))


def _numbered(line: tuple[int, str] | None) -> tuple[int | None, str]:
    if line is None:
        return None, ""
    words = without_line_end(line[1])
    is_long = len(words) > _ROW_CHARACTERS_MAX
    return line[0], f"{words[:_ROW_CHARACTERS_MAX]}…" if is_long else words
