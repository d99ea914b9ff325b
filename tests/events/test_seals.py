"""The seals of a release stay the seals of every later one: fixed rows have fixed seals."""

import hmac
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from types import MappingProxyType
from uuid import UUID

import pytest

from garden.events.encoding import encode
from garden.events.idempotency import RequestIdentity, identify_request
from garden.events.keyring import Keyring
from garden.events.payloads import EditPayload
from garden.events.records import Caller, Event, Head, Statement
from garden.events.rows import HEAD_SEAL, annotation_row, event_row, head_row, seal_row
from garden.events.saga import Status
from garden.events.seals import (
    annotation_holds,
    chain_holds,
    head_holds,
    line_holds,
    line_seal,
    seal_annotation,
    seal_answer,
    seal_event,
    seal_head,
    seal_request,
    state_holds,
)
from garden.grammar.splice import Splice

KEYS = Keyring({1: b"k" * 32, 2: b"j" * 32})
AT = datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC)
CALLER = Caller("ada", "companion", "agent", "c1", None, "a1")
SAID = Statement(
    type="t",
    op="o",
    tool="x",
    path="p",
    rationale="ü",
    evidence_refs=("e",),
    edit=EditPayload(asked={"n": 1.0}),
    lint={},
)
EVENT = Event(
    user_id="ada",
    event_id=UUID(int=5),
    stream="p",
    sequence=4,
    statement=SAID,
    caller=CALLER,
    idempotency_key="k",
    created_at=AT,
    status=Status.FAILED,
    splices=(Splice(3, "a", "bü"),),
    document_version=2,
    before_hash="b",
    intended_hash="i",
    line_hash=b"1" * 32,
    salts=bytes(range(96)),
    error={"code": "x"},
    failed_at=AT,
)
NOTE = Statement(type="t", op="o", tool="x")
ANNOTATION = annotation_row(UUID(int=6), UUID(int=5), 3, NOTE, CALLER, AT)
ANNOTATION |= {"details": {"a": 1}, "salts": bytes(range(48))}
HEAD = Head(
    version=2,
    content_hash="c",
    raw_hash="r",
    head_event_id=UUID(int=5),
    tail_sequence=4,
    tail_chain_hash=b"z" * 32,
    updated_at=AT,
)
PREVIOUS = b"p" * 32


# Values of each type, and their bytes. A whole number has no fraction and no exponent, a text keeps both.
BYTES = {
    b'{"a":[true,null,"\\u00fc\\"\\\\\\n\\u2028\\ud800"],"b":1,"c":{"y":[],"z":{}}}': {
        "b": 1,
        "a": [True, None, 'ü"\\\n\u2028\ud800'],
        "c": {"z": {}, "y": ()},
    },
    b'[1,-2.5,10000000000000000,15000000000000000000,1e-07,0.1,0,"1.0, 2.0] e+"]': [
        1.0, -2.5, 1e16, 1.5e19, 1e-7, 0.1, -0.0, "1.0, 2.0] e+",
    ],
    b'{"array":{"bytes":"62"},"raw":{"bytes":"00ff"},"t":{"time":"2026-01-01T12:00:00.000000+00:00"},'
    b'"u":{"uuid":"00000000000000000000000000000007"},"view":{"bytes":"61"}}': {
        "t": datetime(2026, 1, 1, 14, tzinfo=timezone(timedelta(hours=2))),
        "u": UUID(int=7),
        "raw": b"\x00\xff",
        "view": memoryview(b"a"),
        "array": bytearray(b"b"),
    },
    b'{"failed":{"f":2},"n":{"x":{"bytes":""}},"s":"failed"}': MappingProxyType(
        {"n": MappingProxyType({"x": b""}), "s": Status.FAILED, Status.FAILED: {"f": 2.0}}
    ),
    b"2": 2.0,
}  # fmt: skip


@pytest.mark.parametrize("expected", BYTES)
def test_a_value_has_the_bytes_it_always_had(expected: bytes) -> None:
    assert encode(BYTES[expected]) == expected


def test_an_event_has_the_seals_it_always_had() -> None:
    event, row = seal_event(EVENT, PREVIOUS, KEYS)
    assert row == event_row(event)
    assert event.chain.mac.hex() == "191ae1a488471a5bfce9542a8e77d010c7aadb75a1016e22fed8135e808d9009"
    assert event.state.mac.hex() == "33f6a3d689a3a9d7d23aff293ac04b6daf76986e40f0ba4153d64912fb7ca946"
    assert sha256(event.commitments).hexdigest() == (
        "03d2448df5ab96b2d0d5235c16e310781c3eef8f78810666c5a9d15a56512bd7"
    )
    assert (event.chain.version, event.state.version) == (2, 2)
    assert chain_holds(event_row(event), PREVIOUS, KEYS)
    assert state_holds(event_row(event), KEYS)


def test_an_annotation_has_the_seal_it_always_had() -> None:
    row = seal_annotation(ANNOTATION, b"q" * 32, KEYS)
    assert row["chain_hash"].hex() == "1ec37e51ee537140c9feab3432f60ba14085babcb35a78582c8128189b86fb8d"
    assert annotation_holds(row, b"q" * 32, KEYS)


def test_a_request_and_its_answer_have_the_seals_they_always_had() -> None:
    request = RequestIdentity("k", b"f" * 32)
    sealed = seal_request("ada", request, UUID(int=5), AT, AT + request.lifetime, KEYS)
    assert sealed.mac.hex() == "787eaa4d45bfa8bf8cb7461d6bbd3c20cd0c48a0963c922b87587cda56ef25f3"
    answer = {"eventId": "x", "n": 2.0, "w": []}
    sealed = seal_answer("ada", "k", UUID(int=5), answer, KEYS)
    assert sealed.mac.hex() == "90e9c788e35d8ae7acffa28a7b78926c36ef192e234a9dd98e1d027b5b794ff0"


def test_a_request_has_the_identity_it_always_had() -> None:
    asked = {"text": "ü", "n": [1.0, {"b": 1, "a": 2}]}
    identity = identify_request(CALLER, "fs.append", "p", asked)
    assert identity.key == "call:cff5c1e09d79d56745a09f89974360db785ef8c4a5260ba8b6b95f62e5dfcce1"
    assert identity.fingerprint.hex() == "6ebf1a140ada04f78b5b21568c04c0347d5a3ddc309812d42d001b0305d1e4c8"


def test_a_head_has_the_seal_it_always_had() -> None:
    seal = seal_head("ada", "p", HEAD, KEYS)
    assert seal.mac.hex() == "3c12e7d7925f09578506e6b1cf87ed34fcf3e8621a5f7a114581616de95d786f"
    assert head_holds(head_row("ada", "p", HEAD) | seal_row(seal, HEAD_SEAL), KEYS)


def test_anyone_with_the_key_can_recompute_a_line_hash() -> None:
    line_hash = line_seal("- rest\n", KEYS)
    extracted = hmac.digest(bytes(32), b"j" * 32, "sha256")
    line_key = hmac.digest(extracted, b"memory-garden line\x01", "sha256")
    assert line_hash == hmac.digest(line_key, b"- rest\n", "sha256")
    assert line_holds({"line_hash": line_hash, "integrity_salt_version": 2}, "- rest\n", KEYS)
