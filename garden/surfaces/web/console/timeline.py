"""The timeline: every event, found by facets, words and times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from garden.events.reader import FACET_EVENTS_MAX, Facets
from garden.events.views import EventView
from garden.grammar.errors import GardenError
from garden.surfaces.web.console.visits import Page, View, Visit, address
from garden.surfaces.web.problems import STATUSES

FILTERS: Mapping[str, str] = {
    "actor": "by",
    "type": "kind",
    "tool": "tool",
    "section_anchor": "section",
    "status": "state",
    "since": "from",
    "until": "until",
    "path": "document",
    "op": "op",
    "text": "reason",
    "evidence_ref": "evidence",
    "tool_call_id": "tool call",
    "transaction_id": "transaction",
    "agent_action_id": "agent action",
}
"""The filters of the timeline, as `events.query` and the address name them, each with a word for people."""

Counts = Sequence[tuple[str, int]]

_FACETS = (
    ("actor", "actor", "Actor"),
    ("type", "type", "Kind"),
    ("tool", "tool", "Tool"),
    ("section", "section_anchor", "Section"),
    ("status", "status", "State"),
)
_FIELDS = ("text", "path", "since", "until")
_PAGE_EVENTS = 25
_VALUES_SHOWN = 8
_DAYS_SHOWN = 14


@dataclass(frozen=True)
class Choice:
    """A value that narrows the timeline, or a filter to remove, with the address that does it."""

    text: str
    address: str
    events: int = 0
    share: int = 0
    """Of the largest of its kind, in percent."""


@dataclass(frozen=True)
class Row:
    """An event in a list, with the words it took away and put in."""

    event: EventView
    document: str
    added: int
    removed: int


def show_timeline(visit: Visit) -> Page:
    """Show one page of events, newest first, and what would narrow them."""
    filters = {name: given for name in FILTERS if (given := visit.query.get(name, "").strip())}
    if "path" in filters:
        filters["path"] = visit.full(filters["path"])
    values: dict[str, Any] = {
        "filters": filters,
        "fields": _FIELDS,
        "document": visit.short(filters.get("path")),
        "active": [_without(filters, name, visit) for name in filters],
        "is_later_page": "cursor" in visit.query,
        "counted_max": FACET_EVENTS_MAX,
        "refusal": None,
    }
    try:
        asked: dict[str, Any] = {**filters, "cursor": visit.query.get("cursor")}
        found = visit.session.events.query(**asked, limit=_PAGE_EVENTS)
        facets = visit.garden.lookups.facets(visit.access, filters)
    except GardenError as error:
        if error.code not in ("invalid_input", "path_not_allowed"):
            raise
        return Page("timeline.html", {**values, "refusal": error}, STATUSES[error.code])
    cursor = found.meta.get("cursor")
    return Page(
        "timeline.html",
        {
            **values,
            "rows": [row_of(each, visit) for each in found.result.rows],
            "count": facets["all"][0][1],
            "facets": [*_choices(facets, filters), *_days(facets, filters)],
            "next": address("/timeline", **filters, cursor=cursor) if cursor else "",
        },
    )


def row_of(event: EventView, visit: Visit) -> Row:
    """An event as lists show it."""
    splices = event.splices or ()
    added = sum(len(each.inserted.split()) for each in splices)
    removed = sum(len(each.removed.split()) for each in splices)
    return Row(event, visit.short(event.path), added, removed)


def _without(filters: Mapping[str, str], name: str, visit: Visit) -> Choice:
    text = visit.short(filters[name]) if name == "path" else filters[name]
    rest = {each: value for each, value in filters.items() if each != name}
    return Choice(f"{FILTERS[name]}: {text}", address("/timeline", **rest))


def _choices(facets: Facets, filters: Mapping[str, str]) -> Iterator[tuple[str, list[Choice], bool]]:
    """The facets that can narrow the events, each with its commonest values and whether it has more."""
    for facet, name, heading in _FACETS:
        values = facets.get(facet, ())
        if name in filters or not _divides(values, facets):
            continue
        shown = values[:_VALUES_SHOWN]
        choices = [_choice(shown, {**filters, name: value}, value, count) for value, count in shown]
        yield heading, choices, len(values) > len(shown)


def _divides(values: Counts, facets: Facets) -> bool:
    """Whether choosing one of these values leaves fewer events."""
    return any(count < facets["all"][0][1] for _, count in values)


def _days(facets: Facets, filters: Mapping[str, str]) -> Iterator[tuple[str, list[Choice], bool]]:
    every = facets.get("day", ())
    if _divides(every, facets):
        shown = every[:_DAYS_SHOWN]
        choices = [_choice(shown, {**filters, **_within(day)}, day, count) for day, count in shown]
        yield "Day", choices, len(every) > len(shown)


def _within(day: str) -> Mapping[str, str]:
    after = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    return {"since": day, "until": after}


def _choice(all_values: Counts, filters: Mapping[str, str], value: str, count: int) -> Choice:
    most = max(events for _, events in all_values)
    return Choice(value, address("/timeline", **filters), count, max(2, round(100 * count / most)))


VIEWS = (View("GET", "/timeline", show_timeline),)
