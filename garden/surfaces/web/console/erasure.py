"""Erasure: every place of a passage or a document first, then the tombstone.

The words to erase travel in the bodies of forms only, never in an address.
"""

import hmac
import json
from collections.abc import Mapping
from typing import Any

from garden.events.erasures import Erasure
from garden.gateway.lookups import ERASURES_MAX
from garden.grammar.errors import GardenError
from garden.surfaces.web.console.visits import Page, Redirect, View, Visit, address
from garden.surfaces.web.problems import STATUSES

_PATHS_SHOWN_MAX = 200
_FIELDS = ("what", "path", "text", "reason")
_PLACES = {
    "file": ("file", "files"), "version": ("version", "versions"), "copy": ("history copy", "history copies"),
    "event": ("event", "events"), "note": ("note", "notes"), "annotation": ("annotation", "annotations"),
    "answer": ("stored answer", "stored answers"), "stray": ("temporary file", "temporary files"),
    "other": ("other file, which stays", "other files, which stay"),
    "unreadable": ("file that can't be searched", "files that can't be searched"),
}  # fmt: skip


def show_erasure(visit: Visit) -> Page:
    """Show the form and the earlier erasures."""
    path = visit.short(visit.query.get("path"))
    return _ask(visit, {"what": "document" if path else "passage", "path": path, "text": "", "reason": ""})


def preview(visit: Visit) -> Page:
    """Show every place that the erasure would reach."""
    return _preview(visit)


def erase(visit: Visit) -> Page | Redirect:
    """Erase what was previewed, once the person has confirmed it."""
    if not hmac.compare_digest(visit.form.get("mark", "").encode(), _mark(visit).encode()):
        return _preview(visit, problem="The form has changed since. Look at the places again.")
    if visit.form.get("sure", "").strip() != (visit.caller.user_id if _is_all(visit) else "yes"):
        return _preview(visit, problem="Nothing was erased: confirm it below first.")
    try:
        done = visit.session.garden.erase(**_wish(visit)).result
    except GardenError as error:
        return _preview(visit, error)
    if done.tombstone is None:
        return _preview(visit)
    return Redirect(address(f"/erasure/{done.tombstone}"))


def show_tombstone(visit: Visit) -> Page:
    """Show what stays of an erasure."""
    found = visit.garden.lookups.tombstone(visit.access, visit.place["id"])
    return Page("tombstone.html", {"tombstone": found, "what": _what(visit, found.erasure)})


def _ask(visit: Visit, form: Mapping[str, str], error: GardenError | None = None) -> Page:
    known = visit.garden.lookups.erasures(visit.access, visit.query.get("before"))
    older = address("/erasure", before=known[-1].erasure_id) if len(known) == ERASURES_MAX else None
    erasures = [(each, _what(visit, each)) for each in known]
    values = {"form": form, "error": error, "erasures": erasures, "older": older}
    return Page("erasure.html", values, STATUSES[error.code] if error else 200)


def _preview(visit: Visit, error: GardenError | None = None, problem: str = "") -> Page:
    form = {name: visit.form.get(name, "") for name in _FIELDS}
    try:
        found = visit.session.garden.erase(**_wish(visit), preview=True)
    except GardenError as refused:
        return _ask(visit, form, error or refused)
    documents: dict[str, list[str]] = {}
    for each in found.result.places:
        counted = f"{each.count:,} {_PLACES[each.what][each.count != 1]}"
        documents.setdefault(visit.short(each.path), []).append(counted)
    values = {
        "form": form, "is_all": _is_all(visit), "mark": _mark(visit), "error": error, "problem": problem,
        "found": found.result, "warnings": found.meta["warnings"],
        "documents": [*documents.items()][:_PATHS_SHOWN_MAX], "more": len(documents) - _PATHS_SHOWN_MAX,
    }  # fmt: skip
    return Page("erasure_preview.html", values, STATUSES[error.code] if error else 200)


def _wish(visit: Visit) -> dict[str, Any]:
    """The request of the form; a field that the choice does not need is left out."""
    form, what = visit.form, visit.form.get("what")
    path = form.get("path", "").strip()
    return {
        "path": visit.full(path) if path and what in ("document", "passage") else None,
        "text": form.get("text", "").strip() or None if what == "passage" else None,
        "everything": _is_all(visit) or None,
        "reason": form.get("reason", "").strip(),
    }


def _is_all(visit: Visit) -> bool:
    return visit.form.get("what") == "everything"


def _mark(visit: Visit) -> str:
    """What binds a confirmation to the request whose places were shown."""
    shown = json.dumps(_wish(visit)).encode()
    return hmac.digest(visit.form["form_token"].encode(), shown, "sha256").hex()


def _what(visit: Visit, erasure: Erasure) -> str:
    """What an erasure took, in words."""
    path = visit.short(erasure.path)
    if erasure.kind == "passage":
        return f"A passage in {path}" if path else "A passage in all documents"
    return path if erasure.kind == "document" else "Everything"


VIEWS = (
    View("GET", "/erasure", show_erasure),
    View("POST", "/erasure/preview", preview),
    View("POST", "/erasure", erase),
    View("GET", "/erasure/{id}", show_tombstone),
)
