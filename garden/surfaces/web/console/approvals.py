"""Approvals: calls that wait for a person's answer."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from garden.events.approvals import Approval, State
from garden.events.records import Caller
from garden.gateway.decisions import UNDO_SECONDS, ApprovalNotFoundError, Decision, may_decide
from garden.surfaces.web.bodies import parse_arguments
from garden.surfaces.web.console.pages import hides
from garden.surfaces.web.console.visits import Page, Redirect, View, Visit, address
from garden.surfaces.web.problems import STATUSES, HttpError
from garden.tools.registry import REGISTRY
from garden.tools.requests import InvalidRequestError, parse_form

_SHOWN_MAX = 10
_CHARACTERS_MAX = 4_000
"""Of a change or of arguments, among others; `_WHOLE_CHARACTERS_MAX` on a page of their own."""
_WHOLE_CHARACTERS_MAX = 100_000
_ENDINGS: Mapping[State, str] = {
    "pending": "It waits for an answer.",
    "approved": "It runs when the same call is sent again.",
    "denied": "The call is refused when it is sent again.",
    "used": "It was sent again and carried out.",
    "edited": "It was carried out with other arguments.",
    "void": "The document has changed since. If the call is still wanted, it is asked about anew.",
    "expired": "No answer came in time.",
}


@dataclass(frozen=True)
class Question:
    """A call that was asked about, and as much of its words as a page shows."""

    asked: Approval
    path: str
    """Of its document, below the user's folder."""
    diff: str
    arguments: str
    is_whole: bool
    seconds_left: int
    may_answer: bool
    may_edit: bool


@dataclass(frozen=True)
class Outcome:
    """What became of the call that the person has just answered."""

    asked: Approval
    ending: str
    is_own: bool
    problem: str
    """Why the answer counts for nothing, if it does."""
    seconds_to_undo: int


def show_approvals(visit: Visit) -> Page:
    """Show what waits, what was answered lately, and what became of the last answer."""
    waiting, next_waiting = _list(visit, "after", is_waiting=True)
    answered, next_answered = _list(visit, "answered-after", is_waiting=False)
    return Page(
        "approvals.html",
        {
            "waiting": [_question(visit, each, _CHARACTERS_MAX) for each in waiting],
            "answered": answered,
            "endings": _ENDINGS,
            "next_waiting": next_waiting,
            "next_answered": next_answered,
            "outcome": _outcome(visit),
        },
    )


def show_approval(visit: Visit) -> Page:
    """Show one call with its whole change."""
    asked = visit.garden.decisions.find(visit.caller, visit.place["id"])
    question = _question(visit, asked, _WHOLE_CHARACTERS_MAX)
    return Page("approval.html", {"question": question, "ending": _ENDINGS[asked.state]})


def approve(visit: Visit) -> Redirect:
    """Let a call run, once."""
    return _answer(visit, "approved", partial(visit.garden.decisions.decide, state="approved"))


def deny(visit: Visit) -> Redirect:
    """Deny a call, with the reason that its asker reads."""
    form = {"reason": visit.form.get("reason", "").strip() or None}
    reason = parse_form(Decision, form, "answer", "The reason is a few words on one line.").reason
    return _answer(visit, "denied", partial(visit.garden.decisions.decide, state="denied", reason=reason))


def undo(visit: Visit) -> Redirect:
    """Take the person's own answer back."""
    return _answer(visit, "pending", visit.garden.decisions.undo)


def edit(visit: Visit) -> Page | Redirect:
    """Show the arguments of a call to change them."""
    asked = visit.garden.decisions.find(visit.caller, visit.place["id"])
    if asked.state != "pending":
        return _to_outcome(visit, "edited")
    return _editor(visit, asked, _as_json(asked.args))


def carry_out(visit: Visit) -> Page | Redirect:
    """Preview the changed call, or carry it out as the person's own."""
    asked = visit.garden.decisions.find(visit.caller, visit.place["id"])
    text = visit.form.get("args", "")
    try:
        args = parse_arguments(text.encode())
    except HttpError as error:
        return _editor(visit, asked, text, error=error, status=error.status)
    if visit.form.get("do") != "carry_out":
        return _preview(visit, asked, text, args)
    done: dict[str, Any] = {}

    def work(_: Caller, approval_id: str) -> None:
        done.update(visit.garden.decisions.carry_out_edited(visit.access, approval_id, args))

    answered = _answer(visit, "edited", work)
    return answered if done.get("ok", True) else _refused(visit, asked, text, done["error"])


