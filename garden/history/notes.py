"""Signed notes and checkpoints, as C2SP's signed-note, tlog-checkpoint and tlog-cosignature define them.

A note is a text, an empty line, and a line for each signature. A verifier ignores signatures by keys that it
does not know, so a checkpoint may carry those of several keys and of witnesses.
"""

import base64
import binascii
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from garden.grammar.errors import GardenError

ED25519, COSIGNATURE, ML_DSA_44 = 1, 4, 6
_TIME_BYTES = 8
_NOTE_BYTES_MAX = 256 * 1024
_LABEL = b"subtree/v1\n\0"
_SIGNATURE = re.compile("\u2014 ([^ +]+) ([A-Za-z0-9+/]+={0,2})")
_SIZE = re.compile("0|[1-9][0-9]{0,17}")


class NoteError(GardenError):
    """A text is not a signed note, or a key is not a verifier key."""

    code = "invalid_input"


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """A line of a note: the key's name, its short id, and the signature."""

    name: str
    key_id: bytes
    signature: bytes

    def __str__(self) -> str:
        return f"\u2014 {self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


@dataclass(frozen=True, slots=True)
class Note:
    """A text that ends with a new line, and its signatures."""

    text: str
    signatures: tuple[SignatureLine, ...] = ()

    def __str__(self) -> str:
        return f"{self.text}\n{''.join(map(str, self.signatures))}"

    def with_line(self, line: SignatureLine) -> "Note":
        """The note with a further signature."""
        return Note(self.text, (*self.signatures, line))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The origin of a log, its size, and the root of its tree."""

    origin: str
    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def parse_note(content: bytes) -> Note:
    """Read a signed note."""
    try:
        text, separator, lines = content[:_NOTE_BYTES_MAX].decode().rpartition("\n\n")
    except UnicodeDecodeError:
        raise NoteError("This is not a signed note.", hint=_HINT) from None
    if not separator or not lines.endswith("\n"):
        raise NoteError("This is not a signed note.", hint=_HINT)
    return Note(f"{text}\n", tuple(parse_signature(line) for line in lines[:-1].split("\n")))


def parse_signature(line: str) -> SignatureLine:
    """Read a signature line without its end."""
    match = _SIGNATURE.fullmatch(line)
    if match is None or len(data := _decode(match[2])) < 5:
        raise NoteError("A line below the note's text is not a signature.", hint=_HINT)
    return SignatureLine(match[1], data[:4], data[4:])


def parse_checkpoint(text: str) -> Checkpoint:
    """Read the text of a checkpoint; further lines in it are left aside."""
    origin, size, root = [*text.split("\n"), "", "", ""][:3]
    if not origin or not _SIZE.fullmatch(size) or len(data := _decode(root)) != 32:
        raise NoteError("The note is not a checkpoint of a log.", hint=_HINT)
    return Checkpoint(origin, int(size), data)


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with its name and its type, written `name+id+key`."""

    name: str
    kind: int
    key: bytes

    @property
    def key_id(self) -> bytes:
        """The first bytes of a hash over name, type and key."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.key).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(bytes([self.kind]) + self.key).decode()}"

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """Read a key in its written form."""
        name, _, rest = text.partition("+")
        key_id, _, encoded = rest.partition("+")
        data = _decode(encoded)
        key = cls(name, data[0] if data else 0, data[1:])
        if not name or key.kind not in (ED25519, COSIGNATURE, ML_DSA_44) or key.key_id.hex() != key_id:
            raise NoteError("This is not a verifier key for a log or a witness.", hint=_KEY_HINT)
        return key

    def is_of(self, line: SignatureLine) -> bool:
        """Whether a signature line names this key."""
        return (line.name, line.key_id) == (self.name, self.key_id)

    def holds(self, line: SignatureLine, text: str) -> bool:
        """Whether a signature line is this key's signature under the text of a note."""
        from cryptography.exceptions import InvalidSignature

        signature, at = line.signature, 0
        if self.kind != ED25519:
            at, signature = int.from_bytes(signature[:_TIME_BYTES], "big"), signature[_TIME_BYTES:]
        try:
            _public_key(self.kind, self.key).verify(signature, _message(self.kind, self.name, text, at))
        except (InvalidSignature, ValueError, OverflowError, NoteError):
            # A name of more than 255 bytes has no message.
            return False
        return self.is_of(line)


@dataclass(frozen=True)
class Signer:
    """A private key, and the public one that verifies its signatures."""

    public: VerifierKey
    _private: Any

    def sign(self, text: str) -> SignatureLine:
        """Sign the text of a note."""
        at = 0 if self.public.kind == ED25519 else int(time.time())
        prefix = b"" if self.public.kind == ED25519 else at.to_bytes(_TIME_BYTES, "big")
        signature = self._private.sign(_message(self.public.kind, self.public.name, text, at))
        return SignatureLine(self.public.name, self.public.key_id, prefix + signature)

    def __repr__(self) -> str:
        return f"Signer({self.public.name})"


def make_signer(kind: int, name: str, seed: bytes) -> Signer | None:
    """The signer of a seed of 32 bytes; None where this machine's library lacks ML-DSA."""
    try:
        if kind == ML_DSA_44:
            from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey

            private: Any = MLDSA44PrivateKey.from_seed_bytes(seed)
        else:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            private = Ed25519PrivateKey.from_private_bytes(seed)
    except _lacking_errors():
        return None
    return Signer(VerifierKey(name, kind, private.public_key().public_bytes_raw()), private)


def holding(note: Note, keys: Sequence[VerifierKey]) -> list[VerifierKey]:
    """The keys that signed a note; refuses a note with a wrong signature under one of their names."""
    found = []
    for line in note.signatures:
        for key in keys:
            if key.is_of(line):
                if not key.holds(line, note.text):
                    raise NoteError(f"The signature of {key.name} does not hold.", hint=_HINT)
                found.append(key)
    return found


def _message(kind: int, name: str, text: str, at: int) -> bytes:
    """The bytes under a signature of this type."""
    if kind == ED25519:
        return text.encode()
    if kind == COSIGNATURE:
        return f"cosignature/v1\ntime {at}\n{text}".encode()
    checkpoint = parse_checkpoint(text)
    names = (each.encode() for each in (name, checkpoint.origin))
    signer, origin = (len(each).to_bytes(1, "big") + each for each in names)
    ends = bytes(8) + checkpoint.size.to_bytes(8, "big")
    return _LABEL + signer + at.to_bytes(_TIME_BYTES, "big") + origin + ends + checkpoint.root


def _public_key(kind: int, key: bytes) -> Any:
    if kind != ML_DSA_44:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        return Ed25519PublicKey.from_public_bytes(key)
    try:
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey

        return MLDSA44PublicKey.from_public_bytes(key)
    except _lacking_errors():
        raise NoteError(
            "ML-DSA-44 needs a newer cryptography.", hint="Install a newer version of cryptography."
        ) from None


def _lacking_errors() -> tuple[type[Exception], ...]:
    from cryptography.exceptions import UnsupportedAlgorithm

    return ImportError, UnsupportedAlgorithm


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


_HINT = "Give a checkpoint as 'garden checkpoint' prints it, unchanged."
_KEY_HINT = "It reads NAME+ID+KEY; 'garden checkpoint --keys' prints those of this home."
