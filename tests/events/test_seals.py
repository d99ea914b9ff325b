"""The seals of a release stay the seals of every later one: fixed rows have fixed seals."""

import hmac
from datetime import UTC, datetime
from uuid import UUID

from garden.events.keyring import Keyring
from garden.events.payloads import EditPayload
from garden.events.records import Annotation, Caller, Event, Head, Statement
from garden.events.rows import annotation_row, event_row
from garden.events.saga import Status
from garden.events.seals import (
    annotation_holds,
    chain_holds,
    head_holds,
    line_holds,
    line_seal,
    seal_annotation,
    seal_event,
    sealed_head_row,
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
ANNOTATION = Annotation(
    annotation_id=UUID(int=6),
    event_id=UUID(int=5),
    sequence=3,
    type="t",
    op="o",
    rationale=None,
    evidence_refs=(),
    details={"a": 1},
    caller=CALLER,
    created_at=AT,
    salts=bytes(range(48)),
)
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


def test_an_event_has_the_seals_it_always_had() -> None:
    event = seal_event(EVENT, PREVIOUS, KEYS)
    assert event.chain.mac.hex() == "191ae1a488471a5bfce9542a8e77d010c7aadb75a1016e22fed8135e808d9009"
    assert event.state.mac.hex() == "33f6a3d689a3a9d7d23aff293ac04b6daf76986e40f0ba4153d64912fb7ca946"
    assert (event.chain.version, event.state.version) == (2, 2)
    assert chain_holds(event_row(event), PREVIOUS, KEYS)
    assert state_holds(event_row(event), KEYS)


def test_an_annotation_has_the_seal_it_always_had() -> None:
    annotation = seal_annotation(ANNOTATION, b"q" * 32, KEYS)
    assert annotation.chain.mac.hex() == "1ec37e51ee537140c9feab3432f60ba14085babcb35a78582c8128189b86fb8d"
    assert annotation_holds(annotation_row(annotation), b"q" * 32, KEYS)


def test_a_head_has_the_seal_it_always_had() -> None:
    row = sealed_head_row("ada", "p", HEAD, KEYS)
    assert row["seal"].hex() == "3c12e7d7925f09578506e6b1cf87ed34fcf3e8621a5f7a114581616de95d786f"
    assert head_holds(row, KEYS)


def test_anyone_with_the_key_can_recompute_a_line_hash() -> None:
    line_hash = line_seal("- rest\n", KEYS)
    extracted = hmac.digest(bytes(32), b"j" * 32, "sha256")
    line_key = hmac.digest(extracted, b"memory-garden line\x01", "sha256")
    assert line_hash == hmac.digest(line_key, b"- rest\n", "sha256")
    assert line_holds({"line_hash": line_hash, "integrity_salt_version": 2}, "- rest\n", KEYS)
