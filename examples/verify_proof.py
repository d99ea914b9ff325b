"""A stranger's check of a proof: that an event was recorded, with the log's public key and nothing else.

    python examples/verify_proof.py EVENT.tlog-proof KEY

KEY is a line of `garden checkpoint --keys`, which you had before, from elsewhere. It needs `cryptography` and
no part of this project. It prints what the proof shows, and exits with 1 if the proof does not hold.
"""

import sys
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def root_of(entry: bytes, index: int, size: int, hashes: list[bytes]) -> bytes:
    """The root of the tree that has this entry at this place (RFC 6962)."""
    found, last = sha256(b"\0" + entry).digest(), size - 1
    if not 0 <= index < size:
        sys.exit("The entry is not below the tree's size.")
    for each in hashes:
        while index % 2 == 0 and index == last and last:
            index, last = index // 2, last // 2
        pair = each + found if index % 2 else found + each
        found, index, last = sha256(b"\1" + pair).digest(), index // 2, last // 2
    return found if last == 0 else b""


def check_signature(checkpoint: str, signatures: str, key: str) -> None:
    """Raise InvalidSignature unless this key has signed the checkpoint."""
    name, key_id, encoded = key.split("+", 2)
    public = b64decode(encoded)
    if sha256(name.encode() + b"\n" + public).hexdigest()[:8] != key_id:
        sys.exit("The key was not copied whole.")
    for line in signatures.splitlines():
        _, signer, data = line.split(" ")
        signature = b64decode(data)[4:]
        if signer == name and b64decode(data)[:4].hex() == key_id:
            if public[0] == 1:
                return Ed25519PublicKey.from_public_bytes(public[1:]).verify(signature, checkpoint.encode())
            from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey

            origin, size, root = checkpoint.splitlines()
            names = [bytes([len(each.encode())]) + each.encode() for each in (name, origin)]
            message = b"subtree/v1\n\0" + names[0] + signature[:8] + names[1]
            message += bytes(8) + int(size).to_bytes(8, "big") + b64decode(root)
            return MLDSA44PublicKey.from_public_bytes(public[1:]).verify(signature[8:], message)
    raise InvalidSignature


def main(file: str, key: str) -> None:
    """Verify a proof, and print what it shows."""
    head, checkpoint, signatures = Path(file).read_text("utf-8").split("\n\n")
    _, extra, index, *hashes = head.splitlines()
    entry, place = b64decode(extra.removeprefix("extra ")), int(index.removeprefix("index "))
    origin, size, root = checkpoint.splitlines()
    if root_of(entry, place, int(size), [b64decode(each) for each in hashes]) != b64decode(root):
        sys.exit("The entry is not in the tree of the checkpoint.")
    try:
        check_signature(f"{checkpoint}\n", signatures, key)
    except InvalidSignature:
        sys.exit("This key has not signed the checkpoint.")
    print(f"The log {origin} signed that entry {place} of {size} is: {entry.decode()}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Usage: python examples/verify_proof.py PROOF KEY")
    try:
        main(*sys.argv[1:])
    except (ValueError, IndexError, OSError) as error:
        sys.exit(f"The proof or the key is malformed: {error}")
