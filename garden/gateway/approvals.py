"""The permission gate: a call that the rules ask about runs once a person has approved exactly it."""

import hmac
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from garden.events.approvals import OPEN_MAX, Approval, ApprovalStore, State
from garden.events.encoding import encode
from garden.events.keyring import Keyring
from garden.files.paths import parse_path
from garden.gateway.access import Access
from garden.gateway.limits import RateLimitedError
from garden.gateway.parsed_call import ParsedCall
from garden.grammar.errors import GardenError
from garden.tools.declaration import Call
from garden.tools.request_paths import paths_in
from garden.tools.wire import CORRELATION, RecordedRequest, Request, WriteRequest

if TYPE_CHECKING:
    from garden.writing.planner import Plan

PERSON = "person"
"""Decides where the caller's own surface asks: at a prompt, or in a form of the client."""

_NEVER_ASKED = frozenset({"tools.list", "tools.help"})
_DIFF_CHARACTERS_MAX = 50_000
# A Change Log line of the edit itself begins with its time and ends with the id of its event.
_OWN_LINE = re.compile(r"(?m)^\+[ \t]*- \d{4}-\d\d-\d\d \d\d:\d\dZ .*evt:[0-9a-f-]{36}.*$")
_DENIED = "Access denied by creator."
_NO = frozenset({"denied", "expired", "edited"})


class DeniedError(GardenError):
    """The permission gate does not let the call pass."""

    code = "permission_denied"


class PermissionRequiredError(GardenError):
    """A person must approve the call first."""

    code = "permission_required"


class OutdatedApprovalError(GardenError):
    """The document changed after the call was approved."""

    code = "precondition_failed"


class Effect(NamedTuple):
    """What a call would change: documents with the hashes they have before it, and the diff."""

    places: tuple[tuple[str, str | None], ...]
    diff: str

    @property
    def bound(self) -> list[Any]:
        """What an approval is bound to: not the lines that hold a new time and id each time."""
        return [self.places, _OWN_LINE.sub("", self.diff)]


class Approvals:
    """The permission gate: allow, ask or deny."""

    def __init__(self, store: ApprovalStore, keys: Callable[[], Keyring], seconds: int) -> None:
        self.store = store
        self._keys = keys
        self._seconds = seconds

    def check(self, parsed: ParsedCall) -> Call:
        """Let a call pass that is allowed, or was approved exactly so; else refuse it.

        The call that it returns carries out nothing else than what was approved.
        """
        if not self.is_asked(parsed):
            return parsed.call
        effect = _find_effect(parsed)
        if effect is not None:
            [refused] = self.use([(parsed, effect)])
            if refused is not None:
                raise refused
        return held_to(effect, parsed.call)

    def is_asked(self, parsed: ParsedCall) -> bool:
        """Whether a person must approve a call; one that the rules deny is refused."""
        access, rules, tool, _, request, _ = parsed
        permission = "allow" if tool.name in _NEVER_ASKED else rules.permission(tool)
        if permission == "deny":
            raise DeniedError(_DENIED, hint=f"The policy denies {tool.name}; ask the operator.")
        is_preview = getattr(request, "dry_run", False) or getattr(request, "preview", False)
        if is_preview or access.edits_approval is not None:
            return False
        brings_secret = bool(parsed.warnings) and parsed.call.services.secrets == "ask"
        return permission == "ask" or brings_secret or (access.asks_before_writes and tool.traits.writes)

    def use(self, asked: Sequence[tuple[ParsedCall, Effect]]) -> list[GardenError | None]:
        """Use up the approvals of all these calls, or of none: then the refusals, of each its own."""
        questions = [self._question(*each) for each in asked]
        found = [self._find(each) for each in questions]
        denials = [_denied(each) if each and each.state in _NO else None for each in found]
        if any(denials):
            return [*denials]
        both = [*zip(found, questions, strict=True)]
        lacking = [question for each, question in both if each is None or each.state != "approved"]
        marks = {each.approval_id: question["effect_mark"] for each, question in both if each}
        if not lacking and self.store.take(questions[0]["user_id"], marks):
            return [None for _ in asked]
        # Where none is lacking, another process has just used one of them.
        return [self._ask(each) if not lacking or each in lacking else None for each in questions]

    def answer(self, access: Access, approval_id: UUID, *, is_yes: bool) -> None:
        """Record the answer that a person gave where the caller's own surface asked."""
        user_id, state = access.caller.user_id, "approved" if is_yes else "denied"
        if self.store.read(user_id, actor=access.caller.actor, approval_id=approval_id):
            self.store.change(user_id, "decide", approval_id=approval_id, state=state, by=PERSON, reason=None)

    def card_code(self, access: Access, approval_id: str) -> str:
        """The code with which the card of an approval answers; the client keeps it from the model."""
        named = ["card", access.caller.user_id, access.caller.actor, approval_id]
        return self._mark(named, "approval cards").hex()

    def answer_card(self, access: Access, approval_id: str, code: str, *, is_yes: bool) -> State:
        """Record the answer of a card that was made for this approval; returns what the call is now."""
        if not hmac.compare_digest(code.encode(), self.card_code(access, approval_id).encode()):
            raise DeniedError(
                "This is not the code of the card.", hint="Only the person at the card can answer it."
            )
        self.answer(access, UUID(approval_id), is_yes=is_yes)
        found = self.store.read(access.caller.user_id, approval_id=UUID(approval_id))
        return found[0].state if found else "void"

    def _question(self, parsed: ParsedCall, effect: Effect) -> dict[str, Any]:
        caller, tool, args = parsed.access.caller, parsed.tool.name, _canonical_args(parsed.request)
        return {
            "user_id": caller.user_id,
            "actor": caller.actor,
            "role": caller.role,
            "tool": tool,
            "args": args,
            "diff": effect.diff,
            "call_mark": self._mark([caller.user_id, caller.actor, tool, args]),
            "effect_mark": self._mark(effect.bound),
        }

    def _find(self, question: dict[str, Any]) -> Approval | None:
        """The newest approval of this call; one of another effect is void."""
        self.store.change(question["user_id"], "end_outdated", **question)
        return next(iter(self.store.read(question["user_id"], 1, call_mark=question["call_mark"])), None)

    def _ask(self, question: dict[str, Any]) -> GardenError:
        self.store.ask(question["user_id"], self._seconds, question)
        asked = self._find(question)
        if asked is not None and asked.state in ("pending", "approved"):
            return _required(asked, question["diff"])
        return RateLimitedError(
            f"{OPEN_MAX} calls of this user wait for a person's answer, and no more can.",
            hint="Have some of them answered: 'garden approvals list --state pending' shows them.",
        )

    def _mark(self, value: object, purpose: str = "approvals") -> bytes:
        # Keyed, because the mark stays after the words: only the key would let a reader confirm a guess.
        keyring = self._keys()
        return hmac.digest(keyring.derived_key(keyring.versions[-1], purpose), encode(value), "sha256")


