"""Transactions at the gateway: several calls that edit documents, of which all are carried out, or none."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from garden.events.idempotency import RequestIdentity, identify_request
from garden.events.records import Caller
from garden.gateway.access import Access
from garden.gateway.account import CallRecord
from garden.gateway.approvals import Effect, effect_of, held_to
from garden.gateway.dispatcher import Dispatcher, Envelope, Gates, answer, expected_error, refusal
from garden.gateway.parsed_call import ParsedCall
from garden.gateway.several import NamedCall
from garden.gateway.shaping import shape
from garden.grammar.errors import GardenError
from garden.tools.declaration import Call, Edits
from garden.tools.edits import seen_result, write_reply
from garden.tools.progress import CallProgress
from garden.tools.request_paths import document_path
from garden.tools.requests import InvalidRequestError
from garden.tools.secrets import check_for_secrets
from garden.tools.wire import RecordedRequest, payload_of
from garden.writing.outcomes import WriteOutcome
from garden.writing.planner import Plan
from garden.writing.transactions import EditCall, RefusedCallsError, refused_at

CALLS_MAX = 20


class NotRunError(GardenError):
    """Another call of the transaction was refused."""

    code = "not_run"


def carry_out(
    dispatcher: Dispatcher, access: Access, calls: Sequence[NamedCall], key: str | None = None
) -> list[Envelope]:
    """Carry out all calls, or none; returns the envelope of each, in order.

    A call that is refused, or that a person must allow first, has that as its envelope, and the others are
    `not_run`; trouble with the disk or the database is the envelope of them all.
    """
    if len(calls) > CALLS_MAX:
        raise InvalidRequestError(
            f"A transaction has up to {CALLS_MAX} calls.", hint="Send them in several transactions."
        )
    started, caller = time.perf_counter(), access.caller
    access = replace(access, caller=replace(caller, transaction_id=caller.transaction_id or str(uuid4())))
    records = [dispatcher.gates.record(access, each.name, each.args) for each in calls]
    errors: list[GardenError | None] = [None] * len(calls)
    try:
        envelopes = _carry_out(dispatcher, records, partial(_identity, caller, key), started)
    except Exception as error:  # noqa: BLE001 - the outermost edge of every call
        refused = _refusals(error, len(calls))
        errors, envelopes = [*refused], [*map(refusal, refused)]
    for record, reason, envelope in zip(records, errors, envelopes, strict=True):
        # Each record is closed with the outcome of its own call.
        with suppress(GardenError), record:
            if reason is not None:
                raise reason
        dispatcher.report(record, envelope, started)
    return envelopes


def _carry_out(
    dispatcher: Dispatcher,
    records: Sequence[CallRecord],
    identify: Callable[[Sequence[ParsedCall]], RequestIdentity],
    started: float,
) -> list[Envelope]:
    """Take all calls through the chain together: each step for all of them, then the next step."""
    progress, parsed = CallProgress(), list[ParsedCall]()
    for index, record in enumerate(records):
        with refused_at(index):
            parsed.append(dispatcher.parse(record, progress))
            _fitting_edits(parsed[-1])
    for index, each in enumerate(parsed):
        with refused_at(index):
            dispatcher.gates.limits.take(each.access, each.rules, each.tool)
    identity = identify(parsed)
    calls = _let_pass(parsed, dispatcher.gates, identity)
    progress.begin(max(each.rules.deadline_seconds(each.tool) for each in parsed))
    replies = [*map(write_reply, _edit(parsed, calls, identity))]
    for record, each, reply in zip(records, parsed, replies, strict=True):
        record.reply, record.shaped = reply, shape(each.tool, each.request, reply)
    done = zip(records, parsed, replies, strict=True)
    return [
        answer(each.tool, reply, each.meta_of(reply, record.shaped, started)) for record, each, reply in done
    ]


def _let_pass(parsed: Sequence[ParsedCall], gates: Gates, identity: RequestIdentity) -> list[Call]:
    """Use up the approvals of all calls that are asked about, or none, and hold each call to its own."""
    asked, calls, plans = list[int](), [each.call for each in parsed], dict[int, Plan]()
    for index, each in enumerate(parsed):
        with refused_at(index):
            if gates.approvals.is_asked(each):
                _check_comes_first(parsed, index)
                asked.append(index)
                calls[index] = replace(each.call, sees_plan=partial(plans.__setitem__, index))
    if not asked:
        return calls
    effects: dict[int, Effect] = {}
    # A transaction that was carried out before has no plans, and asks no one again.
    if not _edit(parsed, calls, identity, dry_run=True)[0].replayed:
        effects = {index: effect_of(plans[index]) for index in asked}
        found = gates.approvals.use([(parsed[index], effects[index]) for index in asked])
        refused = {index: error for index, error in zip(asked, found, strict=True) if error}
        if refused:
            raise RefusedCallsError(refused)
    for index in asked:
        calls[index] = held_to(effects.get(index), parsed[index].call)
    return calls


def _edit(
    parsed: Sequence[ParsedCall], calls: Sequence[Call], identity: RequestIdentity, *, dry_run: bool = False
) -> list[WriteOutcome]:
    """Carry out the edits of all calls, or find what they would do."""
    edits = [_edit_of(*each) for each in zip(parsed, calls, strict=True)]
    transactions = calls[0].services.transactions
    return transactions.carry_out(parsed[0].access.caller, edits, identity, dry_run=dry_run)


def _edit_of(parsed: ParsedCall, call: Call) -> EditCall:
    edits, path = _fitting_edits(parsed), document_path(call.caller, parsed.request.path)
    return EditCall(call.caller, edits.intent(call, path, parsed.request), seen_result(call, edits))


def _fitting_edits(parsed: ParsedCall) -> Edits[Any]:
    """How a call makes its edit, unless it can't be part of a transaction."""
    tool, request = parsed.tool, parsed.request
    if tool.edits is None or tool.traits.maintains:
        every = parsed.call.tools.items()
        fitting = [name for name, each in every if each.edits and not each.traits.maintains]
        raise InvalidRequestError(
            f"{tool.name} can't be part of a transaction, which edits documents.",
            hint=f"Call it before or after. These can: {', '.join(fitting)}.",
        )
    if request.idempotency_key or request.transaction_id or request.dry_run:
        raise InvalidRequestError(
            "A call of a transaction has no idempotencyKey, transactionId or dryRun of its own.",
            hint="Send one idempotencyKey for all calls; propose_change previews a single edit.",
        )
    return tool.edits


