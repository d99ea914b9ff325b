"""Merkle trees straight from the definitions of RFC 6962, section 2.1, to compare ours with."""

from hashlib import sha256


def root(leaves: list[bytes]) -> bytes:
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = half(len(leaves))
    return sha256(b"\x01" + root(leaves[:k]) + root(leaves[k:])).digest()


def path(m: int, leaves: list[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = half(len(leaves))
    if m < k:
        return [*path(m, leaves[:k]), root(leaves[k:])]
    return [*path(m - k, leaves[k:]), root(leaves[:k])]


def consistency(m: int, leaves: list[bytes], known: bool = True) -> list[bytes]:
    if m == len(leaves):
        return [] if known else [root(leaves)]
    k = half(len(leaves))
    if m <= k:
        return [*consistency(m, leaves[:k], known), root(leaves[k:])]
    return [*consistency(m - k, leaves[k:], False), root(leaves[:k])]


def half(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while k * 2 < n:
        k *= 2
    return k
