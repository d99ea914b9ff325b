"""The judgement: whether what the witness was told, the files, the history and the events agree."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from events.records import Event
from events.rows import event_of
from events.saga import Status
from garden.application import Garden
from tests.crash.ledger import Ledger, Told
from tests.crash.wishes import WORDS
from tests.support.promises import ADOPTED, broken_promises, told

JOURNAL = ""
# What may take words away that others have brought.
_TAKES_AWAY = frozenset({"replace_section", "prune_item"})
_ENDED = frozenset({Status.COMMITTED, Status.FAILED})
_SPARE_COPY = "no event tells of this copy"
# What any request may meet where many work at once, and somebody moves what others look for.
REFUSALS = frozenset({"not_found", "already_exists", "precondition_failed", "patch_conflict"})


@dataclass
class Seen:
    """What the account of one user tells: the events of each request, and all words that ever stood there."""

    effects: dict[str, list[Event]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    now: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def judge(garden: Garden, user_id: str, ledger: Ledger) -> list[str]:
    """Say what of the promises to one user does not hold; nobody may be at work."""
    asked = ledger.of_user(user_id)
    seen = _seen(garden, user_id, {each.wish.key: each for each in asked})
    faults = [
        *_broken(garden, user_id, asked),
        *seen.faults,
        *(
            wrong
            for each in asked
            for wrong in _wrong_with(garden, each, seen.effects.get(each.wish.key, []))
        ),
        *(f"{words}: stands {count} times in the files" for words, count in seen.now.items() if count > 1),
        *(
            f"{words}: was saved by hand, and no version of any document has it"
            for words, user in ledger.outside.items()
            if user == user_id and words not in seen.words
        ),
    ]
    return [f"{user_id}: {fault}" for fault in faults]


def _broken(garden: Garden, user_id: str, asked: list[Told]) -> Iterator[str]:
    """Give what the garden's own promises say; a snapshot that was cut off may leave its copy behind."""
    found = broken_promises(garden, user_id)
    spare = [fault for fault in found if fault.endswith(_SPARE_COPY)]
    snapshots = [each for each in asked if each.wish.tool == "md.snapshot_history"]
    yield from (fault for fault in found if not fault.endswith(_SPARE_COPY))
    if len(spare) > sum(each.asked - each.acknowledged for each in snapshots):
        yield from spare


def _wrong_with(garden: Garden, told: Told, effects: list[Event]) -> Iterator[str]:
    key, tool, meta = told.wish.key, told.wish.tool, (told.answer or {}).get("meta", {})
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
        if not meta.get("unchanged"):
            yield f"{key}: {tool} was acknowledged and has no effect"
    elif meta.get("eventId") != str(effects[0].event_id):
        yield f"{key}: {tool} is event {effects[0].event_id}, and was answered with {meta.get('eventId')}"


def _wrong_with_refusal(told: Told, effects: list[Event]) -> Iterator[str]:
    code = told.refusal and told.refusal["code"]
    if code not in REFUSALS:
        yield f"{told.wish.key}: {told.wish.tool} was refused: {told.refusal}"
    # One that was sent more than once may be carried out late, by whom nobody listens to any more.
    if told.asked == 1 and effects:
        yield f"{told.wish.key}: {told.wish.tool} was refused with {code} and yet carried out"


def _seen(garden: Garden, user_id: str, asked: dict[str, Told]) -> Seen:
    seen = Seen()
    with garden.services.reader.snapshot(user_id) as snapshot:
        paths = [row["path"] for row in snapshot.fetch("heads", {}) if row["path"]]
    for event in _journal(garden, user_id):
        _count(seen, event)
    for path in paths:
        _follow(seen, garden, user_id, path, asked)
    return seen


def _journal(garden: Garden, user_id: str) -> list[Event]:
    """Give what was only said."""
    with garden.services.reader.snapshot(user_id) as snapshot:
        return [event_of(row) for row in snapshot.rows("chain", {"stream": JOURNAL})]


def _follow(seen: Seen, garden: Garden, user_id: str, path: str, asked: dict[str, Told]) -> None:
    """Follow a document from version to version, and see what each event has brought and taken."""
    document = told(garden, path, user_id).replay()
    seen.faults += [
        f"{path}: event {event.event_id} is {event.status}"
        for event in document.events
        if event.status not in _ENDED
    ]
    before: Counter[str] = Counter()
    for event in document.committed:
        _count(seen, event)
        after = Counter(WORDS.findall(document.texts[event.document_version or 0]))
        seen.faults += [f"{path}: {wrong}" for wrong in _wrong_with_step(event, before, after, asked)]
        seen.words |= after.keys()
        before = after
    seen.now += before


def _count(seen: Seen, event: Event) -> None:
    key = event.idempotency_key
    if key is not None and event.status is Status.COMMITTED:
        seen.effects.setdefault(key.removeprefix("caller:"), []).append(event)


def _wrong_with_step(
    event: Event, before: Counter[str], after: Counter[str], asked: dict[str, Told]
) -> Iterator[str]:
    came, gone = after - before, before - after
    op, key = event.statement.op, (event.idempotency_key or "").removeprefix("caller:")
    yield from (
        f"event {event.event_id} ({op}) has {words} {count} times"
        for words, count in after.items()
        if count > 1 and came[words]
    )
    if event.statement.type == ADOPTED or op == "move":
        return
    wanted = {asked[key].wish.words} - {None} if key in asked else set()
    if came.keys() != wanted:
        yield f"event {event.event_id} ({op}, {key}) brought {sorted(came)}, and was to bring {wanted}"
    if gone and op not in _TAKES_AWAY:
        yield f"event {event.event_id} ({op}, {key}) took {sorted(gone)} away"
