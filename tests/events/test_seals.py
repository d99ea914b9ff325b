"""The seals of a release stay the seals of every later one: fixed rows have fixed seals."""

from datetime import UTC, datetime
from uuid import UUID

from garden.events.keyring import Keyring
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
    type="t", op="o", tool="x", path="p", rationale="ü", evidence_refs=("e",), edit={"n": 1.0}, lint={}
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
    splice=Splice(3, "a", "bü"),
    document_version=2,
    before_hash="b",
    intended_hash="i",
    line_hash=b"1" * 32,
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
    assert event.chain.mac.hex() == "b01714c2791007a3cd7cf25c26e9b2c6dc925ae2da660b14163297ea404a0ff2"
    assert event.state.mac.hex() == "44cadff0285e00adcdd87823eab088ec7dd71b95270c293e0975fb538c793832"
    assert (event.chain.version, event.state.version) == (2, 2)
    assert chain_holds(event_row(event), PREVIOUS, KEYS)
    assert state_holds(event_row(event), KEYS)


def test_an_annotation_has_the_seal_it_always_had() -> None:
    annotation = seal_annotation(ANNOTATION, b"q" * 32, KEYS)
    assert annotation.chain.mac.hex() == "9ef09b54c2d7e5145ebca952aa2d5b2ddd769a1162bb8eccabf33442c56dd95c"
    assert annotation_holds(annotation_row(annotation), b"q" * 32, KEYS)


def test_a_head_has_the_seal_it_always_had() -> None:
    row = sealed_head_row("ada", "p", HEAD, KEYS)
    assert row["seal"].hex() == "c2907fc59e741aee73c752b8096e4f1b847489d833c47070fcf14460622f5375"
    assert head_holds(row, KEYS)


def test_content_has_the_line_hash_it_always_had() -> None:
    line_hash = line_seal("- rest\n", KEYS)
    assert line_hash.hex() == "b6cc3b5418b048ee53ed2b97f249c44ea34b7f3705a5043af0dfb8a3241298a3"
    assert line_holds({"line_hash": line_hash, "integrity_salt_version": 2}, "- rest\n", KEYS)
