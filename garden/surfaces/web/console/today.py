"""Today: what changed, what waits for an answer, and what needs a person."""

from collections.abc import Mapping
from typing import Any

from garden.surfaces.web.console.needs import needs_shown
from garden.surfaces.web.console.timeline import row_of
from garden.surfaces.web.console.visits import Page, View, Visit, address

_EVENTS = 20
_APPROVALS_SHOWN, _APPROVALS_COUNTED = 3, 10
_ACTORS_SHOWN = 6
_DAY, _WEEK = "1d", "7d"


def show_today(visit: Visit) -> Page:
    """Show what changed of late, what waits for an answer, and what needs a person."""
    found = visit.session.events.query(limit=_EVENTS, since=_WEEK).result.rows
    is_new = not found and not visit.session.events.query(limit=1).result.rows
    waiting = visit.garden.decisions.list(visit.caller, is_waiting=True, limit=_APPROVALS_COUNTED + 1)
    is_quick = visit.garden.needs.is_quick(visit.access)
    return Page(
        "today.html",
        {
            "is_new": is_new,
            "actors": _actors(visit) if found else [],
            "rows": [row_of(each, visit) for each in found],
            "waiting": f"More than {_APPROVALS_COUNTED}"
            if len(waiting) > _APPROVALS_COUNTED
            else len(waiting),
            "waiting_shown": [(each, _document(each.args, visit)) for each in waiting[:_APPROVALS_SHOWN]],
            "is_quick": is_quick,
            **(needs_shown(visit) if is_quick else {"troubles": [], "left_out": 0}),
        },
    )


def _actors(visit: Visit) -> list[tuple[str, int, str]]:
    """Who did how much in the last day, with the address that lists it."""
    facets = visit.garden.lookups.facets(visit.access, {"since": _DAY})
    return [
        (actor, count, address("/timeline", actor=actor, since=_DAY))
        for actor, count in facets.get("actor", ())[:_ACTORS_SHOWN]
    ]


def _document(args: Mapping[str, Any] | None, visit: Visit) -> str:
    """The document of a call that waits, if it names one."""
    path = (args or {}).get("path")
    return visit.short(path) if isinstance(path, str) else ""


VIEWS = (View("GET", "/", show_today),)
