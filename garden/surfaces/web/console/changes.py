"""Ways back for a document: restore, undo, repair and fix, each shown before it is done.

The form of a preview carries the hash of the text that the preview was made from, and a key. So what is done
is what was shown, and once, however often the form is sent.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from garden.grammar.errors import GardenError
from garden.surfaces.web.console.document_pages import address_of, document_page, path_of
from garden.surfaces.web.console.visits import Answer, Page, Redirect, Visit
from garden.surfaces.web.problems import NoRouteError

_OUTDATED = (
    "The document has changed since you saw the preview. Nothing was done; this is the preview of now."
)


# By the name of the tool: the heading of the preview, and the words of its button.
_WAYS = {
    "restore": ("Restore an earlier version", "Restore it"),
    "undo": ("Undo one change", "Undo it"),
    "repair": ("Repair the document", "Repair it"),
    "fix": ("Fix what can be fixed", "Fix it"),
}

Wish = Mapping[str, str]
"""What a person wants done: the way, and the `version` or the `event`, and why it may `override` a limit."""


def preview_change(visit: Visit) -> Page:
    """Show what a change would do."""
    return _preview(visit, _wish(visit.query))


def change_document(visit: Visit) -> Answer:
    """Do what a preview has shown; if the document has changed since, show a new preview instead."""
    wish, seen_hash = _wish(visit.form), visit.form.get("hash", "")
    if not seen_hash and _hash_of(visit) is not None:
        return _preview(visit, wish, notice=_OUTDATED)
    given = {
        "rationale": visit.form.get("rationale", "").strip() or None,
        "if_match": seen_hash or None,
        "idempotency_key": visit.form.get("key") or None,
    }
    try:
        done = _ask(visit, wish, **given)
    except GardenError as problem:
        if problem.code == "precondition_failed":
            return _preview(visit, wish, notice=_OUTDATED)
        return _preview(visit, wish, problem=problem, key=given["idempotency_key"])
    return Redirect(address_of(visit, done="unchanged" if done.get("unchanged") else wish["do"]))


def _wish(given: Mapping[str, str]) -> Wish:
    if given.get("do") not in _WAYS:
        raise NoRouteError("There is no such change.", hint="Start from the document.")
    return {name: given.get(name, "").strip() for name in ("do", "version", "event", "override")}


def _ask(visit: Visit, wish: Wish, **more: Any) -> Mapping[str, Any]:
    """Call the tool; returns the meta of its answer."""
    do, number = wish["do"], wish["version"]
    is_number = do == "restore" and number.isdecimal() and len(number) < 10
    arguments = {
        "path": path_of(visit),
        "version": int(number) if is_number else None,
        "event": wish["event"] or None if do in ("undo", "restore") else None,
        "override_rationale": wish["override"] or None,
    }
    return visit.session.ask(f"md.{do}", {**arguments, **more}).meta


def _preview(
    visit: Visit,
    wish: Wish,
    *,
    notice: str = "",
    problem: GardenError | None = None,
    key: str | None = None,
) -> Page:
    seen_hash, (title, button) = _hash_of(visit), _WAYS[wish["do"]]
    planned: Mapping[str, Any] | None = None
    try:
        planned = _ask(visit, wish, if_match=seen_hash, dry_run=True)
    except GardenError as refusal:
        problem = problem or refusal
    values = {
        "wish": wish,
        "title": title,
        "button": button,
        "notice": notice,
        "planned": planned,
        "hash": seen_hash or "",
        "key": key or secrets.token_hex(16),
        "rationale": visit.form.get("rationale", ""),
    }
    return document_page(visit, "document_change.html", "versions", values, problem)


def _hash_of(visit: Visit) -> str | None:
    """The hash of the text as it is now; None if its file is missing."""
    try:
        return visit.session.fs.hash(path_of(visit)).result
    except GardenError as problem:
        if problem.code == "not_found":
            return None
        raise
