"""Checks that the witness's ledger, the files, the history and the events agree."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from garden.application import Garden
from garden.events.records import Event
from garden.events.rows import event_of
from garden.events.saga import Status
from tests.crash.history_copies import Copies, snapshots_cut_off
from tests.crash.ledger import ByHand, Ledger, Told, hash_of
from tests.crash.outside_edits import OutsideEdits
from tests.crash.workload import WORDS
from tests.support import promises
from tests.support.promises import ADOPTED, broken_promises

JOURNAL = ""
# Operations that may remove words of other requests.
_TAKES_AWAY = frozenset({"replace_section", "prune_item"})
_ENDED = frozenset({Status.COMMITTED, Status.FAILED})
# Refusals that concurrent writes and moves may cause.
REFUSALS = frozenset({"not_found", "already_exists", "precondition_failed", "patch_conflict"})


@dataclass
class Seen:
    """What the events of one user say.

    Of requests, by key: their events, and which were written and then undone by hand. Of words: all that were
    ever in a document, those there now, and those doubled during a save. And the hashes of all versions.
    """

    asked: dict[str, Told]
    by_hand: OutsideEdits
    effects: dict[str, list[Event]] = field(default_factory=dict)
    undone: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    now: Counter[str] = field(default_factory=Counter)
    doubled: set[str] = field(default_factory=set)
    versions: dict[str, set[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def judge(garden: Garden, user_id: str, ledger: Ledger) -> list[str]:
    """Name the broken promises to one user; no process may be writing."""
    asked = ledger.of_user(user_id)
    seen = _seen(
        garden, user_id, Seen({each.request.key: each for each in asked}, OutsideEdits(ledger.by_hand))
    )
    copies = Copies(garden.home.path, seen.by_hand, seen.versions, snapshots_cut_off(asked, seen.effects))
    faults = [
        *copies.unforgiven(broken_promises(garden, user_id)),
        *seen.faults,
        *(wrong for each in asked for wrong in _wrong_with(garden, each, seen)),
        *(
            f"{words}: stands {count} times in the files"
            for words, count in seen.now.items()
            if count > 1 and words not in seen.doubled
        ),
        *_lost_by_hand(user_id, ledger.by_hand, seen),
    ]
    return [f"{user_id}: {fault}" for fault in faults]


def _lost_by_hand(user_id: str, told: ByHand, seen: Seen) -> Iterator[str]:
    """Name the edits by hand that no event holds."""
    mine = f"users/{user_id}/"
    yield from (
        f"{words}: was saved by hand, and no version of any document has it"
        for words, path in told.brought.items()
        if path.startswith(mine) and words not in seen.words
    )


def _wrong_with(garden: Garden, told: Told, seen: Seen) -> Iterator[str]:
    key, tool, meta = told.request.key, told.request.tool, (told.answer or {}).get("meta", {})
    effects = seen.effects.get(key, [])
    if len(effects) > 1:
        yield f"{key}: {tool} has {len(effects)} effects"
    if told.answer is None:
        if told.refusal is not None:
            yield from _wrong_with_refusal(told, effects)
    elif tool == "md.snapshot_history":
        path = told.answer["result"]["historyPath"]
        if not (garden.home.path / path).exists():
            yield f"{key}: the snapshot {path} was acknowledged and is not there"
    elif not effects:
        if not meta.get("unchanged") and key not in seen.undone:
            yield f"{key}: {tool} was acknowledged and has no effect"
    elif meta.get("eventId") != str(effects[0].event_id):
        yield f"{key}: {tool} is event {effects[0].event_id}, and was answered with {meta.get('eventId')}"


def _wrong_with_refusal(told: Told, effects: list[Event]) -> Iterator[str]:
    code = told.refusal and told.refusal["code"]
    if code not in REFUSALS:
        yield f"{told.request.key}: {told.request.tool} was refused: {told.refusal}"
    # An earlier send of the same request may be carried out late.
    if told.asked == 1 and effects:
        yield f"{told.request.key}: {told.request.tool} was refused with {code} and yet carried out"


def _seen(garden: Garden, user_id: str, seen: Seen) -> Seen:
    with garden.services.reader.snapshot(user_id) as snapshot:
        paths = [row["path"] for row in snapshot.fetch("heads", {}) if row["path"]]
    for event in _journal(garden, user_id):
        _count(seen, event)
    for path in paths:
        _follow(seen, promises.told(garden, path, user_id).replay())
    return seen


def _journal(garden: Garden, user_id: str) -> list[Event]:
    """Return the events that change no document."""
    with garden.services.reader.snapshot(user_id) as snapshot:
        return [event_of(row) for row in snapshot.rows("chain", {"stream": JOURNAL})]


def _follow(seen: Seen, document: promises.Told) -> None:
    """Replay a document, and note which words each event added and removed."""
    path = document.path.text
    seen.faults += [
        f"{path}: event {event.event_id} is {event.status}"
        for event in document.events
        if event.status not in _ENDED
    ]
    seen.versions[path] = {hash_of(text.encode()) for text in document.texts.values()}
    for event in document.events:
        seen.by_hand.meet(event)
    before: Counter[str] = Counter()
    for event in document.committed:
        _count(seen, event)
        after = _words(document, event.document_version)
        if seen.by_hand.is_between(event):
            seen.doubled |= {words for words, count in after.items() if count > 1}
        seen.faults += [
            f"{path}: {wrong}" for wrong in _wrong_with_step(seen, document, event, before, after)
        ]
        seen.words |= after.keys()
        before = after
    seen.now += before
    seen.undone |= {
        _key(event)
        for event in document.events
        if event.status is Status.FAILED and seen.by_hand.undid(event, document)
    }
    seen.faults += seen.by_hand.lost(document)


def _words(document: promises.Told, version: int | None) -> Counter[str]:
    return Counter(WORDS.findall(document.texts[version or 0]))


def _count(seen: Seen, event: Event) -> None:
    if event.idempotency_key is not None and event.status is Status.COMMITTED:
        seen.effects.setdefault(_key(event), []).append(event)


def _key(event: Event) -> str:
    return (event.idempotency_key or "").removeprefix("caller:")


def _wrong_with_step(
    seen: Seen, document: promises.Told, event: Event, before: Counter[str], after: Counter[str]
) -> Iterator[str]:
    came, gone = after - before, before - after
    op, key = event.statement.op, _key(event)
    yield from (
        f"event {event.event_id} ({op}) has {words} {count} times"
        for words, count in after.items()
        if count > 1 and came[words] and words not in seen.doubled
    )
    if event.statement.type == ADOPTED:
        yield from seen.by_hand.wrong_with(event, document, gone)
    elif op == "restore":
        yield from _wrong_with_restoration(seen, document, event, before, after)
    elif op != "move":
        told = seen.asked.get(key)
        wanted = {told.request.words} - {None} if told else set()
        if came.keys() != wanted:
            yield f"event {event.event_id} ({op}, {key}) brought {sorted(came)}, and was to bring {wanted}"
        if gone and op not in _TAKES_AWAY:
            yield f"event {event.event_id} ({op}, {key}) took {sorted(gone)} away"


def _wrong_with_restoration(
    seen: Seen, document: promises.Told, event: Event, before: Counter[str], after: Counter[str]
) -> Iterator[str]:
    """Name the differences from the restored version, apart from the Change Log."""
    told = seen.asked.get(_key(event))
    version = told.request.args["version"] if told else 0
    wanted = _words(document, version)
    came, missing = after.keys() - before.keys() - wanted.keys(), wanted.keys() - after.keys()
    if came or missing:
        yield (
            f"event {event.event_id} (restore) was to bring version {version} back; "
            f"it brought {sorted(came)} as well, and not {sorted(missing)}"
        )
