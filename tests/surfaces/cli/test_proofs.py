"""`checkpoint` and `prove`."""

from pathlib import Path

import pytest

from garden.application import Garden
from garden.history.notes import VerifierKey, holding, parse_checkpoint, parse_note
from garden.history.proofs import parse_proof
from tests.history.test_witnesses import OwnWitness
from tests.surfaces.cli.conftest import Command


def keys_of(run: Command) -> list[VerifierKey]:
    return [VerifierKey.parse(line) for line in run.well("checkpoint", "--keys").splitlines()]


@pytest.mark.usefixtures("ada")
def test_a_checkpoint_is_printed_as_a_signed_note(run: Command) -> None:
    note = parse_note(run.well("checkpoint").encode())
    assert len(holding(note, keys_of(run))) == 2
    shown = run("checkpoint", "--json").json
    found = parse_checkpoint(note.text)
    assert (shown["size"], shown["root"], shown["isWitnessed"]) == (found.size, found.root.hex(), None)
    assert run("checkpoint", "--keys", "--json").json == [str(key) for key in keys_of(run)]


@pytest.mark.usefixtures("ada")
def test_a_proof_is_written_where_asked_or_named_after_its_event(
    run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = run("events", "--json").json["result"]["rows"][0]["eventId"]
    monkeypatch.chdir(folder)
    shown = run("prove", event[-8:], "--json").json
    assert shown == {"eventId": event, "leaf": shown["leaf"], "file": f"{event}.tlog-proof"}
    assert "proves leaf" in run.well("prove", event, "--out", folder / "proof")
    for name in (f"{event}.tlog-proof", "proof"):
        proof = parse_proof((folder / name).read_bytes())
        proof.verify(keys_of(run))
        assert event in proof.entry.decode()


@pytest.mark.usefixtures("ada")
def test_a_checkpoint_without_its_witnesses_is_shown_and_fails(run: Command, garden: Garden) -> None:
    witness = OwnWitness("example.com/w", 4, garden).signer.public
    (run.home / "policy").write_text(f"witness w {witness} http://127.0.0.1:1/w\nquorum w\n")
    ran = run("checkpoint", GARDEN_TLOG_POLICY="policy")
    assert ran.code == 1
    assert len(holding(parse_note(ran.out.encode()), keys_of(run))) == 2
    assert "Too few witnesses have signed. w: http://127.0.0.1:1/w/add-checkpoint gives no answer" in ran.err
    assert run("checkpoint", "--json", GARDEN_TLOG_POLICY="policy").json["isWitnessed"] is False
