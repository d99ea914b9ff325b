"""The proofs of an archive: that its events are in the signed transparency log of their home.

proofs/checkpoint                   the signed size and root of the log
proofs/leaves.jsonl                 for each entry of the feed its place there and in the log
proofs/nodes.jsonl                  level, index and hash of every subtree that a proof of inclusion needs
keys.txt                            the public keys of the log
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass
class _Nodes:
    """The subtrees that were asked for."""

    tiles: Tiles
    found: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def subtree(self, level: int, index: int) -> bytes:
        """The hash of a subtree, which is kept."""
        known = self.found.get((level, index))
        if known is None:
            known = self.found[level, index] = self.tiles.subtree(level, index)
        return known


def extend_log(services: Services) -> None:
    """Bring the log up to now, so that an archive can prove every event that is settled."""
    for _ in make_checkpoints(services):
        pass


def write_proofs(writer: ArchiveWriter, services: Services, user: str) -> None:
    """Add the newest checkpoint, and what proves each of a user's leaves in it."""
    # A new checkpoint would remove the partial tiles that this one needs.
    with locked_log(services):
        note = published_note(services)
        if note is None:
            return
        size = verified_checkpoint(services, note).size
        nodes, leaves = _Nodes(Tiles(log_folder(services), size)), list[tuple[int, int]]()
        for batch in services.log_leaves.leaves_of(user):
            for _, position, leaf in batch:
                if leaf < size:
                    inclusion_proof(nodes.subtree, leaf, size)
                    leaves.append((position, leaf))
    writer.add(CHECKPOINT, [str(note).encode()])
    writer.add(LEAVES, (_line(*each) for each in leaves))
    writer.add(
        NODES, (_line(*place, base64.b64encode(nodes.found[place]).decode()) for place in sorted(nodes.found))
    )
    writer.add(KEYS, (f"{each.public}\n".encode() for each in log_signers(services)))


@dataclass(frozen=True)
class ProofCheck:
    """How many entries the signed log holds, by which keys, and what is wrong."""

    proven: int
    notes: tuple[str, ...]
    faults: tuple[str, ...]


def check_proofs(archive: Archive, leaves: Mapping[int, bytes], keys: Sequence[VerifierKey]) -> ProofCheck:
    """Compare the leaf of each entry of the feed with the signed checkpoint.

    Without keys that the reader trusts, those of the archive are taken, which its forger could have made.
    """
    if CHECKPOINT not in archive.members:
        missing = ("It holds no checkpoint, so no signature covers its events.",)
        return ProofCheck(0, () if keys else missing, missing if keys else ())
    try:
        trusted = keys or [VerifierKey.parse(line.decode().strip()) for line in archive.lines(KEYS)]
        note = parse_note(archive.read(CHECKPOINT))
        checkpoint, signed = parse_checkpoint(note.text), holding(note, trusted)
    except GardenError as error:
        return ProofCheck(0, (), (f"its checkpoint does not hold: {error.message}",))
    if not signed:
        return ProofCheck(0, (), ("none of the keys has signed its checkpoint",))
    places = dict(map(_values, archive.lines(LEAVES)))
    wrong = sorted(_not_in_log(archive, leaves, places, checkpoint))
    proven = len(places) - len(wrong)
    whose = "a key that you gave" if keys else "its own key; give one that you trust with --key"
    note_of_log = f"{checkpoint.origin}, signed at {checkpoint.size} entries by {whose}."
    return ProofCheck(
        proven,
        (f"{proven} of {len(leaves)} settled events are in the log {note_of_log}",),
        tuple(f"entry {position} of the feed is not what the signed log holds" for position in wrong[:1]),
    )


def _not_in_log(
    archive: Archive, leaves: Mapping[int, bytes], places: Mapping[int, int], checkpoint: Checkpoint
) -> list[int]:
    nodes = {
        (level, index): base64.b64decode(node) for level, index, node in map(_values, archive.lines(NODES))
    }

    def is_proven(position: int, leaf: int) -> bool:
        found = leaves.get(position)
        if found is None or not 0 <= leaf < checkpoint.size:
            return False
        proof = inclusion_proof(lambda level, index: nodes[level, index], leaf, checkpoint.size)
        return root_from_proof(found, leaf, checkpoint.size, proof) == checkpoint.root

    return [position for position, leaf in places.items() if not is_proven(position, leaf)]


def _line(*values: object) -> bytes:
    return json.dumps(values).encode() + b"\n"


def _values(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise ArchiveError("a line of its proofs is malformed") from None
