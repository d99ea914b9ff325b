"""A garden in memory that judges answers: which of its states make an answer true?

Calls that run at once may take effect in any order, and a killed call may or may not have taken effect. So
the judge keeps every state that explains the answers up to now; an answer that no state explains is a lie.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from tests.writing.sequences.calls import JOURNAL, Call
from tests.writing.sequences.pages import (
    Page,
    RefusedError,
    edited,
    erased_in,
    holds,
    is_whole,
    without_erased,
)

Answer = Mapping[str, Any] | None
_BUSY = "in_progress"
_ERASURE = 0


@dataclass(frozen=True)
class Record:
    """A request that was carried out: its mark, its effect, and its answer unless its process was killed."""

    words: Hashable
    mark: Hashable
    tool: str
    path: str
    before: Page | None = None
    after: Page | None = None
    new_path: str = ""
    event: str | None = None
    result: Any = None


@dataclass(frozen=True)
class Seen:
    """What a person sees below the home: files, the folder that calls make, and copies in the history."""

    pages: Mapping[str, Page | None]
    files: Mapping[str, Hashable]
    folders: frozenset[str]
    copies: Mapping[str, Page]


@dataclass(frozen=True)
class State:
    """One possible state: what is on the disk, what the event log has, and which requests it remembers.

    Files and the versions `logged` last are compared by their bytes: a call's number stands for the bytes
    that it wrote, until they are seen. None stands for no file. An erasure may have taken `doubtful` records.
    """

    pages: Mapping[str, Page | None]
    files: Mapping[str, Hashable]
    logged: Mapping[str, Hashable]
    newest: Mapping[str, Hashable] = field(default_factory=dict)
    moves: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    records: Mapping[Hashable, Record] = field(default_factory=dict)
    doubtful: frozenset[Hashable] = frozenset()

    def adopted(self, paths: Iterable[str], number: int) -> "State":
        """The state after the outside edits of some documents are recorded."""
        drifted = [path for path in paths if self.files[path] not in {None, self.logged[path]}]
        if not drifted:
            return self
        logged = {**self.logged, **{path: self.files[path] for path in drifted}}
        return replace(self, logged=logged, newest={**self.newest, **dict.fromkeys(drifted, -number)})

    def written(self, path: str, page: Page | None, call: Call) -> "State":
        """The state after a call changed a document."""
        content = None if page is None else call.number
        files, logged = ({**each, path: content} for each in (self.files, self.logged))
        state = _marked(self, call, path)
        return replace(state, pages={**self.pages, path: page}, files=files, logged=logged)

    def looked_at(self, seen: Seen) -> "State":
        """The state with the bytes that are seen."""
        same = {path for path, content in self.files.items() if self.logged[path] == content}
        logged = {path: seen.files[path] if path in same else self.logged[path] for path in self.logged}
        return replace(self, files=seen.files, logged=logged)


class Judge:
    """Keeps the states that explain all answers; `templates` are the pages of new documents."""

    def __init__(self, paths: Sequence[str], templates: Mapping[str, Page]) -> None:
        nothing = dict.fromkeys(paths)
        self.states = [State(nothing, nothing, nothing)]
        self._templates = templates
        self._copies: Mapping[str, Page] = {}
        self._shared_keys: set[str] = set()
        self._has_erased = False

    def is_true(self, calls: Sequence[Call], answers: Sequence[Answer], seen: Seen) -> bool:
        """Whether some order of these calls explains their answers, and what is seen then."""
        self._copies = seen.copies
        keys = Counter(call.key for call in calls)
        self._shared_keys = {key for key, count in keys.items() if key is not None and count > 1}
        found = (
            after
            for state in self.states
            for after in self._orders(state, list(zip(calls, answers, strict=True)))
        )
        self.states = _distinct(
            state.looked_at(seen)
            for state in found
            if state.pages == seen.pages and state.folders == seen.folders
        )
        return bool(self.states)

    def see(self, seen: Seen) -> None:
        """A person has changed files."""
        self._copies = seen.copies
        self.states = [
            replace(state, pages=seen.pages, files=seen.files, folders=seen.folders) for state in self.states
        ]

    def is_erased(self, answer: Mapping[str, Any], seen: Seen) -> bool:
        """Whether an erasure left none of the words; it may have recorded outside edits."""
        self._copies = seen.copies
        if not answer["ok"] or any(map(erased_in, [*seen.pages.values(), *seen.copies.values()])):
            return False
        if "tombstone" in answer["result"]:
            self._has_erased = True
            found = (after for state in self.states for after in _erasures(state, seen))
            self.states = _distinct(found)
        return bool(self.states)

    def _orders(self, state: State, waiting: list[tuple[Call, Answer]]) -> Iterator[State]:
        if not waiting:
            yield state
        for number, (call, answer) in enumerate(waiting):
            for after in _distinct(self._after(state, call, answer)):
                yield from self._orders(after, waiting[:number] + waiting[number + 1 :])

    def _after(self, state: State, call: Call, answer: Answer) -> Iterator[State]:
        """The states in which this answer to a call leaves the garden; none if it is not true."""
        if call.identity in state.doubtful:
            if call.key is not None and answer is not None and _code(answer) == "idempotency_conflict":
                # The erasure took its answer, so that it is not carried out twice.
                yield from [state] if call.dry_run else _openings(state, call)
            certain = replace(state, doubtful=state.doubtful - {call.identity})
            # Without an event of its own the key is as before, whether the erasure took its answer or not.
            left = state.doubtful if not _has_event(answer) else certain.doubtful
            for each in (certain, _forgotten(certain, call)):
                for after in self._after(each, call, answer):
                    yield replace(after, doubtful=left)
            return
        is_busy = answer is not None and _code(answer) == _BUSY and call.key in self._shared_keys
        record = state.records.get(call.identity) if call.identity is not None else None
        if record is not None and call.key is not None and record.words != call.words:
            if answer is None or is_busy or _code(answer) == "idempotency_conflict":
                yield state
        elif record is not None and self._is_repeated(state, record, call):
            yield from self._replayed(state, record, call, answer)
        elif answer is not None and _code(answer) == "erased":
            if self._has_erased and (
                call.brings_erased or any(erased_in(state.pages[path]) for path in call.paths)
            ):
                yield state
                yield from [] if call.dry_run else _openings(_forgotten(state, call), call)
        elif call.dry_run:
            if answer is None or is_busy or self._is_true_preview(state, call, answer):
                yield state
        elif answer is None or is_busy:
            yield state
            yield from self._interrupted(_forgotten(state, call), call, killed=answer is None)
        else:
            yield from self._carried_out(_forgotten(state, call), call, answer)

    def _is_repeated(self, state: State, record: Record, call: Call) -> bool:
        if not call.only_while_newest:
            return True
        if state.newest.get(JOURNAL if call.tool == "events.log" else call.path) != record.mark:
            return False
        if call.tool == "events.log":
            return True
        if call.tool == "fs.move":
            return state.pages[call.path] is None and bool(self._stands(state, record))
        return state.files[call.path] is not None and state.files[call.path] == state.logged[call.path]

    def _replayed(self, state: State, record: Record, call: Call, answer: Answer) -> Iterator[State]:
        if answer is None:
            yield state
            return
        if not answer["ok"]:
            return
        meta, result = answer["meta"], answer["result"]
        is_same = record.event is None or (record.event, record.result) == (meta.get("eventId"), result)
        is_said = meta.get("replayed") and any("carried out before" in each for each in meta["warnings"])
        learned = replace(record, event=meta.get("eventId"), result=result)
        if is_same and is_said and self._stands(state, learned) in {None, meta.get("effectStands")}:
            yield replace(state, records={**state.records, call.identity: learned})

    def _stands(self, state: State, record: Record) -> bool | None:
        """Whether the effect of a request is still there; None where lines can't tell."""
        match record.tool:
            case "events.log":
                return True
            case "fs.ensure_dir":
                return record.path in state.folders
            case "md.snapshot_history":
                return self._copies.get(record.result["historyPath"]) == record.after
            case "fs.move":
                is_there = state.pages[record.new_path] is not None
                return is_there and state.moves.get(record.new_path) == ("from", record.path)
        page, before, after = state.pages[record.path], record.before or (), record.after or ()
        if page is None:
            return False
        if self._has_erased and erased_in((*before, *after)):
            return None
        return None if before == after else holds(page, before, after)

    def _interrupted(self, state: State, call: Call, *, killed: bool) -> Iterator[State]:
        """A killed call has had its effect or not; it may have recorded outside edits before."""
        yield from _openings(state, call)
        if not killed:
            return
        if call.tool == "fs.ensure_dir":
            yield replace(state, folders=state.folders | {call.path})
        with suppress(RefusedError):
            yield self._effect(_all_opened(state, call), call, None)

    def _is_true_preview(self, state: State, call: Call, answer: Mapping[str, Any]) -> bool:
        try:
            after = self._effect(_all_opened(state, call), call, answer)
        except RefusedError as refused:
            return _code(answer) in refused.codes
        if not answer["ok"] or answer["meta"].get("replayed"):
            return not answer["ok"] and _may_be_refused(call, answer)
        changes = after.pages != state.pages or after.folders != state.folders
        return bool(call.tool == "md.snapshot_history" or not answer["meta"].get("unchanged") or not changes)

    def _carried_out(self, state: State, call: Call, answer: Mapping[str, Any]) -> Iterator[State]:
        opened = _all_opened(state, call)
        try:
            after = self._effect(opened, call, answer)
        except RefusedError as refused:
            if _code(answer) in refused.codes:
                yield from _openings(state, call)[min(1, len(call.paths)) :]
            return
        if not answer["ok"]:
            if _may_be_refused(call, answer):
                yield from _openings(state, call)
        elif answer["meta"].get("unchanged"):
            if after.pages == opened.pages and after.folders == opened.folders:
                yield opened
        elif not answer["meta"].get("replayed"):
            yield after

    def _effect(self, state: State, call: Call, answer: Answer) -> State:
        """The state after the effect of a call, with its record; it opened all of its documents."""
        record = Record(call.words, call.number, call.tool, call.path)
        if answer is not None and answer["ok"]:
            record = replace(record, event=answer["meta"].get("eventId"), result=answer["result"])
        match call.tool:
            case "events.log":
                if self._has_erased and call.brings_erased:
                    raise RefusedError("erased")
                after = _marked(state, call, JOURNAL)
            case "fs.ensure_dir":
                after = replace(_marked(state, call, JOURNAL), folders=state.folders | {call.path})
            case "md.snapshot_history":
                after = self._snapshot(state, call, answer)
                record = replace(record, after=state.pages[call.path])
            case "fs.move":
                after = self._moved(state, call)
                record = replace(record, new_path=call.args["newPath"])
            case _:
                after = self._edited(state, call)
                record = replace(record, before=state.pages[call.path], after=after.pages[call.path])
        if call.identity is None:
            return after
        return replace(after, records={**after.records, call.identity: record})

    def _snapshot(self, state: State, call: Call, answer: Answer) -> State:
        page = _page_to_open(state, call.path)
        if answer is not None and answer["ok"] and not call.dry_run:
            if self._copies.get(answer["result"]["historyPath"]) != page:
                raise RefusedError
            if answer["meta"].get("unchanged"):
                return state
        return _marked(state, call, JOURNAL)

    def _edited(self, state: State, call: Call) -> State:
        page, before = call.page, state.pages[call.path]
        if call.tool != "md.restore":
            page = edited(call, _page_or_none(state, call.path), self._templates[call.path])
        if self._has_erased and erased_in(page) > erased_in(before):
            raise RefusedError("erased")
        return state.written(call.path, page, call)

    def _moved(self, state: State, call: Call) -> State:
        path, new_path = call.path, call.args["newPath"]
        page = _page_to_open(state, path)
        if not is_whole(page, self._templates[path]):
            raise RefusedError("document_damaged")
        if _page_or_none(state, new_path) is not None:
            raise RefusedError("already_exists")
        state = state.written(path, None, call).written(new_path, page, call)
        return replace(state, moves={**state.moves, path: ("to", new_path), new_path: ("from", path)})


