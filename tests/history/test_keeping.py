"""Whole texts are kept where they are due, and believed only where their events bear them out."""

from typing import Any

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.version_texts import ChangedEventsError
from garden.history.keeping import keep_texts
from garden.session import Session
from tests.events.test_verifier import tamper
from tests.support.gardens import NOTES, ok, plant, refused

LARGE = " ".join(f"slept badly {number}" for number in range(2000))


@pytest.fixture
def texts(garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Eight versions of the notes, of which the third and the sixth are kept."""
    monkeypatch.setattr("garden.history.keeping.KEPT_VERSIONS_MAX", 3)
    plant(ada, NOTES)
    for number in range(7):
        ok(ada, "fs.append", path=NOTES, text=f"{LARGE if number == 1 else 'calm '}{number}")
    assert list(keep_texts(garden.services)) == [2]
    return [garden.services.reader.text_at("ada", NOTES, version) for version in range(1, 9)]


def kept(database: str) -> dict[int, str]:
    with connection(database) as owner:
        return {
            version: bytes(text).decode()
            for version, text in owner.execute("select version, text from garden.kept_texts")
        }


def forge(database: str, version: int) -> None:
    with connection(database) as owner:
        owner.execute("update garden.kept_texts set text = 'forged' where version = %s", [version])


def test_a_text_is_kept_after_so_many_versions(texts: list[str], database: str) -> None:
    assert kept(database) == {3: texts[2], 6: texts[5]}


def test_a_version_is_rebuilt_from_the_last_kept_text(
    garden: Garden, texts: list[str], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("garden.events.version_texts.KEPT_VERSIONS_MAX", 0)
    move = "update garden.events set splice_offsets[1] = splice_offsets[1] {} where document_version = 4"
    tamper(database, move.format("+ 1"))
    assert garden.services.reader.text_at("ada", NOTES, 8) == texts[7]
    with pytest.raises(ChangedEventsError):
        garden.services.reader.text_at("ada", NOTES, 5)
    tamper(database, move.format("- 1"))


def test_a_forged_text_is_not_believed_found_and_replaced(
    garden: Garden, ada: Session, texts: list[str], database: str
) -> None:
    forge(database, 6)
    assert [garden.services.reader.text_at("ada", NOTES, version) for version in range(1, 9)] == texts
    [fault] = garden.services.verifier.check_user("ada").faults
    assert (fault.stream, fault.message) == (
        "kept texts",
        f"the kept text of version 6 of {NOTES} was changed",
    )
    ok(ada, "fs.append", path=NOTES, text=f"{LARGE}again")
    assert list(keep_texts(garden.services)) == [1]
    assert kept(database)[6] == texts[5]


@pytest.mark.usefixtures("texts")
def test_a_document_with_a_changed_row_does_not_stop_the_job(
    garden: Garden, ada: Session, database: str
) -> None:
    later = "users/ada/overview.md"
    plant(ada, later)
    with connection(database) as owner:
        owner.execute(
            "insert into garden.grown_documents (user_id, path) values ('ada', %s), ('ada', %s)",
            [NOTES, later],
        )
    move = "update garden.events set splice_offsets[1] = splice_offsets[1] {} where document_version = 8"
    tamper(database, move.format("+ 1"))
    assert list(keep_texts(garden.services)) == [0]
    tamper(database, move.format("- 1"))


@pytest.mark.usefixtures("texts")
def test_an_erasure_takes_the_words_out_of_kept_texts(garden: Garden, database: str) -> None:
    operator = garden.session("ada", "operator", role="maintainer")
    ok(operator, "garden.erase", path=NOTES, text="slept badly 77 slept", reason="She asked for it.")
    assert kept(database) == {}
    assert sum(keep_texts(garden.services)) >= 2
    assert not [text for text in kept(database).values() if "slept badly 77 slept" in text]
    ok(operator, "garden.erase", everything=True, reason="She left.")
    assert list(keep_texts(garden.services)) == []
    assert kept(database) == {}


@pytest.mark.parametrize("forged", ["SLEPT", "has slept badly"])
def test_a_changed_text_is_neither_shown_nor_restored(
    garden: Garden, ada: Session, database: str, forged: str
) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="slept")
    change = "update garden.events set splices_inserted[1] = '{}' where op = 'append_file'"
    with connection(database) as owner:
        [[right]] = owner.execute("select splices_inserted[1] from garden.events where op = 'append_file'")
    tamper(database, change.format(bytes(right).decode().replace("slept", forged)))
    operator = garden.session("ada", "operator", role="maintainer")
    tools: dict[str, dict[str, Any]] = {
        "history.show": {"at": "head"},
        "history.blame": {},
        "md.restore": {"version": 2},
    }
    for tool, also in tools.items():
        assert "garden verify" in refused(operator, tool, "unavailable", path=NOTES, **also)["hint"]
    tamper(database, change.format(bytes(right).decode()))
