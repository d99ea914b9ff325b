"""The decisions of those who approve: reviewers and maintainers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

from garden.events.approvals import STATES, Approval, ApprovalStore, State
from garden.events.records import Caller
from garden.events.wire import Wire
from garden.gateway.access import Access
from garden.gateway.approvals import DeniedError
from garden.gateway.dispatcher import Dispatcher, Envelope
from garden.grammar.errors import GardenError
from garden.lint.secrets import as_seen, secrets_in
from garden.tools.requests import InvalidRequestError
from garden.tools.wire import Words
from garden.writing.callers import Role

UNDO_SECONDS = 30
_FINAL: Mapping[State, str] = {
    "used": "the call was carried out",
    "edited": "the call was carried out with other arguments",
    "void": "the document has changed since",
    "expired": "the time for an answer is over",
}


class ApprovalNotFoundError(GardenError):
    """The caller sees no approval with this id."""

    code: ClassVar[str] = "not_found"


class Decision(Wire):
    """An answer to a call; with `args` the approver carries it out with these instead."""

    args: dict[str, Any] | None = None
    reason: Words | None = None


class Decisions:
    """Lists approvals and decides them."""

    def __init__(self, store: ApprovalStore, dispatcher: Dispatcher) -> None:
        self._store = store
        self._dispatcher = dispatcher

    def list(self, caller: Caller, **wanted: Any) -> tuple[Approval, ...]:
        """List approvals, newest first: all of the user, or for an agent its own."""
        if wanted.get("state") not in (None, *STATES):
            raise InvalidRequestError("There is no such state.", hint=f"There are: {', '.join(STATES)}.")
        if caller.role == Role.AGENT:
            wanted["actor"] = caller.actor
        return self._store.read(caller.user_id, **wanted)

    def find(self, caller: Caller, approval_id: str) -> Approval:
        """Find an approval that the caller may see."""
        try:
            [found] = self.list(caller, approval_id=UUID(approval_id))
        except ValueError:
            raise ApprovalNotFoundError(
                "There is no such approval.", hint="'garden approvals list' shows their ids."
            ) from None
        return found

    def decide(self, caller: Caller, approval_id: str, state: State, reason: str | None = None) -> Approval:
        """Answer a call: `approved` lets its asker send it again, once and unchanged; or `denied`."""
        found = self.find(caller, approval_id)
        if not may_decide(caller, found):
            raise DeniedError(
                "An actor can't approve or deny its own calls, nor can an agent another's.",
                hint="Decide it as a reviewer or a maintainer with another actor.",
            )
        if reason and any(secret.certain for secret in secrets_in(as_seen(reason))):
            raise InvalidRequestError("The reason holds a secret.", hint="Leave it out.")
        answer = {"state": state, "by": caller.actor, "reason": reason}
        is_new = self._store.change(caller.user_id, "decide", approval_id=found.approval_id, **answer)
        found = self.find(caller, approval_id)
        # The same answer may be sent twice, but not the same edit.
        if not is_new and (state == "edited" or (found.state, found.decided_by) != (state, caller.actor)):
            raise InvalidRequestError(
                f"This approval is {found.state} and can't be decided.",
                hint="If the call is still wanted, have it sent again.",
                details={"state": found.state, "decidedBy": found.decided_by, "eventId": found.event_id},
            )
        return found

    def undo(self, caller: Caller, approval_id: str) -> Approval:
        """Take the caller's own answer back, shortly after it; one that waits already stays as it is."""
        found = self.find(caller, approval_id)
        answer = {"by": caller.actor, "seconds": UNDO_SECONDS}
        is_done = self._store.change(caller.user_id, "reopen", approval_id=found.approval_id, **answer)
        found = self.find(caller, approval_id)
        if not is_done and found.state != "pending":
            raise InvalidRequestError(
                f"This answer can't be taken back: {_why_final(caller, found)}.",
                hint="If the call was carried out, undo its event.",
                details={"state": found.state, "decidedBy": found.decided_by, "eventId": found.event_id},
            )
        return found

    def carry_out_edited(
        self, access: Access, approval_id: str, args: Mapping[str, Any], reason: str | None = None
    ) -> Envelope:
        """Carry the call out with other arguments as the approver's own; a refusal leaves it pending."""
        asked = self.decide(access.caller, approval_id, "edited", reason)
        envelope = self._dispatcher.call(replace(access, edits_approval=asked.approval_id), asked.tool, args)
        event_id = envelope["meta"].get("eventId") if envelope["ok"] else None
        closed = {"state": "edited" if envelope["ok"] else "pending", "event_id": event_id}
        user_id = access.caller.user_id
        self._store.change(user_id, "close_edit", approval_id=asked.approval_id, **closed)
        return envelope


def may_decide(caller: Caller, asked: Approval) -> bool:
    """Whether a caller may answer this call: no agent, and no actor its own."""
    return caller.role != Role.AGENT and caller.actor != asked.actor


def _why_final(caller: Caller, found: Approval) -> str:
    if found.state in _FINAL:
        return _FINAL[found.state]
    if found.decided_by != caller.actor:
        return f"it is {found.decided_by}'s"
    return f"more than {UNDO_SECONDS} seconds have passed, or the same call is asked about anew"
