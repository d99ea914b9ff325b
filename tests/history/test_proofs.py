"""Proofs: verified by the example, which shares no code with the log, and refused when anything differs."""

import runpy
import sys
from pathlib import Path

import pytest

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.history.checkpoints import log_signers
from garden.history.notes import VerifierKey
from garden.history.proofs import EventUnsettledError, Proof, ProofError, parse_proof, prove_event
from tests.docs.pages import REPOSITORY
from tests.events.test_verifier import tamper
from tests.history.conftest import logged
from tests.support.accounts import ADA, NOTES, Account


def keys_of(garden: Garden) -> list[VerifierKey]:
    return [each.public for each in log_signers(garden.services)]


@pytest.fixture
def proofs(garden: Garden, account: Account) -> list[Proof]:
    """The proofs of many events, each at the size that the log had then, up to past a full tile."""
    made = []
    for number in range(260):
        event = account.edit(f"{number}\n")
        if number % 37 == 0 or number > 255:
            made.append(prove_event(garden.services, "ada", event.event_id))
    return made


def verify(proof: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Run the example; returns why it refuses the proof, if it does."""
    monkeypatch.setattr(sys, "argv", ["verify_proof.py", str(proof), key])
    try:
        runpy.run_path(str(REPOSITORY / "examples" / "verify_proof.py"), run_name="__main__")
    except SystemExit as refused:
        return str(refused.code)
    return None


def test_the_example_verifies_each_proof_with_each_key(
    garden: Garden,
    proofs: list[Proof],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = folder / "proof"
    for proof in proofs:
        file.write_text(str(proof))
        for key in keys_of(garden):
            assert verify(file, str(key), monkeypatch) is None
            assert proof.entry.decode() in capsys.readouterr().out
    assert len(proofs) == 11


def test_a_changed_proof_is_refused_by_the_example_and_by_us(
    garden: Garden, proofs: list[Proof], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, whole, (key, *_) = folder / "proof", str(proofs[-1]), keys_of(garden)
    lines, older = whole.split("\n"), str(proofs[0]).partition("\n\n")[0].split("\n")
    changed = {
        "another entry": [lines[0], f"{lines[1][:-4]}AAAA", *lines[2:]],
        "another place": [*lines[:2], "index 3", *lines[3:]],
        "a hash less": [*lines[:3], *lines[4:]],
        "a hash twice": [*lines[:4], *lines[3:]],
        "another checkpoint": [*older, *lines[lines.index("") :]],
        "another signature": [*lines[:-3], lines[-3][:-8] + "AAAAAAA=", *lines[-2:]],
    }  # fmt: skip
    for why, text in changed.items():
        file.write_text("\n".join(text))
        with pytest.raises(GardenError):
            parse_proof(file.read_bytes()).verify([key])
        assert verify(file, str(key), monkeypatch) is not None, why
    with pytest.raises(ProofError, match="No key"):
        proofs[0].verify([])


def test_a_proof_is_read_back(garden: Garden, proofs: list[Proof]) -> None:
    for proof in proofs:
        assert parse_proof(str(proof).encode()) == proof
        assert proof.verify(keys_of(garden)).size > proof.index
    for content in (b"", b"\xff", str(proofs[0]).encode().replace(b"extra", b"other")):
        with pytest.raises(ProofError):
            parse_proof(content)


def test_an_event_that_has_not_ended_has_no_proof(garden: Garden, account: Account) -> None:
    with account.store.document(ADA, NOTES) as stream:
        event = account.begin(stream, "open\n")
        with pytest.raises(EventUnsettledError, match=str(event.event_id)):
            prove_event(garden.services, "ada", event.event_id)


def test_another_users_event_has_no_proof(garden: Garden, account: Account) -> None:
    event = account.edit("three\n")
    logged(garden)
    with pytest.raises(EventUnsettledError):
        prove_event(garden.services, "ben", event.event_id)


def test_a_leaf_that_was_given_to_another_event_proves_nothing(
    garden: Garden, account: Account, database: str
) -> None:
    event = account.edit("three\n")
    logged(garden)
    tamper(
        database,
        f"update garden.feed set event_id = gen_random_uuid(), sequence = 1000, position = 99"
        f" where event_id = '{event.event_id}'",
        f"update garden.feed set sequence = {event.sequence}, event_id = '{event.event_id}'"
        " where user_id = 'ada' and position = 1",
        "update garden.feed set stream = 'users/ada/notes.md' where user_id = 'ada' and position = 1",
    )
    with pytest.raises(ProofError, match=f"not that of event {event.event_id}"):
        prove_event(garden.services, "ada", event.event_id)