def _erasures(state: State, seen: Seen) -> Iterator[State]:
    """The states after an erasure: it has opened the documents that had the words, and perhaps others."""
    held = [path for path, page in state.pages.items() if erased_in(page)]
    for path, page in state.pages.items():
        there = seen.pages[path]
        is_same = (
            there == page
            if path not in held
            else there and without_erased(there) == without_erased(page or ())
        )
        if not is_same:
            return
    others = [path for path in state.pages if path not in held and state.files[path] != state.logged[path]]
    for count in range(len(others) + 1):
        for opened in combinations(others, count):
            done = state.adopted(opened, _ERASURE)
            newest = {**done.newest, **dict.fromkeys((*held, *opened), _ERASURE)}
            logged = {**done.logged, **{path: seen.files[path] for path in held}}
            done = replace(done, logged=logged, newest=newest, doubtful=frozenset(done.records))
            yield replace(done, pages=seen.pages, files=seen.files)


def _page_or_none(state: State, path: str) -> Page | None:
    """The page of a document, or None if there is none; a file that went missing is refused."""
    page = state.pages[path]
    if page is None and state.logged[path] is not None:
        raise RefusedError("document_damaged")
    return page


def _page_to_open(state: State, path: str) -> Page:
    page = _page_or_none(state, path)
    if page is None:
        raise RefusedError("not_found")
    return page


