"""What needs a person, each with its way out: most are changes that the page of the document previews."""

from collections.abc import Mapping
from dataclasses import dataclass

from garden.surfaces.web.console.document_pages import may
from garden.surfaces.web.console.visits import Page, Redirect, View, Visit, address
from garden.upkeep.needs import Need

_SHOWN_MAX = 50
_SETTLED = "The interrupted changes were tried once more."

_WAYS: Mapping[str, tuple[str, str]] = {
    "damaged": ("repair", "Repair…"),
    "missing": ("restore", "Bring it back…"),
    "lines lost": ("restore", "Bring the lines back…"),
    "findings": ("fix", "Fix what can be fixed…"),
}
"""The change of the document that is a way out, and the words of its button."""


@dataclass(frozen=True)
class Trouble:
    """What needs a person as the page shows it."""

    need: Need
    document: str
    is_document: bool
    button: str
    """The words of its way out; none if the person can't take it here."""
    way_out: str


def show_needs(visit: Visit) -> Page:
    """Look through the whole garden and show what needs a person."""
    done = _SETTLED if visit.query.get("done") == "settled" else ""
    return Page("needs.html", {"done": done, **needs_shown(visit)})


def needs_shown(visit: Visit) -> dict[str, object]:
    """What needs a person, as Today and the page of its own show it."""
    found = visit.garden.needs.find(visit.access)
    return {
        "troubles": [_trouble(each, visit) for each in found[:_SHOWN_MAX]],
        "left_out": max(0, len(found) - _SHOWN_MAX),
    }


def _trouble(need: Need, visit: Visit) -> Trouble:
    """Work out the button of what needs a person; a change given up has a form of its own."""
    document, is_document = visit.short(need.path), need.what not in ("sync copy", "unreadable")
    change, button = _WAYS.get(need.what, ("", ""))
    way_out = ""
    if change and may(visit, f"md.{change}"):
        version = need.version if change == "restore" else None
        way_out = address(f"/documents/{document}", do=change, version=version)
    elif need.what == "secret" and visit.is_maintainer:
        button, way_out = "Erase it…", address("/erasure", path=need.path)
    return Trouble(need, document, is_document, button, way_out)


def settle(visit: Visit) -> Redirect:
    """Try the changes that were given up once more."""
    visit.garden.needs.settle(visit.access, visit.form.get("path", ""))
    return Redirect(address("/needs", done="settled"))


VIEWS = (
    View("GET", "/needs", show_needs),
    View("POST", "/needs/settle", settle),
)
