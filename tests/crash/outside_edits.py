"""Whether what the account took for edits by hand was edited by hand: judged by the bytes alone.

An editor may overwrite what an agent has written in the same moment. What it saved is a person's edit all the
same, so what went with it tells nothing. The rule is another: the witness was told of those bytes before they
were saved, or they are what a change that had been given up was to write.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from garden.events.records import Event
from garden.events.saga import Status
from tests.crash.ledger import ByHand, Version, hash_of
from tests.support.promises import ADOPTED, Told


@dataclass
class OutsideEdits:
    """What was saved by hand, and what the account has of it.

    `adopted` are the edits from outside that no failed change explains, `met` is everything that was found in
    a file though the account had something else: those, what was written late, and what a failed change left.
    """

    told: ByHand
    adopted: Counter[Version] = field(default_factory=Counter)
    met: Counter[Version] = field(default_factory=Counter)

    def meet(self, event: Event) -> None:
        """Take notice of what was in a file when this event came to its end."""
        if event.status is Status.FAILED:
            self.met[event.statement.path or "", event.before_raw_hash or ""] += 1
        elif event.statement.type == ADOPTED:
            self.met[_version(event)] += 1

    def wrong_with(self, event: Event, document: Told, gone: Iterable[str]) -> Iterator[str]:
        """Say what is wrong with an adopted edit; `gone` are the words that it took away."""
        named = (event.statement.edit or {}).get("failedEvent")
        if named is not None:
            # Its writer woke up late, and what it wrote is known to the byte as well.
            if not any(str(each.event_id) == named and _meant(each, event) for each in document.events):
                yield f"event {event.event_id} names {named} for what that was not to write"
            return
        version = _version(event)
        self.adopted[version] += 1
        # Saved once, it is found once: afterwards nothing brings those bytes back but another save.
        if self.adopted[version] > self.told.saving[version]:
            yield (
                f"event {event.event_id} ({ADOPTED}): text vanished from the file and nobody edited it; "
                f"of known words: {sorted(gone)}"
            )

    def lost(self, document: Told) -> Iterator[str]:
        """Say what was saved by hand, and not saved over by hand, and never noticed."""
        path = document.path.text
        saves = self.told.saves.get(path, [])
        # What the file holds now is lost to nobody.
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
        """Whether an event found a file while somebody was writing over it, or had died over it."""
        return event.statement.type == ADOPTED and _version(event) in self.told.between

    def undid(self, event: Event, document: Told) -> bool:
        """Whether somebody took a change out that was written, before it was known to be sealed.

        The answer may have been heard of a change whose seal then went with the database. Either the file is
        again what it was before, and there is a save of that more than the account has adopted; or it is
        something else that was saved by hand, and what the account has next.
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
        """Whether a file holds what was saved by hand in a document's place."""
        return self.told.saving[path, hash_of(file.read_bytes())] > 0


def _version(event: Event) -> Version:
    return event.statement.path or "", event.intended_raw_hash or ""


def _meant(failed: Event, adopted: Event) -> bool:
    return failed.status is Status.FAILED and failed.intended_raw_hash == adopted.intended_raw_hash
