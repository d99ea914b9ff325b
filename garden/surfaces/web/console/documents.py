"""Documents: the garden as a tree, and the text of a document with its versions and with who wrote what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from garden.events.versions import Version
from garden.grammar.errors import GardenError
from garden.grammar.lines import without_line_end
from garden.surfaces.web.console.changes import change_document, preview_change
from garden.surfaces.web.console.document_pages import address_of, document_page, may, path_of
from garden.surfaces.web.console.markdown import Part, Reading, number_of_part, parts_of
from garden.surfaces.web.console.pages import ago, hue, seen
from garden.surfaces.web.console.versions import compare, show_versions
from garden.surfaces.web.console.visits import Answer, Page, View, Visit, address
from garden.tools.history_shapes import BlamedLine

if TYPE_CHECKING:
    from garden.gateway.lookups import ListedDocument

_ENTITIES_MAX = 150
_GROUPS = {"": "The person", "parts": "Parts", "relationships": "Relationships"}
_AGES_DAYS = (1, 7, 30, 365)
_NOTICES = {
    "restore": "The version is restored, as a new version.",
    "undo": "The change is taken back, as a new version.",
    "fix": "What could be fixed is fixed, as a new version.",
    "repair": "The document is repaired, as a new version.",
    "unchanged": "Nothing had to change.",
}

Lines = Sequence[tuple[int, str]]


def show_documents(visit: Visit) -> Page:
    """Show the documents of the garden by part and relationship, or those that a word finds."""
    find, start = visit.query.get("find", "").strip()[:100], _number(visit, "start", 0)
    listed = visit.garden.lookups.listing(visit.access)
    entities: dict[tuple[str, str], list[tuple[str, str, ListedDocument]]] = {}
    for each in listed:
        path = visit.short(each.path)
        if find.casefold() in path:
            *folders, name = path.split("/")
            group, entity = folders[0] if folders else "", "/".join(folders[1:])
            entities.setdefault((group, entity), []).append((path, name.removesuffix(".md"), each))
    shown = sorted(entities.items())[start : start + _ENTITIES_MAX]
    more = start + _ENTITIES_MAX
    values = {
        "find": find,
        "total": len(listed),
        "found": sum(map(len, entities.values())),
        "groups": [
            (_GROUPS.get(group, group.capitalize()), [(entity, documents) for (_, entity), documents in each])
            for group, each in groupby(shown, key=lambda entry: entry[0][0])
        ],
        "next": address("/documents", find=find, start=more) if more < len(entities) else "",
    }
    return Page("documents.html", values)


def show_document(visit: Visit) -> Answer:
    """Show a document: its text, its lines with their authors, its versions, a comparison, or a preview."""
    if "do" in visit.query:
        return preview_change(visit)
    view = "compare" if "from" in visit.query else visit.query.get("view")
    if view == "versions":
        return show_versions(visit)
    return compare(visit) if view == "compare" else _show_text(visit, is_read=view != "lines")


@dataclass(frozen=True)
class _Shown:
    """The text that a page shows, and what is known of its version; None if none is recorded."""

    text: str
    version: Version | None
    newest: int
    has_drifted: bool = False
    is_missing: bool = False


def _show_text(visit: Visit, *, is_read: bool) -> Page:
    at, tab = visit.query.get("at", "").strip(), "read" if is_read else "lines"
    blamed = visit.query.get("blame", "no" if is_read else "yes") != "no"
    values: dict[str, Any] = {"at": at, "blamed": blamed, "shown": None, "newest": 0}
    values["switch"] = _here(visit, tab, blame="no" if blamed else "yes")
    try:
        shown = _version(visit, at) if at else _current(visit)
        lines = _blame(visit, at or "head") if blamed and shown.version else ()
    except GardenError as problem:
        if not at:
            raise
        return document_page(visit, "document.html", tab, values, problem)
    values |= {"shown": shown, "newest": shown.newest, "may_fix": may(visit, "md.fix")}
    values |= {"may_restore": may(visit, "md.restore"), "may_repair": may(visit, "md.repair")}
    values["notice"] = _NOTICES.get(visit.query.get("done", ""), "")
    # The log has no lint of an earlier version.
    values["lint"] = None if at or shown.is_missing else visit.session.lint.check(path_of(visit)).result
    values |= _read(visit, shown, lines) if is_read else _lines(visit, shown, lines)
    return document_page(visit, "document.html", tab, values)


def _version(visit: Visit, at: str) -> _Shown:
    path, lookups = path_of(visit), visit.garden.lookups
    found = visit.session.history.show(path, at).result
    name = str(found.version) if found.path == path else str(found.event_id)
    version = lookups.version_named(visit.caller, path, name)
    newest = version if at == "head" else lookups.version_named(visit.caller, path, "head")
    return _Shown(found.text, version, newest.number)


def _current(visit: Visit) -> _Shown:
    """The text of the file; where that is missing, of the newest version."""
    path = path_of(visit)
    try:
        text: str | None = visit.garden.lookups.text(visit.access, path).text
    except GardenError as problem:
        if "version" not in problem.details:
            raise
        text = None
    try:
        recorded = _version(visit, "head")
    except GardenError as problem:
        if text is None or problem.code != "not_found":
            raise
        return _Shown(text, None, 0)
    if text is None:
        return _Shown(recorded.text, recorded.version, recorded.newest, is_missing=True)
    return _Shown(text, recorded.version, recorded.newest, has_drifted=text != recorded.text)


def _blame(visit: Visit, at: str) -> Sequence[BlamedLine]:
    return visit.session.history.blame(path_of(visit), at=at).result.lines


def _read(visit: Visit, shown: _Shown, blamed: Sequence[BlamedLine]) -> dict[str, Any]:
    reading = Reading(shown.text)
    part, pages = _part(visit, reading.parts, "read", reading.line_of(visit.query.get("section", "")))
    # The lines of a text that is not recorded yet are not those of the newest version.
    mark = partial(_mark, blamed) if blamed and not shown.has_drifted else None
    events = address("/timeline", path=visit.short(path_of(visit))) + "&section_anchor="
    return {"facts": reading.facts, "html": reading.html(part, mark, events), **pages}


def _mark(blamed: Sequence[BlamedLine], start: int, end: int) -> Markup:
    """The newest event of some lines, for the margin."""
    found = [each for each in blamed[start - 1 : end - 1] if each.text.strip()]
    if not found:
        return Markup()
    newest = max(found, key=lambda each: each.time)
    return Markup('<a class="mark {} {}" href="{}">{}, {}</a> ').format(
        hue(newest.actor), age(newest.time), address(f"/timeline/{newest.event_id}"), seen(newest.actor),
        ago(newest.time),
    )  # fmt: skip


def _lines(visit: Visit, shown: _Shown, blamed: Sequence[BlamedLine]) -> dict[str, Any]:
    """The lines as they are written, those of one event together; recorded ones if they are blamed."""
    text = "\n".join(each.text for each in blamed) if blamed else shown.text.removesuffix("\n")
    part, pages = _part(visit, parts_of(text), "lines")
    by_line = {each.line: each for each in blamed}
    return {"line_groups": list(_grouped(part, by_line)), "age": age, **pages}


def _grouped(part: Part, by_line: Mapping[int, BlamedLine]) -> Iterator[tuple[BlamedLine | None, Lines]]:
    def event_of(piece: tuple[int, str]) -> object:
        return getattr(by_line.get(piece[0]), "event_id", None)

    for _, pieces in groupby(part, key=event_of):
        lines = [(number, without_line_end(text)) for number, text in pieces]
        yield by_line.get(lines[0][0]), lines


def _part(visit: Visit, parts: Sequence[Part], tab: str, line: int = 0) -> tuple[Part, dict[str, Any]]:
    """The part that the address names, and the addresses of those around it."""
    line = _number(visit, "line", line)
    wanted = number_of_part(parts, line) if line else _number(visit, "part", 1)
    number = min(max(wanted, 1), len(parts))
    blame = visit.query.get("blame")
    return parts[number - 1], {
        "part": number,
        "parts_count": len(parts),
        "part_before": _here(visit, tab, part=number - 1, blame=blame) if number > 1 else "",
        "part_after": _here(visit, tab, part=number + 1, blame=blame) if number < len(parts) else "",
    }


def _here(visit: Visit, tab: str, **query: object) -> str:
    """The address of the same text in the same version."""
    return address_of(visit, view=tab, at=visit.query.get("at", "").strip(), **query)


def age(time: datetime) -> str:
    """The class of the colour's strength: recent lines are strong."""
    days = (datetime.now(UTC) - time).days
    return f"age-{sum(days >= each for each in _AGES_DAYS)}"


def _number(visit: Visit, name: str, otherwise: int) -> int:
    given = visit.query.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 10 else otherwise


VIEWS = (
    View("GET", "/documents", show_documents),
    View("GET", "/documents/{path:path}", show_document),
    View("POST", "/documents/{path:path}", change_document),
)
