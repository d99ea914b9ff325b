"""Checks the transparency log: every leaf against its event, every tile, and the signed checkpoints."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
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
from garden.history.faults import Fault, Part
from garden.history.fetching import read_note
from garden.history.merkle import complete_root, leaf_hash
from garden.history.notes import Checkpoint
from garden.history.tiles import ENTRIES, WIDTH, Tiles, TilesDamagedError, tile_path
from garden.writing.services import Services

_FAULTS_MAX = 20
_LEAVES_MAX = 1024
_HINT = "Keep the database and .garden/tlog as they are, and compare them with a backup."

Faults = Iterator[Fault]


def check_log(
    services: Services, against: str | None = None, on_batch: Callable[[], None] = lambda: None
) -> Faults:
    """Find faults of the log; `against` is a checkpoint kept elsewhere, as a file or a URL.

    `on_batch` is called before each batch of leaves.
    """
    signed, faults = _signed_checkpoints(services)
    yield from faults
    tiles = Tiles(log_folder(services), max((each.size for each in signed), default=0))
    yield from _bounded(_faults_of_leaves(services, tiles, on_batch))
    yield from _bounded(_faults_of_tiles(tiles))
    yield from _bounded(_faults_of_roots(tiles, signed))
    if against is not None:
        yield from _bounded(_faults_against(services, tiles, against))


def _signed_checkpoints(services: Services) -> tuple[list[Checkpoint], list[Fault]]:
    """The checkpoints on the disk and in the database that hold, and what is wrong with the others."""
    found: dict[str, Checkpoint | None] = {}
    faults = []
    # Leaves are stored with their checkpoint, so they are looked for before it.
    has_leaves = bool(services.log_leaves.leaves(0, 1))
    with locked_log(services) if log_folder(services).is_dir() else nullcontext():
        for place, read in {"the database": stored_note, ".garden/tlog": published_note}.items():
            try:
                note = read(services)
                found[place] = verified_checkpoint(services, note) if note else None
            except (GardenError, OSError) as error:
                reason = error.message if isinstance(error, GardenError) else error.strerror
                faults.append(_fault(f"The checkpoint in {place} does not hold: {reason}"))
    signed = [each for each in found.values() if each is not None]
    if signed or has_leaves:
        faults += [_fault(f"The checkpoint in {place} is gone.") for place, each in found.items() if not each]
    sizes = [each.size for each in signed]
    # A checkpoint on the disk that is older was not published before its process was killed.
    if len(sizes) == 2 and sizes[0] < sizes[1]:
        faults.append(
            _fault(f"The database ends at {sizes[0]} entries of the log, .garden/tlog at {sizes[1]}.")
        )
    return signed, faults


def _faults_of_leaves(services: Services, tiles: Tiles, on_batch: Callable[[], None]) -> Faults:
    """Compare each entry with the event that has its leaf; one without a leaf or an event was removed."""
    last: dict[str, int] = {}
    newest = -1
    for first in range(0, tiles.size, _LEAVES_MAX):
        on_batch()
        end = min(first + _LEAVES_MAX, tiles.size)
        with services.log_leaves.transaction() as log:
            leaves, entries = log.leaves(first, end), log.entries(first, end)
        for user_id, position, leaf in leaves:
            if leaf == newest or position <= last.get(user_id, 0):
                yield _fault(f"Entry {position} of a user's feed is out of its place.", leaf)
            last[user_id], newest = position, leaf
        for leaf in range(first, end):
            yield from _faults_of_entry(tiles, leaf, entries.get(leaf))


def _faults_of_entry(tiles: Tiles, leaf: int, entry: bytes | None) -> Faults:
    logged = tiles.entry(leaf)
    if logged == entry:
        return
    kind, event_id = _named_in(logged)
    if entry is None:
        yield _fault(f"The database has lost the {kind} {event_id}.", leaf, event_id)
    elif tiles.subtree(0, leaf) == leaf_hash(entry):
        yield _fault(f"Entry {leaf} in the log's files was changed.", leaf, event_id)
    elif _named_in(entry) == (kind, event_id):
        yield _fault(f"The {kind} {event_id} is not as it was logged.", leaf, event_id)
    else:
        yield _fault(f"Another event is in the place of the {kind} {event_id}.", leaf, event_id)


def _named_in(entry: bytes) -> tuple[str, UUID | None]:
    kind, _, rest = entry.decode(errors="replace").partition("/v1 ")
    try:
        return kind, UUID(rest[:36])
    except ValueError:
        return "event", None


def _faults_of_tiles(tiles: Tiles) -> Faults:
    for index in range(-(-tiles.size // WIDTH)):
        if [leaf_hash(entry) for entry in tiles.bundle(index)] != tiles.hashes(0, index):
            yield _fault(f"{tile_path(ENTRIES, index)} and {tile_path(0, index)} do not fit each other.")
    level, count = 1, tiles.size // WIDTH
    while count:
        for index in range(count):
            if tiles.subtree(8 * level, index) != complete_root(tiles.hashes(level - 1, index)):
                yield _fault(
                    f"{tile_path(level, index // WIDTH)} does not fit {tile_path(level - 1, index)}."
                )
        level, count = level + 1, count // WIDTH


def _faults_of_roots(tiles: Tiles, signed: list[Checkpoint]) -> Faults:
    for each in dict.fromkeys(signed):
        if tiles.root(each.size) != each.root:
            yield _fault(f"The first {each.size} entries of the log are not those that were signed.")


def _faults_against(services: Services, tiles: Tiles, against: str) -> Faults:
    try:
        kept = verified_checkpoint(services, read_note(against))
    except GardenError as error:
        yield _fault(f"{against} proves nothing: {error.message}")
        return
    if kept.size > tiles.size:
        yield _fault(
            f"Events were cut off: {against} was signed at {kept.size} entries, and the log has {tiles.size}."
        )
    elif tiles.root(kept.size) != kept.root:
        yield _fault(
            f"One of the first {kept.size} events was changed, removed or put elsewhere since {against} was "
            "signed: the log was made anew."
        )


def _bounded(faults: Faults) -> Faults:
    """The first faults of a kind, and the number of the others; a damaged file ends the search."""
    try:
        yield from islice(faults, _FAULTS_MAX)
        if rest := sum(1 for _ in faults):
            yield _fault(f"There are {rest} more faults of this kind.")
    except TilesDamagedError as error:
        yield _fault(error.message)


def _fault(message: str, leaf: int | None = None, event_id: UUID | None = None) -> Fault:
    return Fault(Part.LOG, "the log", message.removesuffix("."), _HINT, event_id, leaf)
