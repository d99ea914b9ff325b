"""Transactions: edits of one or more documents, of which all happen, or none.

1. Lock all documents in the order of their paths, so that no two transactions wait for each other.
2. Plan every edit; a refusal of one ends here, and nothing was written.
3. Write and sync the new contents under temporary names, and record all intents in one commit.
4. Put each content in its place, and seal its event. From step 3 on there is no way back.

The next process that opens a document of an interrupted transaction writes the recorded text. Several edits
of one document are one event: each is planned on the text that the one before leaves.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from garden.events.idempotency import EarlierRequest, RequestIdentity
from garden.events.payloads import EditPayload
from garden.events.records import Caller, Event
from garden.events.store import EventStore
from garden.events.stream import EventName, LockedStream
from garden.events.transactions import Beginning, begin_together
from garden.files.errors import FileError
from garden.files.failpoints import Failpoint, reach
from garden.files.paths import GardenPath
from garden.files.prepared_file import PreparedFile
from garden.grammar.apply import AppliedEdit
from garden.grammar.errors import GardenError
from garden.lint.comparison import compare
from garden.lint.report import Report
from garden.writing.outcomes import WriteOutcome, stored_response
from garden.writing.planner import Intent, Plan
from garden.writing.replays import AS_LEFT, answered_request, is_new_request, replay_outcome
from garden.writing.side_work import SideWork
from garden.writing.write_path import BuildResult, WritePath, outcome_of

SEVERAL_EDITS = "several_edits"
"""The op and the tool of an event of different edits."""
_LINE_CHARACTERS_MAX = 2000
_NO_ANSWER = "This call changed nothing, or its answer was erased."


class RefusedCallsError(GardenError):
    """Calls of a transaction were refused, by their index, and with them the transaction."""

    def __init__(self, reasons: Mapping[int, GardenError]) -> None:
        super().__init__("A call of the transaction was refused.")
        self.reasons = reasons


class UnfinishedTransactionError(GardenError):
    """A transaction is recorded, and the disk kept it from ending."""

    code: ClassVar[str] = "unavailable"


class EditCall(NamedTuple):
    """One call of a transaction: the caller with the call's own ids, and the edit."""

    caller: Caller
    intent: Intent
    build_result: BuildResult


class PlannedDocument(NamedTuple):
    """What a transaction does to one document, and the outcomes of its calls by their index."""

    stream: LockedStream
    name: EventName
    plan: Plan
    outcomes: Mapping[int, WriteOutcome]


