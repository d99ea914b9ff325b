"""Export and verify in the console: what can be taken away, and what a verification says."""

import io
from pathlib import Path
from zipfile import ZipFile

import pytest

from garden.history.checkpoints import make_checkpoints
from garden.history.notes import parse_note
from garden.home.state_files import exclusive_lock
from garden.transfer.archive_check import check_archive
from tests.support.served import Person, Service
from tests.support.visitors import Visitor, visiting, words_of


@pytest.mark.parametrize("history", [False, True])
def test_the_documents_come_as_a_zip(owner: Visitor, ada: Person, ben: Person, history: bool) -> None:
    ada.ok("md.plant", path=ada.profile)
    ada.ok("md.snapshot_history", path=ada.profile)
    answer = owner.post("/export/documents", **({"history": "on"} if history else {}))
    assert f"{ada.user_id}-20" in answer.headers["content-disposition"]
    assert int(answer.headers["content-length"]) == len(answer.content)
    with ZipFile(io.BytesIO(answer.content)) as opened:
        names = opened.namelist()
        text = opened.read(ada.notes.removeprefix("users/")).decode()
    assert text == ada.client.get(f"/v1/documents/{ada.notes}").text
    assert any(name.startswith(".history/") for name in names) is history
    assert not any(ben.user_id in name for name in names)


def test_a_document_that_cannot_be_read_is_named_in_the_zip(
    service: Service, owner: Visitor, ada: Person
) -> None:
    (service.garden.home.path / ada.notes).write_bytes(b"\xff\xfe")
    with ZipFile(io.BytesIO(owner.post("/export/documents").content)) as opened:
        assert opened.namelist() == ["LEFT-OUT.txt"]
        assert ada.notes in opened.read("LEFT-OUT.txt").decode()


def test_the_archive_verifies_by_itself(reviewer: Visitor, folder: Path) -> None:
    file = folder / "ada.tar.gz"
    file.write_bytes(reviewer.post("/export/archive").content)
    verdict = check_archive(file, [])
    assert (verdict.holds, verdict.user, verdict.documents) == (True, reviewer.user_id, 1)


def test_an_agent_takes_documents_and_sees_nothing_of_the_account(service: Service, ada: Person) -> None:
    with visiting(service, ada, "agent", "companion") as agent:
        assert "Verify now" not in agent.text("/export")
        assert agent.post("/export/documents").status_code == 200
        assert agent.post("/export/archive").status_code == 403
        assert agent.post("/export/verify").status_code == 403
        assert agent.get("/export/checkpoint").status_code == 403


def test_what_holds_is_said_with_its_counts(reviewer: Visitor) -> None:
    answer = reviewer.post("/export/verify")
    assert "Everything holds. 1 event and 1 document." in words_of(answer.text)


def test_only_one_verification_of_a_home_is_under_way(service: Service, owner: Visitor) -> None:
    with exclusive_lock(service.garden.home.state / "verifying.lock", timeout_seconds=1):
        answer = owner.post("/export/verify")
    assert answer.status_code == 503
    assert "Another verification is under way." in words_of(answer.text)
    assert owner.post("/export/verify").status_code == 200


def test_what_does_not_hold_is_named_with_what_to_do(service: Service, owner: Visitor, ada: Person) -> None:
    ada.ok("md.plant", path=ada.profile)
    kept = ada.ok("md.snapshot_history", path=ada.profile)["result"]["historyPath"]
    (service.garden.home.path / kept).write_text("Forged.\n")
    page = owner.post("/export/verify").text
    assert "1 thing does not hold." in words_of(page)
    assert f"copy {kept}" in words_of(page)
    assert "→" in page


def test_the_checkpoint_is_shown_and_sent(service: Service, owner: Visitor) -> None:
    list(make_checkpoints(service.garden.services))
    sent = owner.get("/export/checkpoint")
    assert sent.headers["content-disposition"] == "attachment; filename*=utf-8''checkpoint"
    assert parse_note(sent.content).text.splitlines()[0] in owner.text("/export")
