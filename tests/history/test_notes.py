"""Signed notes: ids, keys and signed bytes as the public formats define them, taken apart by hand."""

import base64
from hashlib import sha256
from struct import pack, unpack

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey

from garden.history.notes import (
    COSIGNATURE,
    ED25519,
    ML_DSA_44,
    Checkpoint,
    Note,
    NoteError,
    Signer,
    VerifierKey,
    holding,
    make_signer,
    parse_checkpoint,
    parse_note,
)

NAME, SEED, ROOT = "example.com/log", bytes(range(32)), bytes(range(32, 64))
TEXT = f"{NAME}\n7\n{base64.b64encode(ROOT).decode()}\n"


def signer(kind: int, name: str = NAME) -> Signer:
    made = make_signer(kind, name, SEED)
    assert made is not None
    return made


def line_of(kind: int) -> tuple[bytes, bytes]:
    """The key id and the signature in a signed note, read from its text."""
    note = str(Note(TEXT, (signer(kind).sign(TEXT),)))
    assert note.startswith(f"{TEXT}\n\N{EM DASH} {NAME} ")
    data = base64.b64decode(note.split(" ")[-1])
    return data[:4], data[4:]


def test_an_ed25519_signature_covers_the_text() -> None:
    public = Ed25519PrivateKey.from_private_bytes(SEED).public_key()
    key_id, signature = line_of(ED25519)
    assert key_id == sha256(b"example.com/log\n\x01" + public.public_bytes_raw()).digest()[:4]
    public.verify(signature, TEXT.encode())


def test_a_cosignature_covers_the_time_and_the_text() -> None:
    key_id, signature = line_of(COSIGNATURE)
    public = Ed25519PrivateKey.from_private_bytes(SEED).public_key()
    assert key_id == sha256(b"example.com/log\n\x04" + public.public_bytes_raw()).digest()[:4]
    (at,) = unpack(">Q", signature[:8])
    public.verify(signature[8:], f"cosignature/v1\ntime {at}\n{TEXT}".encode())


def test_an_ml_dsa_signature_covers_names_time_size_and_root() -> None:
    vkey = str(signer(ML_DSA_44).public)
    name, hexed, encoded = vkey.split("+", 2)
    data = base64.b64decode(encoded)
    assert (name, data[0], len(data)) == (NAME, 6, 1313)
    key_id, signature = line_of(ML_DSA_44)
    assert key_id == bytes.fromhex(hexed) == sha256(f"{NAME}\n".encode() + data).digest()[:4]
    assert len(signature) == 8 + 2420
    lengthened = b"\x0fexample.com/log"
    message = b"subtree/v1\n\0" + lengthened + signature[:8] + lengthened + pack(">QQ", 0, 7) + ROOT
    MLDSA44PublicKey.from_public_bytes(data[1:]).verify(signature[8:], message)


def test_the_written_key_holds_the_type_and_the_public_key() -> None:
    public = VerifierKey.parse(str(signer(ED25519).public))
    data = base64.b64decode(str(public).split("+", 2)[2])
    with pytest.raises(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(data[1:]).verify(bytes(64), TEXT.encode())
    assert (data[0], public) == (1, signer(ED25519).public)
    for wrong in (str(public).replace("example", "another"), "", "a+b", f"{str(public)[:-8]}AAAA="):
        with pytest.raises(NoteError, match="verifier key"):
            VerifierKey.parse(wrong)


@pytest.mark.parametrize("kind", [ED25519, COSIGNATURE, ML_DSA_44])
def test_a_note_is_read_back_and_holds_for_its_own_text_only(kind: int) -> None:
    made = signer(kind)
    note = Note(TEXT, (made.sign(TEXT),))
    assert parse_note(str(note).encode()) == note
    assert parse_checkpoint(note.text) == Checkpoint(NAME, 7, ROOT)
    assert holding(note, [made.public]) == [made.public]
    assert holding(note, [signer(kind, "example.com/other").public]) == []
    with pytest.raises(NoteError, match="does not hold"):
        holding(Note(TEXT.replace("7", "8", 1), note.signatures), [made.public])


@pytest.mark.parametrize(
    "content", [b"", b"text\n", b"text\n\n", b"text\n\nnot a signature\n", b"\xff\n\n", TEXT.encode()]
)
def test_what_is_no_signed_note_is_refused(content: bytes) -> None:
    with pytest.raises(NoteError):
        parse_note(content)


@pytest.mark.parametrize(
    "text", ["a\n01\n" + "A" * 43 + "=\n", "a\n1\nAAAA\n", "\n1\n\n", "a\n-1\n\n", "a\n"]
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(NoteError, match="not a checkpoint"):
        parse_checkpoint(text)


def test_a_signature_under_an_endless_origin_does_not_hold() -> None:
    made = signer(ML_DSA_44)
    text = TEXT.replace("example.com/log", "x" * 256)
    with pytest.raises(NoteError, match="does not hold"):
        holding(Note(text, (made.sign(TEXT),)), [made.public])