@dataclass(frozen=True)
class Transactions:
    """Carries out transactions."""

    store: EventStore
    write_path: WritePath

    def carry_out(
        self, caller: Caller, calls: Sequence[EditCall], request: RequestIdentity, *, dry_run: bool = False
    ) -> list[WriteOutcome]:
        """Carry out all calls, or none; the outcomes survive any crash. A dry run only plans them."""
        first, *others = sorted({call.intent.path.text for call in calls})
        with ExitStack() as locks:
            held = locks.enter_context(self.store.document(caller, first, request))
            second = (self.store.lock_second(held, path, request) for path in others)
            streams = {GardenPath(each.path): each for each in [held, *map(locks.enter_context, second)]}
            reach(Failpoint.LOCKED)
            for path, stream in streams.items():
                self.write_path.settler.settle(stream, path)
            replayed = self._replay(streams, len(calls))
            if replayed is not None:
                return replayed
            moves = (self.write_path.hand_moves.find(stream, path) for path, stream in streams.items())
            move = next(filter(None, moves), None)
            if move is None:
                return self._write(streams, calls, dry_run=dry_run)
        self.write_path.adopt_move(move)
        return self.carry_out(caller, calls, request, dry_run=dry_run)

    def _write(
        self, streams: Mapping[GardenPath, LockedStream], calls: Sequence[EditCall], *, dry_run: bool
    ) -> list[WriteOutcome]:
        planned = [self._plan(stream, path, calls) for path, stream in streams.items()]
        reach(Failpoint.PLANNED)
        changed = [each for each in planned if not each.plan.unchanged]
        if changed and not dry_run:
            self.write_path.disk_space.check()
            self._carry_out(changed)
        outcomes = {index: outcome for each in planned for index, outcome in each.outcomes.items()}
        return [outcomes[index] for index in range(len(calls))]

    def _plan(self, stream: LockedStream, path: GardenPath, calls: Sequence[EditCall]) -> PlannedDocument:
        """Plan all edits of one document, each on the text that the one before leaves."""
        own = {index: call for index, call in enumerate(calls) if call.intent.path == path}
        name, plans, outcomes = stream.next_name(), list[Plan](), dict[int, WriteOutcome]()
        with refused_at(next(iter(own))):
            opened = self.write_path.open_and_adopt(stream, path)
        current = opened.current
        for index, (caller, intent, build_result) in own.items():
            # Its ids may hold erased words.
            stream.caller = caller
            with refused_at(index):
                asked = intent.at_version(stream.head.version, current)
                plan = self.write_path.planner.plan(asked, current, name, stream.damage)
                outcome = outcome_of(plan, build_result(plan), opened.adopted)
                if not plan.unchanged:
                    self.write_path.erased_text.refuse_plan(stream, plan)
            outcomes[index] = replace(
                outcome,
                event_id=None if plan.unchanged else name.event_id,
                unchanged=plan.unchanged,
                also={**outcome.also, "transactionId": caller.transaction_id},
            )
            plans.append(plan)
            current = plan.after
        # The event has the ids of the document's first call.
        stream.caller = next(iter(own.values())).caller
        return PlannedDocument(stream, name, combined(plans), outcomes)

    def _carry_out(self, changed: Sequence[PlannedDocument]) -> None:
        """Record all changes at once, then write and seal each of them."""
        ids = [str(each.name.event_id) for each in changed]
        with ExitStack() as files:
            prepared = [files.enter_context(self._prepare(each.plan, each.name)) for each in changed]
            for file in prepared:
                file.sync_content()
            reach(Failpoint.PREPARED)
            begun = begin_together([_beginning(*each, ids) for each in zip(changed, prepared, strict=True)])
            reach(Failpoint.BEGUN)
            errors = [*filter(None, map(self._finish, changed, begun, prepared))]
        if errors:
            raise UnfinishedTransactionError(
                f"The transaction is recorded, and not yet written everywhere: {errors[0].message}",
                hint="The sweep finishes it, or the next call that opens its documents. Send it again with "
                "its idempotencyKey for its answer; events.query shows its events.",
                details={"eventIds": ids},
            )

    def _prepare(self, plan: Plan, name: EventName) -> PreparedFile:
        path, replaced = plan.intent.path, plan.before.raw_hash if plan.before else None
        copy = path.copy_of(name.at, name.event_id) if plan.keeps_copy else None
        return self.write_path.files.prepare(path, plan.content, expected=replaced, keep_previous=copy)

    def _finish(self, changed: PlannedDocument, event: Event, prepared: PreparedFile) -> FileError | None:
        """Write and seal one change; an error of its file is returned, because the others must go on."""
        plan = changed.plan
        before, version = plan.before.document if plan.before else None, event.document_version or 1
        work_out, after = self.write_path.indexing.encoded_changes, plan.after.document
        passages = work_out(plan.intent.path, before, after, version, event.created_at)
        try:
            prepared.put()
            reach(Failpoint.WRITTEN)
            names = SideWork(prepared.sync_names)
            self.write_path.seal(changed.stream, event, _stored_answer(event), names, passages)
        except FileError as error:
            return error
        self.write_path.documents.remember(plan.after)
        return None

    def _replay(self, streams: Mapping[GardenPath, LockedStream], count: int) -> list[WriteOutcome] | None:
        """The stored answers of a transaction that was carried out before, or None if it is a new one."""
        # Only the stream that brought the request knows that it has been settled.
        settled = (each for each in streams.values() if each.earlier is None or each.earlier.response)
        stream = next(settled, next(iter(streams.values())))
        earlier = answered_request(stream)
        if earlier is None:
            # Where a person's edit came before the one change with the answer, the others were made.
            self.write_path.erased_text.refuse_lost_answer(stream)
            return None
        replays, user_id = self.write_path.replays, stream.caller.user_id
        ids = (earlier.response or {}).get("events", ())
        events = [*filter(None, (replays.reader.event(user_id, UUID(each)) for each in ids))]
        effects = [replays.effect_of(streams[GardenPath(event.stream)], event) for event in events]
        if any(since is not AS_LEFT for since, _ in effects) and is_new_request(stream, records=True):
            return None
        outcomes = dict[int, WriteOutcome]()
        for event, (since, stands) in zip(events, effects, strict=True):
            for index, response in _stored_answer(event).get("calls", {}).items():
                outcome = replay_outcome(EarlierRequest(event.event_id, response), since, stands=stands)
                also = {**outcome.also, "transactionId": event.caller.transaction_id}
                outcomes[int(index)] = replace(outcome, also=also)
        unknown = WriteOutcome(None, replayed=True, warnings=(_NO_ANSWER,))
        return [outcomes.get(index, unknown) for index in range(count)]


@contextmanager
def refused_at(index: int) -> Iterator[None]:
    """Say which call of a transaction was refused."""
    try:
        yield
    except GardenError as error:
        raise RefusedCallsError({index: error}) from None


def combined(plans: Sequence[Plan]) -> Plan:
    """One plan for several edits of one document."""
    changing = [plan for plan in plans if not plan.unchanged] or plans[:1]
    first, last = changing[0], changing[-1]
    if first is last:
        return first
    logged = any(plan.applied.logged for plan in changing)
    return replace(
        last,
        intent=_combined_intent([plan.intent for plan in changing]),
        before=first.before,
        applied=AppliedEdit(first.applied.before, last.applied.after, None, logged),
        comparison=compare(first.before.report if first.before else Report(), last.after.report),
    )


def _combined_intent(intents: Sequence[Intent]) -> Intent:
    tools, ops = {each.tool for each in intents}, {each.op for each in intents}
    return replace(
        intents[0],
        tool=tools.pop() if len(tools) == 1 else SEVERAL_EDITS,
        op=ops.pop() if len(ops) == 1 else SEVERAL_EDITS,
        rationale=_joined(each.rationale for each in intents),
        override_rationale=_joined(each.override_rationale for each in intents),
        evidence_refs=tuple(dict.fromkeys(ref for each in intents for ref in each.evidence_refs)),
        asked={"edits": [{"tool": each.tool, "op": each.op, **each.asked} for each in intents]},
    )


def _joined(reasons: Iterator[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(filter(None, reasons)))[:_LINE_CHARACTERS_MAX] or None


def _beginning(changed: PlannedDocument, file: PreparedFile, events: Sequence[str]) -> Beginning:
    """The intent, with the answers of its own calls alone: an erasure in this document finds them there."""
    calls = {str(index): stored_response(outcome) for index, outcome in changed.outcomes.items()}
    answer, plan = {"calls": calls, "events": events}, changed.plan
    statement = plan.statement(answer, file.file_time, in_transaction=True)
    return Beginning(changed.stream, statement, plan.change(), changed.name)


def _stored_answer(event: Event) -> Mapping[str, Any]:
    payload = event.statement.edit
    return (payload.answer if isinstance(payload, EditPayload) else None) or {}
