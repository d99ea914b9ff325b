"""What all pages of one document share: its path, its tabs, and the notice of a refusal."""

from collections.abc import Mapping
from typing import Any

from garden.grammar.errors import GardenError
from garden.surfaces.web.console.visits import Page, Visit, address
from garden.surfaces.web.problems import STATUSES
from garden.tools.registry import REGISTRY

_TABS = (("read", "Read"), ("lines", "Who wrote what"), ("versions", "Versions"), ("compare", "Compare"))


def path_of(visit: Visit) -> str:
    """The document's path in full."""
    return visit.full(visit.place["path"])


def address_of(visit: Visit, **query: object) -> str:
    """The address of a page of the document."""
    return address(f"/documents/{visit.short(path_of(visit))}", **query)


def may(visit: Visit, tool: str) -> bool:
    """Whether the person's role has a tool."""
    return visit.caller.role in REGISTRY[tool].traits.roles


def document_page(
    visit: Visit, template: str, tab: str, values: Mapping[str, Any], problem: GardenError | None = None
) -> Page:
    """A page of the document; a `problem` is shown above it."""
    at = visit.query.get("at", "").strip()
    tabs = [(name, words, at if name in ("read", "lines") else "") for name, words in _TABS]
    shared = {
        "path": visit.short(path_of(visit)),
        "here": address_of(visit),
        "tab": tab,
        "tabs": [(name, words, address_of(visit, view=name, at=at)) for name, words, at in tabs],
        "problem": problem,
    }
    return Page(template, {**shared, **values}, STATUSES[problem.code] if problem else 200)
