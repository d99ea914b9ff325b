"""Proofs that an event is in the log, in C2SP's tlog-proof format; a public key alone verifies them."""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from garden.grammar.errors import GardenError
from garden.history.checkpoints import log_folder, make_checkpoints, published_note, verified_checkpoint
from garden.history.merkle import inclusion_proof, leaf_hash, root_from_proof
from garden.history.notes import Checkpoint, Note, VerifierKey, holding, parse_checkpoint, parse_note
from garden.history.tiles import Tiles
from garden.writing.services import Services

_FORMAT = "c2sp.org/tlog-proof@v1"
_PROOF = re.compile(
    rf"{re.escape(_FORMAT)}\nextra ([A-Za-z0-9+/=]+)\nindex (0|[1-9][0-9]{{0,17}})\n"
    r"((?:[A-Za-z0-9+/=]{44}\n){0,63})\n"
)


class EventUnsettledError(GardenError):
    """The event has not ended, so the log does not hold it yet."""

    code = "not_found"


class ProofError(GardenError):
    """A proof is malformed, or does not prove its entry."""

    code = "invalid_input"


@dataclass(frozen=True)
class Proof:
    """An entry, its place in the log, the hashes from it to the root, and the signed checkpoint."""

    entry: bytes
    index: int
    hashes: tuple[bytes, ...]
    note: Note

    def __str__(self) -> str:
        lines = [_FORMAT, f"extra {_encode(self.entry)}", f"index {self.index}", *map(_encode, self.hashes)]
        return "".join(f"{line}\n" for line in lines) + f"\n{self.note}"

    def verify(self, keys: Sequence[VerifierKey]) -> Checkpoint:
        """The checkpoint that holds the entry; refuses a proof of something else, or by other signers."""
        checkpoint = parse_checkpoint(self.note.text)
        root = root_from_proof(leaf_hash(self.entry), self.index, checkpoint.size, self.hashes)
        if root != checkpoint.root:
            raise ProofError("The entry is not in the tree of the checkpoint.", hint=_HINT)
        if not holding(self.note, keys):
            raise ProofError("No key that you gave has signed the checkpoint.", hint=_HINT)
        return checkpoint


def parse_proof(content: bytes) -> Proof:
    """Read a proof that `garden prove` wrote."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = ""
    match = _PROOF.match(text)
    if match is None:
        raise ProofError("This is not a proof of an event.", hint=_HINT)
    try:
        entry, *hashes = (base64.b64decode(each, validate=True) for each in (match[1], *match[3].split()))
    except binascii.Error:
        raise ProofError("A line of the proof is not base64.", hint=_HINT) from None
    return Proof(entry, int(match[2]), tuple(hashes), parse_note(text[match.end() :].encode()))


def prove_event(services: Services, user_id: str, event_id: UUID) -> Proof:
    """Prove that an event is in the log; signs a checkpoint first if the newest one does not hold it."""
    proof = published_proof(services, user_id, event_id)
    if proof is None:
        for _ in make_checkpoints(services):
            pass
        proof = published_proof(services, user_id, event_id)
    if proof is None:
        raise EventUnsettledError(
            f"Event {event_id} has not ended, so the log does not hold it.",
            hint="'garden reconcile' settles interrupted changes; then prove it again.",
        )
    return proof


def published_proof(services: Services, user_id: str, event_id: UUID) -> Proof | None:
    """Prove that an event is in the log; None if the newest signed checkpoint does not hold it."""
    leaf, note = services.log_leaves.leaf_of(user_id, event_id), published_note(services)
    if leaf is None or note is None:
        return None
    checkpoint = verified_checkpoint(services, note)
    if leaf >= checkpoint.size:
        return None
    tiles = Tiles(log_folder(services), checkpoint.size)
    hashes = inclusion_proof(tiles.subtree, leaf, checkpoint.size)
    proof = Proof(tiles.entry(leaf), leaf, tuple(hashes), note)
    if root_from_proof(leaf_hash(proof.entry), leaf, checkpoint.size, hashes) != checkpoint.root:
        raise ProofError("The files of the log do not lead to its checkpoint.", hint=_DAMAGED)
    if not proof.entry.startswith(f"event/v1 {event_id} ".encode()):
        raise ProofError(f"Entry {leaf} of the log is not that of event {event_id}.", hint=_TAMPERED)
    return proof


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


_HINT = "Give a proof as 'garden prove' wrote it, and a key that 'garden checkpoint --keys' prints."
_TAMPERED = "The database is not as it was logged: 'garden verify' names what was changed."
_DAMAGED = "Put .garden/tlog back from a backup, or remove it: the next checkpoint makes it anew."