def _check_comes_first(parsed: Sequence[ParsedCall], index: int) -> None:
    """Refuse to ask about an edit of a text that an earlier call leaves: its lines have new times and ids."""
    first = [document_path(each.call.caller, each.request.path) for each in parsed[: index + 1]]
    if first.index(first[-1]) < index:
        raise InvalidRequestError(
            "A person must allow this call, and an earlier one edits the same document.",
            hint="Put this call first, or send it alone.",
        )


def _identity(caller: Caller, key: str | None, parsed: Sequence[ParsedCall]) -> RequestIdentity:
    """What identifies the transaction when it is sent again."""
    payload = {"calls": [[each.tool.name, payload_of(each.request)] for each in parsed]}
    services, user_id = parsed[0].call.services, caller.user_id
    seconds = services.limits.resend_seconds
    identity = identify_request(caller, "transaction", user_id, payload, key=key, resend_seconds=seconds)
    check_for_secrets(services, caller, RecordedRequest.model_construct(idempotency_key=key))
    return identity


def _refusals(error: Exception, count: int) -> list[GardenError]:
    if not isinstance(error, RefusedCallsError):
        return [expected_error(error, "transaction")] * count
    index = min(error.reasons)
    other = NotRunError(
        f"Call {index + 1} of {count} was refused, so nothing was written.",
        hint="Look at the error of that one, then send all of them again.",
        details={"refusedIndex": index},
    )
    return [error.reasons.get(each, other) for each in range(count)]
