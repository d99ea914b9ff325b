"""A session: one actor working in one user's garden."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from garden.gateway.access import Access
from garden.gateway.approvals import Approvals, PermissionRequiredError
from garden.gateway.archon import run_archon
from garden.gateway.dispatcher import Dispatcher, Envelope
from garden.gateway.several import call_in_order, parse_calls, summed_up
from garden.home.settings import Profile
from garden.surfaces.python.answers import Answer
from garden.surfaces.python.toolbelt import Toolbelt
from garden.tools.descriptions import ListFormat, tool_list, tool_prompt, tools_in
from garden.tools.progress import CallProgress


class Session(Toolbelt):
    """The tools for one actor in one garden.

    The typed methods return an `Answer` with result and meta, or raise a `GardenError`. `call` takes a tool's
    name and its JSON arguments and returns the envelope, for a refusal as well.

    A surface with a person at hand sets `confirm`, which gets what a call asks a person to allow.
    """

    confirm: Callable[[Mapping[str, Any]], bool] | None = None

    def __init__(self, dispatcher: Dispatcher, access: Access, approvals: Approvals) -> None:
        super().__init__(partial(_ask, dispatcher, access))
        self.caller = access.caller
        self.access = access
        self._dispatcher = dispatcher
        self._approvals = approvals

    def call(
        self, tool: str, args: Mapping[str, Any] | None = None, progress: CallProgress | None = None
    ) -> Envelope:
        """Call a tool by name; `progress` reports its steps and can cancel it."""
        return self._call(self.access, tool, {} if args is None else args, progress)

    def call_several(self, request: object) -> dict[str, Any]:
        """Make several calls in order, each `{"name", "args"}`; a refusal of the gate stops the rest.

        `request` is the list of them, or `{"tools": [...], "transaction": true, "idempotencyKey": "..."}`:
        in a transaction all edits happen, or none.
        """
        wanted = parse_calls(request)
        if wanted.transaction:
            # It loads the write path, which a listing does without.
            from garden.gateway.transactions import carry_out

            work = partial(carry_out, self._dispatcher, self.access, wanted.tools, wanted.idempotency_key)
            return summed_up(wanted.tools, self._until_answered(work))
        calls = ((each.name, each.args) for each in wanted.tools)
        return summed_up(wanted.tools, *call_in_order(self.call, calls))

    def answer(self, approval_id: str, *, is_yes: bool) -> None:
        """Record a person's answer to a call of this session that asked."""
        self._approvals.answer(self.access, UUID(approval_id), is_yes=is_yes)

    def transaction(
        self, calls: Sequence[Mapping[str, Any]], idempotency_key: str | None = None
    ) -> dict[str, Any]:
        """Carry out several calls, each `{"name", "args"}`, that edit documents: all of them, or none."""
        return self.call_several({"tools": calls, "transaction": True, "idempotencyKey": idempotency_key})

    def archon(self, request: object) -> dict[str, Any]:
        """Carry out a request in the Archon envelope; one of another shape is an `invalid_input`."""
        return run_archon(self._call, self.access, request)

    def _call(
        self, access: Access, tool: str, args: Mapping[str, Any], progress: CallProgress | None = None
    ) -> Envelope:
        [envelope] = self._until_answered(lambda: [self._dispatcher.call(access, tool, args, progress)])
        return envelope

    def _until_answered(self, work: Callable[[], list[Envelope]]) -> list[Envelope]:
        """Have the person at hand answer what the calls ask, and make them again."""
        envelopes = work()
        while self.confirm is not None and (asked := [*filter(asks_person, envelopes)]):
            for each in asked:
                details = each["error"]["details"]
                is_yes = self.confirm(details)
                self.answer(details["approvalId"], is_yes=is_yes)
                if not is_yes:
                    break
            envelopes = work()
        return envelopes

    def prompt(self) -> str:
        """Describe the tools that this caller may use, for a system prompt."""
        return tool_prompt(self._dispatcher.tools_of(self.access), self.caller.user_id)

    def tool_list(self, list_format: ListFormat, profile: Profile = "full") -> list[dict[str, Any]]:
        """List the tools of a profile that this caller may use, in a format of tool schemas."""
        return tool_list(list_format, tools_in(profile, self._dispatcher.tools_of(self.access)))

    def ask(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        """Call a tool by name and return what its typed method returns."""
        answer: Answer[Any] = self._ask(tool, fields)
        return answer


def asks_person(envelope: Envelope) -> bool:
    """Whether a call was refused until a person allows it."""
    return not envelope["ok"] and envelope["error"]["code"] == PermissionRequiredError.code


def _ask(dispatcher: Dispatcher, access: Access, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
    given = {name: value for name, value in fields.items() if value is not None}
    result, meta = dispatcher.run(access, tool, given)
    return Answer(result, meta)