def _preview(visit: Visit, asked: Approval, text: str, args: Mapping[str, Any]) -> Page:
    if "dryRun" not in REGISTRY[asked.tool].request_schema["properties"]:
        return _editor(visit, asked, text, note=f"{asked.tool} has no preview.")
    envelope = visit.session.call(asked.tool, {**args, "dryRun": True})
    if not envelope["ok"]:
        return _refused(visit, asked, text, envelope["error"])
    diff = envelope["meta"].get("diff", "")[:_WHOLE_CHARACTERS_MAX]
    return _editor(visit, asked, text, diff=diff, note="" if diff else "This changes nothing.")


def _refused(visit: Visit, asked: Approval, text: str, error: Mapping[str, Any]) -> Page:
    return _editor(visit, asked, text, error=error, status=STATUSES[error["code"]])


def _editor(visit: Visit, asked: Approval, text: str, *, status: int = 200, **shown: Any) -> Page:
    question = _question(visit, asked, _CHARACTERS_MAX)
    known = {"question": question, "text": text, "diff": "", "note": "", "error": None}
    return Page("approval_edit.html", {**known, **shown}, status)


def _answer(visit: Visit, wanted: State, work: Callable[[Caller, str], object]) -> Redirect:
    """Record an answer; where it came too late, the next page says what was first."""
    try:
        work(visit.caller, visit.place["id"])
    except InvalidRequestError as error:
        if "state" not in (error.details or {}):
            raise
        return _to_outcome(visit, wanted)
    return _to_outcome(visit)


def _to_outcome(visit: Visit, wanted: str = "") -> Redirect:
    return Redirect(address("/approvals", done=visit.place["id"], wanted=wanted))


def _outcome(visit: Visit) -> Outcome | None:
    asked, wanted = None, visit.query.get("wanted")
    with suppress(ApprovalNotFoundError):
        asked = visit.garden.decisions.find(visit.caller, visit.query.get("done", ""))
    if asked is None:
        return None
    is_own = asked.decided_by == visit.caller.actor
    counts = not wanted or (is_own and wanted != "pending" and asked.state in (wanted, "used"))
    late = (
        "This answer can't be taken back any more." if wanted == "pending" else "Your answer came too late."
    )
    left = 0
    if is_own and asked.state in ("approved", "denied") and asked.decided_at:
        left = _seconds_until(min(asked.decided_at + timedelta(seconds=UNDO_SECONDS), asked.expires_at))
    return Outcome(asked, _ENDINGS[asked.state], is_own, "" if counts else late, left)


def _list(visit: Visit, cursor: str, *, is_waiting: bool) -> tuple[tuple[Approval, ...], str]:
    """Some approvals, and the address of the page with the next ones.

    Those that wait come oldest first, so that a new one moves no button that a person is about to press.
    """
    after = None
    with suppress(ValueError):
        after = UUID(visit.query.get(cursor, ""))
    wanted = {"is_waiting": is_waiting, "after": after, "limit": _SHOWN_MAX + 1}
    found = visit.garden.decisions.list(visit.caller, **wanted)
    if len(found) <= _SHOWN_MAX:
        return found, ""
    shown = found[:_SHOWN_MAX]
    return shown, address("/approvals", **{cursor: shown[-1].approval_id})


def _question(visit: Visit, asked: Approval, characters_max: int) -> Question:
    diff, arguments = asked.diff or "", _as_json(asked.args)
    path = (asked.args or {}).get("path")
    may_answer = asked.state == "pending" and may_decide(visit.caller, asked)
    return Question(
        asked,
        visit.short(path) if isinstance(path, str) else "",
        diff[:characters_max],
        arguments[:characters_max],
        max(len(diff), len(arguments)) <= characters_max,
        _seconds_until(asked.expires_at),
        may_answer,
        may_answer and visit.is_maintainer,
    )


def _seconds_until(at: datetime) -> int:
    return max(0, int((at - datetime.now(UTC)).total_seconds()))


def _as_json(args: Mapping[str, Any] | None) -> str:
    """Arguments as JSON in lines; characters that hide are escaped."""
    if args is None:
        return ""
    text = json.dumps(args, ensure_ascii=False, indent=2)
    hidden = {each for each in set(text) if hides(each) and each != "\n"}
    return text.translate({ord(each): json.dumps(each)[1:-1] for each in hidden})


VIEWS = (
    View("GET", "/approvals", show_approvals),
    View("GET", "/approvals/{id}", show_approval),
    View("GET", "/approvals/{id}/edit", edit),
    View("POST", "/approvals/{id}/edit", carry_out),
    View("POST", "/approvals/{id}/approve", approve),
    View("POST", "/approvals/{id}/deny", deny),
    View("POST", "/approvals/{id}/undo", undo),
)