def _find_effect(parsed: ParsedCall) -> Effect | None:
    """Find what a call would change, by a dry run where the tool has one; None if it would be a replay."""
    call, request = parsed.call, parsed.request
    if not isinstance(request, WriteRequest):
        return Effect(_hashes(call, request), "")
    plans: list[Plan] = []
    dry = request.model_copy(update={"dry_run": True})
    reply = parsed.tool.handler(replace(call, sees_plan=plans.append), dry)
    if reply.meta.get("replayed"):
        return None
    return effect_of(plans[-1]) if plans else Effect(_hashes(call, request), reply.meta.get("diff", ""))


def effect_of(plan: "Plan") -> Effect:
    """What a plan changes."""
    path = plan.intent.path.text
    return Effect(((path, plan.before.raw_hash if plan.before else None),), plan.applied.diff(path).text)


def held_to(effect: Effect | None, call: Call) -> Call:
    """The call, which carries out only what was approved; a replay carries out nothing."""

    def check_plan(plan: "Plan") -> None:
        if effect is None or effect_of(plan).bound != effect.bound:
            raise _outdated()

    def check_file(path: str, raw_hash: str) -> None:
        if effect is None or (path, raw_hash) not in effect.places:
            raise _outdated()

    return replace(call, sees_plan=check_plan, sees_file=check_file)


def _outdated() -> OutdatedApprovalError:
    return OutdatedApprovalError(
        "The document has changed since the call was approved.",
        hint="Send the call again, to have what it would do now approved.",
    )


def _hashes(call: Call, request: Request) -> tuple[tuple[str, str | None], ...]:
    found: dict[str, str | None] = {}
    for text in paths_in(request):
        path = parse_path(text, owner=call.caller.user_id)
        found[path.text] = None
        with suppress(GardenError):
            found[path.text] = call.services.files.read(path).hash
    return tuple(found.items())


def _canonical_args(request: Request) -> dict[str, Any]:
    """The arguments as they travel; those of a tool that records something without ids and key."""
    named = {*CORRELATION, "idempotency_key"} if isinstance(request, RecordedRequest) else None
    return request.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=named)


def _denied(found: Approval) -> DeniedError:
    details = {"approvalId": found.approval_id, "state": found.state, "eventId": found.event_id}
    if found.state == "edited":
        done = f" and carried it out as event {found.event_id}" if found.event_id else ""
        what = f"{_DENIED} {found.decided_by} changed the call{done}."
        return DeniedError(what, hint="Read what stands there now.", details=details)
    why = "the time for an answer is over" if found.state == "expired" else f"{found.decided_by} denied it"
    said = f", saying: {found.reason}" if found.reason else ""
    return DeniedError(_DENIED, hint=f"Leave this call: {why}{said}.", details=details)


def _required(asked: Approval, diff: str) -> PermissionRequiredError:
    shown = asked.model_dump(mode="json", by_alias=True, include=_SHOWN)
    how = f"'garden approvals approve {asked.approval_id}', or POST /v1/approvals/{asked.approval_id}/approve"
    return PermissionRequiredError(
        f"A person must allow {asked.tool} first.",
        hint=f"Have it approved ({how}), then send the same call again.",
        details={**shown, "diff": diff[:_DIFF_CHARACTERS_MAX], "isWhole": len(diff) <= _DIFF_CHARACTERS_MAX},
    )


_SHOWN = {"approval_id", "expires_at", "tool", "lines_added", "lines_removed"}
