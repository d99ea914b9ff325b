"""The transparency log of a home: numbers what was settled, writes its tiles, and signs checkpoints.

A checkpoint is made in this order: leaves are numbered, tiles written, the checkpoint stored with the numbers
in one transaction, and its note published in `.garden/tlog/checkpoint`. A process killed at any step leaves
either the tree before or a stored checkpoint, which the next run publishes.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from garden.events.log_leaves import LogLeaves, StoredCheckpoint
from garden.files.failpoints import Failpoint, reach
from garden.grammar.errors import GardenError
from garden.history.notes import (
    ED25519,
    ML_DSA_44,
    Checkpoint,
    Note,
    Signer,
    holding,
    make_signer,
    parse_checkpoint,
    parse_note,
)
from garden.history.tiles import CHECKPOINT, Tiles, TilesDamagedError, remove_outgrown, write_tiles
from garden.home.state_files import exclusive_lock, make_private_folder, remove_strays, write_private_file
from garden.writing.services import Services

_LEAVES_MAX = 5000
_LOCK_SECONDS = 30
_PURPOSES = {ED25519: "log ed25519", ML_DSA_44: "log ml-dsa-44"}


class LogInconsistentError(GardenError):
    """The log contradicts a checkpoint that was signed; nothing is signed until a person has looked."""

    code = "unavailable"


def log_folder(services: Services) -> Path:
    """The folder of the log's files."""
    return services.home.state / "tlog"


def log_origin(services: Services) -> str:
    """The name of the home's log."""
    return services.tlog.origin or f"memory-garden/{services.home.id}"


def log_signers(services: Services) -> list[Signer]:
    """The log's signers: an Ed25519 and an ML-DSA-44 key for each version of the integrity keys."""
    keyring, origin = services.keys(), log_origin(services)
    made = (
        make_signer(kind, origin, keyring.derived_key(version, purpose))
        for version in keyring.versions
        for kind, purpose in _PURPOSES.items()
    )
    return [each for each in made if each is not None]


def published_note(services: Services) -> Note | None:
    """The newest checkpoint on the disk, with the signatures of witnesses; None before the first one."""
    try:
        return parse_note((log_folder(services) / CHECKPOINT).read_bytes())
    except FileNotFoundError:
        return None


def stored_note(services: Services) -> Note | None:
    """The newest checkpoint in the database; refuses one whose columns say another size or root."""
    newest = services.log_leaves.newest_checkpoint()
    return newest and _note_of(services, newest)


def verified_checkpoint(services: Services, note: Note) -> Checkpoint:
    """The checkpoint in a note; refuses one that no key of this home's log has signed."""
    if not holding(note, [each.public for each in log_signers(services)]):
        raise LogInconsistentError(
            "The checkpoint is not signed by a key of this home's log.",
            hint="'garden checkpoint --keys' shows the keys. Put back a lost version of the integrity keys, "
            "or the earlier origin of the log.",
        )
    return parse_checkpoint(note.text)


@contextmanager
def locked_log(services: Services) -> Iterator[None]:
    """Hold the lock of the log's files."""
    folder = log_folder(services)
    if not folder.is_dir():
        make_private_folder(folder)
    with exclusive_lock(folder / "lock", timeout_seconds=_LOCK_SECONDS):
        remove_strays(folder)
        yield


def make_checkpoints(services: Services) -> Iterator[int]:
    """Extend the log by all that has settled by now, and sign it; yields the new leaves of each step."""
    count = _LEAVES_MAX
    # Fewer leaves are the last; what settles meanwhile could go on for ever.
    while count == _LEAVES_MAX:
        with locked_log(services):
            count = _extend(services)
        yield count


def publish_cosigned(services: Services, note: Note) -> None:
    """Publish a note with the signatures of witnesses, unless a newer one was published meanwhile."""
    with locked_log(services):
        published = published_note(services)
        if published and published.text == note.text:
            write_private_file(log_folder(services) / CHECKPOINT, str(note).encode())


def _extend(services: Services) -> int:
    """Add up to a number of leaves, and their checkpoint if there are any; returns how many."""
    folder = log_folder(services)
    with services.log_leaves.transaction() as log:
        newest = log.newest_checkpoint()
        if newest is not None and published_note(services) is None:
            _restore_tiles(services, log, newest)
        tiles = Tiles(folder, newest.size if newest else 0)
        _check_consistent(services, tiles, newest)
        size = tiles.size + log.number(tiles.size, _LEAVES_MAX)
        entries = _entries(log, tiles.size, size)
        reach(Failpoint.LEAVES_NUMBERED)
        grown = list(tiles.grown(entries))
        write_tiles(folder, grown)
        reach(Failpoint.TILES_WRITTEN)
        if entries or newest is None:
            newest = _sign(services, Tiles(folder, size))
            log.add_checkpoint(newest)
    reach(Failpoint.CHECKPOINT_STORED)
    _publish_stored(services, newest)
    remove_outgrown(folder, (path for path, _ in grown))
    return len(entries)


def _restore_tiles(services: Services, log: LogLeaves, newest: StoredCheckpoint) -> None:
    """Make the tiles of a stored checkpoint anew where they are lost, as after the restore of a dump."""
    folder = log_folder(services)
    with suppress(TilesDamagedError):
        if Tiles(folder, newest.size).root() == newest.root:
            return
    for first in range(0, newest.size, _LEAVES_MAX):
        entries = _entries(log, first, min(first + _LEAVES_MAX, newest.size))
        write_tiles(folder, Tiles(folder, first).grown(entries))


def _entries(log: LogLeaves, first: int, end: int) -> list[bytes]:
    found = log.entries(first, end)
    if len(found) != end - first:
        raise LogInconsistentError(
            "An event that a feed lists is gone, or ended otherwise.", hint="'garden verify' names it."
        )
    return [found[leaf] for leaf in range(first, end)]


def _sign(services: Services, tiles: Tiles) -> StoredCheckpoint:
    root = tiles.root()
    text = str(Checkpoint(log_origin(services), tiles.size, root))
    note = Note(text, tuple(signer.sign(text) for signer in log_signers(services)))
    return StoredCheckpoint(tiles.size, root, str(note))


def _publish_stored(services: Services, newest: StoredCheckpoint) -> None:
    note, published = parse_note(newest.note.encode()), published_note(services)
    if published is None or published.text != note.text:
        write_private_file(log_folder(services) / CHECKPOINT, newest.note.encode())


def _check_consistent(services: Services, tiles: Tiles, newest: StoredCheckpoint | None) -> None:
    """Refuse to extend a log that differs from the checkpoint on the disk or the newest stored one."""
    notes = [published_note(services), newest and _note_of(services, newest)]
    signed = [verified_checkpoint(services, note) for note in notes if note]
    for each in signed:
        if each.size > tiles.size:
            raise _inconsistent(
                f"the checkpoint on the disk has {each.size} entries and the database {tiles.size}"
            )
        if tiles.root(each.size) != each.root:
            raise _inconsistent(f"the tiles do not have the root that was signed at {each.size} entries")


def _note_of(services: Services, stored: StoredCheckpoint) -> Note:
    note = parse_note(stored.note.encode())
    if note.text != str(Checkpoint(log_origin(services), stored.size, stored.root)):
        raise _inconsistent("the newest checkpoint in the database was changed")
    return note


def _inconsistent(reason: str) -> LogInconsistentError:
    return LogInconsistentError(
        f"No checkpoint is signed: {reason}.",
        hint="Run 'garden verify', and put back what is older: the database or .garden/tlog.",
    )
