"""Checks that every adopted edit was made by hand, judged by its bytes.

An editor may overwrite what an agent wrote in the same moment, and its save is still a person's edit. So lost
words prove nothing. The rule: the witness recorded those bytes before they were saved, or a failed change was
to write them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from garden.events.payloads import payload_json
from garden.events.records import Event
from garden.events.saga import Status
from tests.crash.ledger import ByHand, Version, hash_of
from tests.support.promises import ADOPTED, Told


@dataclass
class OutsideEdits:
    """The saves by hand, and the events about them.

    `adopted` counts outside edits that no failed change explains. `met` counts all contents found in a file
    that differ from its head: those, late writes, and what failed changes left.
    """

    told: ByHand
    adopted: Counter[Version] = field(default_factory=Counter)
    met: Counter[Version] = field(default_factory=Counter)

    def meet(self, event: Event) -> None:
        """Count what was in the file when this event ended."""
        if event.status is Status.FAILED:
            self.met[event.statement.path or "", event.before_raw_hash or ""] += 1
        elif event.statement.type == ADOPTED:
            self.met[_version(event)] += 1

    def wrong_with(self, event: Event, document: Told, gone: Iterable[str]) -> Iterator[str]:
        """Report an adopted edit that was not made by hand; `gone` are the words it removed."""
        named = (payload_json(event.statement.edit) or {}).get("failedEvent")
        if named is not None:
            # The late write of a failed change; its bytes are known too.
            if not any(str(each.event_id) == named and _meant(each, event) for each in document.events):
                yield f"event {event.event_id} names {named} for what that was not to write"
            return
        version = _version(event)
        self.adopted[version] += 1
        # Each save is found once: only another save brings the same bytes back.
        if self.adopted[version] > self.told.saving[version]:
            yield (
                f"event {event.event_id} ({ADOPTED}): text vanished from the file without an edit; "
                f"of known words: {sorted(gone)}"
            )

    def lost(self, document: Told) -> Iterator[str]:
        """Report saves by hand that vanished without another save and were never adopted."""
        path = document.path.text
        saves = self.told.saves.get(path, [])
        # The present content is not lost.
        found = [*(save.before for save in saves[1:]), hash_of(document.text.encode())]
        vanished = Counter(
            save.content
            for save, then in zip(saves, found, strict=False)
            if save.done and save.content != then
        )
        for content, count in vanished.items():
            if count > self.met[path, content]:
                yield (
                    f"{path}: what was saved by hand vanished {count} times, and the account has met it "
                    f"{self.met[path, content]} times: {content}"
                )

    def is_between(self, event: Event) -> bool:
        """Whether an event found a file in the middle of an overwriting save."""
        return event.statement.type == ADOPTED and _version(event) in self.told.between

    def undid(self, event: Event, document: Told) -> bool:
        """Whether a person removed a written change before it was sealed.

        Either the file holds its earlier content again, saved once more than it was adopted; or it holds
        another save by hand, which the next event adopts.
        """
        before = (event.statement.path or "", event.before_raw_hash or "")
        if self.told.saving[before] > self.adopted[before]:
            return True
        following = document.events[document.events.index(event) + 1 :]
        next_one = next((each for each in following if each.status is Status.COMMITTED), None)
        if next_one is None or next_one.statement.type != ADOPTED:
            return False
        return self.told.saving[_version(next_one)] > 0

    def is_known(self, path: str, file: Path) -> bool:
        """Whether a file holds a save by hand of this document."""
        return self.told.saving[path, hash_of(file.read_bytes())] > 0


def _version(event: Event) -> Version:
    return event.statement.path or "", event.intended_raw_hash or ""


def _meant(failed: Event, adopted: Event) -> bool:
    return failed.status is Status.FAILED and failed.intended_raw_hash == adopted.intended_raw_hash