def _marked(state: State, call: Call, stream: str) -> State:
    return replace(state, newest={**state.newest, stream: call.number})


def _may_be_refused(call: Call, answer: Mapping[str, Any]) -> bool:
    """Whether a refusal is for what the model does not know: frontmatter, and versions before a move."""
    return call.tool == "md.restore" or (call.tool == "fs.write" and _code(answer) == "identity_changed")


def _all_opened(state: State, call: Call) -> State:
    return state.adopted(call.paths, call.number)


def _openings(state: State, call: Call) -> list[State]:
    """The states in which a call may stop: before it opened a document, or after each."""
    return [state.adopted(call.paths[:count], call.number) for count in range(len(call.paths) + 1)]


def _forgotten(state: State, call: Call) -> State:
    """The state without the earlier request that a call does not repeat."""
    records = {identity: record for identity, record in state.records.items() if identity != call.identity}
    return replace(state, records=records)


def _code(answer: Mapping[str, Any]) -> str:
    return "ok" if answer["ok"] else str(answer["error"]["code"])


def _has_event(answer: Answer) -> bool:
    return answer is not None and answer["ok"] and "eventId" in answer["meta"]


def _distinct(states: Iterable[State]) -> list[State]:
    found: list[State] = []
    for state in states:
        if state not in found:
            found.append(state)
    return found
