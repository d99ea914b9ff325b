"""The proofs of an archive: that its events are in the signed transparency log of their home.

proofs/checkpoint                   the signed size and root of the log
proofs/leaves.jsonl                 for each entry of the feed its leaf in the log
proofs/nodes.jsonl                  level, index and hash of every subtree that a proof of inclusion needs
keys.txt                            the public keys of the log
"""

import base64
import json
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from garden.grammar.errors import GardenError
from garden.history.checkpoints import (
    locked_log,
    log_folder,
    log_signers,
    make_checkpoints,
    published_note,
    verified_checkpoint,
)
from garden.history.merkle import inclusion_proof, root_from_proof
from garden.history.notes import Checkpoint, VerifierKey, holding, parse_checkpoint, parse_note
from garden.history.tiles import Tiles
from garden.transfer.archive_file import Archive, ArchiveError, ArchiveWriter
from garden.writing.services import Services

CHECKPOINT, LEAVES, NODES, KEYS = "proofs/checkpoint", "proofs/leaves.jsonl", "proofs/nodes.jsonl", "keys.txt"
MEMBERS = {CHECKPOINT, LEAVES, NODES, KEYS}


def write_proofs(writer: ArchiveWriter, services: Services, user: str, entries: int) -> None:
    """Sign a checkpoint, and add what proves the first entries of a user's feed in it."""
    for _ in make_checkpoints(services):
        pass
    # A new checkpoint would remove the partial tiles that this one needs.
    with locked_log(services):
        note = published_note(services)
        if note is None:
            return
        size = verified_checkpoint(services, note).size
        tiles, nodes, leaves = Tiles(log_folder(services), size), dict[tuple[int, int], bytes](), list[int]()

        def subtree(level: int, index: int) -> bytes:
            if (level, index) not in nodes:
                nodes[level, index] = tiles.subtree(level, index)
            return nodes[level, index]

        for batch in services.log_leaves.leaves_of(user):
            leaves += [each.leaf for each in batch if each.position <= entries]
        for leaf in leaves:
            inclusion_proof(subtree, leaf, size)
    writer.add(CHECKPOINT, [str(note).encode()])
    writer.add(LEAVES, map(_line, leaves))
    writer.add(
        NODES,
        (_line([*place, base64.b64encode(nodes[place]).decode()]) for place in sorted(nodes)),
    )
    writer.add(KEYS, (f"{each.public}\n".encode() for each in log_signers(services)))


def check_proofs(archive: Archive, leaves: Sequence[bytes], keys: Sequence[VerifierKey]) -> tuple[int, str]:
    """Compare the leaf of each entry of the feed with the signed checkpoint; how many it proves, and by whom.

    Without keys that the reader trusts, those of the archive are taken, which its forger could have made.
    """
    if CHECKPOINT not in archive.members:
        if keys:
            raise ArchiveError("it holds no checkpoint, so no signature covers its events")
        return 0, "It holds no checkpoint, so no signature covers its events."
    try:
        trusted = keys or [VerifierKey.parse(line.decode().strip()) for line in archive.lines(KEYS)]
        note = parse_note(archive.read(CHECKPOINT))
        checkpoint, signed = parse_checkpoint(note.text), holding(note, trusted)
    except GardenError as error:
        raise ArchiveError(f"its checkpoint does not hold: {error.message}") from None
    if not signed:
        raise ArchiveError("none of the keys has signed its checkpoint")
    _check_leaves(archive, leaves, checkpoint)
    whose = "a key that you gave" if keys else "its own key; give one that you trust with --key"
    log = f"{checkpoint.origin}, signed at size {checkpoint.size} by {whose}"
    return len(leaves), f"Every settled event is in the log {log}."


def _check_leaves(archive: Archive, leaves: Sequence[bytes], checkpoint: Checkpoint) -> None:
    """Refuse an entry that the log does not hold: an export proves every one."""
    places = [_value(line) for line in archive.lines(LEAVES)]
    nodes = {
        (level, index): base64.b64decode(node) for level, index, node in map(_value, archive.lines(NODES))
    }
    for position, (leaf, place) in enumerate(zip_longest(leaves, places), start=1):
        found = None
        if leaf is not None and isinstance(place, int) and 0 <= place < checkpoint.size:
            proof = inclusion_proof(lambda level, index: nodes[level, index], place, checkpoint.size)
            found = root_from_proof(leaf, place, checkpoint.size, proof)
        if found != checkpoint.root:
            raise ArchiveError(f"entry {position} of the feed is not what the signed log holds")


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise ArchiveError("a line of its proofs is malformed") from None
