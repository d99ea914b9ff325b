"""The history copies that may exist without an event, or differ from the version they were made of."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from garden.files.paths import GardenPath
from tests.crash.ledger import Told, hash_of
from tests.crash.outside_edits import OutsideEdits

_SPARE = "no event tells of this copy"
_OTHERS = frozenset(
    {"the copy is not the version that was replaced", "the copy is not the version that was to be replaced"}
)
_SNAPSHOT = "md.snapshot_history"

Versions = Mapping[str, Collection[str]]


class Copies:
    """Judges a user's copies; `versions` are the hashes of all versions of each document."""

    def __init__(self, home: Path, by_hand: OutsideEdits, versions: Versions, cut_off: Counter[str]) -> None:
        self._home = home
        self._by_hand = by_hand
        self._versions = versions
        self._cut_off = cut_off

    def unforgiven(self, faults: list[str]) -> Iterator[str]:
        """Yield the faults, except for those of allowed copies."""
        spare: Counter[str] = Counter()
        for fault in faults:
            copy, _, wrong = fault.partition(": ")
            if wrong == _SPARE:
                document = GardenPath(copy).document.text
                spare[document] += 1
                if spare[document] > self._cut_off[document] or not self._was_once(document, copy):
                    yield fault
            # An editor that had the file open may have written into the copy.
            elif wrong not in _OTHERS or not self._was_saved(copy):
                yield fault

    def _was_once(self, document: str, copy: str) -> bool:
        return hash_of((self._home / copy).read_bytes()) in self._versions.get(document, ())

    def _was_saved(self, copy: str) -> bool:
        return self._by_hand.is_known(GardenPath(copy).document.text, self._home / copy)


def snapshots_cut_off(asked: Collection[Told], ended: Collection[str]) -> Counter[str]:
    """Count the requested snapshots of each document without an event: each may leave a copy."""
    cut_off: Counter[str] = Counter()
    for each in asked:
        if each.request.tool == _SNAPSHOT:
            cut_off[each.request.args["path"]] += each.asked - (
                each.acknowledged or each.request.key in ended
            )
    return cut_off
