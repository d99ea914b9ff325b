"""Merkle trees as RFC 6962 defines them: roots, and proofs of inclusion and consistency.

The functions compute with the hashes of complete subtrees, which a caller reads from tiles. A subtree at
`level` has 2**level leaves, and its `index` counts the subtrees of that level from the left.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

Subtree = Callable[[int, int], bytes]
"""Gives the hash of the complete subtree at a level and an index."""


def leaf_hash(entry: bytes) -> bytes:
    """The hash of an entry; its first byte differs from that of a node, so neither passes for the other."""
    return sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees side by side."""
    return sha256(b"\1" + left + right).digest()


def complete_root(hashes: Sequence[bytes]) -> bytes:
    """The hash of a complete subtree, from the hashes of one level in it; their number is a power of two."""
    while len(hashes) > 1:
        hashes = [node_hash(*hashes[at : at + 2]) for at in range(0, len(hashes), 2)]
    return hashes[0]


def tree_root(subtree: Subtree, size: int) -> bytes:
    """The root of the tree of the first `size` leaves."""
    return _range_hash(subtree, 0, size) if size else EMPTY_ROOT


def inclusion_proof(subtree: Subtree, index: int, size: int) -> list[bytes]:
    """The hashes beside the way from a leaf to the root, the leaf's own neighbour first."""
    return _beside(subtree, index, 0, size)


def consistency_proof(subtree: Subtree, old: int, new: int) -> list[bytes]:
    """The hashes that show the tree of the first `old` leaves to be the beginning of that of `new`."""
    return _between(subtree, old, 0, new, is_known=True) if 0 < old < new else []


def root_from_proof(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """The root that a proof of inclusion leads to, or None if it is too short or too long."""
    found, last, left = leaf, size - 1, list(reversed(proof))
    if not 0 <= index < size:
        return None
    while last and left:
        if index % 2 or index == last:
            found = node_hash(left.pop(), found)
            while index % 2 == 0:
                index, last = index // 2, last // 2
        else:
            found = node_hash(found, left.pop())
        index, last = index // 2, last // 2
    return None if left or last else found


def _range_hash(subtree: Subtree, start: int, end: int) -> bytes:
    count = end - start
    if count & (count - 1) == 0:
        level = count.bit_length() - 1
        return subtree(level, start >> level)
    middle = start + _split(count)
    return node_hash(_range_hash(subtree, start, middle), _range_hash(subtree, middle, end))


def _beside(subtree: Subtree, index: int, start: int, end: int) -> list[bytes]:
    if end - start == 1:
        return []
    middle = start + _split(end - start)
    if index < middle:
        return [*_beside(subtree, index, start, middle), _range_hash(subtree, middle, end)]
    return [*_beside(subtree, index, middle, end), _range_hash(subtree, start, middle)]


def _between(subtree: Subtree, old: int, start: int, end: int, *, is_known: bool) -> list[bytes]:
    """The proof for the leaves from `start` to `end`; a verifier of the old tree knows the first of them."""
    if old == end:
        return [] if is_known else [_range_hash(subtree, start, end)]
    middle = start + _split(end - start)
    if old <= middle:
        proof = _between(subtree, old, start, middle, is_known=is_known)
        return [*proof, _range_hash(subtree, middle, end)]
    proof = _between(subtree, old, middle, end, is_known=False)
    return [*proof, _range_hash(subtree, start, middle)]


def _split(count: int) -> int:
    """The leaves of the left half: the largest power of two below the count."""
    return 1 << (count - 1).bit_length() - 1
