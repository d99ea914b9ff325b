"""Checks the transparency log: every leaf against its event, every tile, and the signed checkpoints."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from garden.grammar.errors import GardenError
from garden.history.checkpoints import (
    locked_log,
    log_folder,
    published_note,
    stored_note,
    verified_checkpoint,
)
from garden.history.fetching import read_note
from garden.history.merkle import complete_root, leaf_hash
from garden.history.notes import Checkpoint
from garden.history.tiles import ENTRIES, WIDTH, Tiles, TilesDamagedError, tile_path
from garden.writing.services import Services

_FAULTS_MAX = 20


@dataclass(frozen=True, slots=True)
class LogFault:
    """A fault of the log, with the leaf and the event that it is about if it is about one."""

    message: str
    leaf: int | None = None
    event_id: UUID | None = None


Faults = Iterator[LogFault]
Progress = Callable[[int], None]
"""Takes the number of leaves just checked."""


def check_log(services: Services, against: str | None = None, progress: Progress = lambda _: None) -> Faults:
    """Find faults of the log; `against` is a checkpoint kept elsewhere, as a file or a URL."""
    signed, faults = _signed_checkpoints(services)
    yield from faults
    tiles = Tiles(log_folder(services), max((each.size for each in signed), default=0))
    yield from _bounded(_faults_of_leaves(services, tiles, progress))
    yield from _bounded(_faults_of_tiles(tiles))
    yield from _bounded(_faults_of_roots(tiles, signed))
    if against is not None:
        yield from _bounded(_faults_against(services, tiles, against))


def _signed_checkpoints(services: Services) -> tuple[list[Checkpoint], list[LogFault]]:
    """The checkpoints on the disk and in the database that hold, and what is wrong with the others."""
    found: dict[str, Checkpoint | None] = {}
    faults = []
    with locked_log(services) if log_folder(services).is_dir() else nullcontext():
        for place, read in {"the database": stored_note, ".garden/tlog": published_note}.items():
            try:
                note = read(services)
                found[place] = verified_checkpoint(services, note) if note else None
            except (GardenError, OSError) as error:
                reason = error.message if isinstance(error, GardenError) else error.strerror
                faults.append(LogFault(f"The checkpoint in {place} does not hold: {reason}"))
    signed = [each for each in found.values() if each is not None]
    if signed:
        faults += [
            LogFault(f"The checkpoint in {place} is gone.") for place, each in found.items() if not each
        ]
    sizes = [each.size for each in signed]
    # A checkpoint on the disk that is older was not published before its process was killed.
    if len(sizes) == 2 and sizes[0] < sizes[1]:
        faults.append(
            LogFault(f"The database ends at {sizes[0]} entries of the log, .garden/tlog at {sizes[1]}.")
        )
    return signed, faults


def _faults_of_leaves(services: Services, tiles: Tiles, progress: Progress) -> Faults:
    """Compare each leaf of the database with its entry; a leaf that no user has was removed."""
    seen = bytearray(tiles.size)
    for user_id in services.log_leaves.users():
        last = -1
        for batch in services.log_leaves.leaves_of(user_id):
            for (_, position, leaf), entry in batch.items():
                if leaf >= tiles.size:
                    if tiles.size == 0:
                        yield LogFault(f"Entry {position} of {user_id}'s feed is logged; no checkpoint is.")
                elif leaf <= last or seen[leaf]:
                    yield LogFault(f"Entry {position} of {user_id}'s feed is out of its place.", leaf)
                else:
                    seen[leaf] = 1
                    last = leaf
                    yield from _faults_of_entry(tiles, leaf, entry)
            progress(len(batch))
    for leaf in range(tiles.size):
        if not seen[leaf]:
            yield from _faults_of_entry(tiles, leaf, None)


def _faults_of_entry(tiles: Tiles, leaf: int, entry: bytes | None) -> Faults:
    logged = tiles.entry(leaf)
    if logged == entry:
        return
    kind, event_id = _named_in(logged)
    if entry is None:
        yield LogFault(f"The database has lost the {kind} {event_id}.", leaf, event_id)
    elif tiles.subtree(0, leaf) == leaf_hash(entry):
        yield LogFault(f"Entry {leaf} in the log's files was changed.", leaf, event_id)
    elif _named_in(entry) == (kind, event_id):
        yield LogFault(f"The {kind} {event_id} is not as it was logged.", leaf, event_id)
    else:
        yield LogFault(f"Another event is in the place of the {kind} {event_id}.", leaf, event_id)


def _named_in(entry: bytes) -> tuple[str, UUID | None]:
    kind, _, rest = entry.decode(errors="replace").partition("/v1 ")
    try:
        return kind, UUID(rest[:36])
    except ValueError:
        return "event", None


def _faults_of_tiles(tiles: Tiles) -> Faults:
    for index in range(-(-tiles.size // WIDTH)):
        if [leaf_hash(entry) for entry in tiles.bundle(index)] != tiles.hashes(0, index):
            yield LogFault(f"{tile_path(ENTRIES, index)} and {tile_path(0, index)} do not fit each other.")
    level, count = 1, tiles.size // WIDTH
    while count:
        for index in range(count):
            if tiles.subtree(8 * level, index) != complete_root(tiles.hashes(level - 1, index)):
                yield LogFault(
                    f"{tile_path(level, index // WIDTH)} does not fit {tile_path(level - 1, index)}."
                )
        level, count = level + 1, count // WIDTH


def _faults_of_roots(tiles: Tiles, signed: list[Checkpoint]) -> Faults:
    for each in dict.fromkeys(signed):
        if tiles.root(each.size) != each.root:
            yield LogFault(f"The first {each.size} entries of the log are not those that were signed.")


def _faults_against(services: Services, tiles: Tiles, against: str) -> Faults:
    try:
        kept = verified_checkpoint(services, read_note(against))
    except GardenError as error:
        yield LogFault(f"{against} proves nothing: {error.message}")
        return
    if kept.size > tiles.size:
        yield LogFault(
            f"Events were cut off: {against} was signed at {kept.size} entries, and the log has {tiles.size}."
        )
    elif tiles.root(kept.size) != kept.root:
        yield LogFault(
            f"One of the first {kept.size} events was changed, removed or put elsewhere since {against} was "
            "signed: the log was made anew."
        )


def _bounded(faults: Faults) -> Faults:
    """The first faults of a kind, and the number of the others; a damaged file ends the search."""
    try:
        yield from islice(faults, _FAULTS_MAX)
        if rest := sum(1 for _ in faults):
            yield LogFault(f"There are {rest} more faults of this kind.")
    except TilesDamagedError as error:
        yield LogFault(error.message)
