"""A long call says how far it is, and can be given up between two steps."""

from garden.session import Session
from garden.tools.progress import CallProgress
from tests.support.gardens import plant, rows

PARTS = [f"users/ada/parts/p{number}/notes.md" for number in range(5)]


def test_a_search_says_how_many_of_its_documents_are_done(ada: Session) -> None:
    plant(ada, *PARTS)
    steps: list[tuple[float, float | None, str | None]] = []
    pace = CallProgress(lambda done, total, message: steps.append((done, total, message)))
    assert ada.call("fs.search", {"root": "users/ada", "pattern": "x"}, pace)["ok"]
    assert steps == [(number, 5, PARTS[number]) for number in range(1, 5)]


def test_a_search_that_was_given_up_ends_at_its_next_step(ada: Session) -> None:
    plant(ada, *PARTS)
    seen: list[str | None] = []

    def tell(_done: float, _total: float | None, message: str | None) -> None:
        seen.append(message)
        pace.cancel()

    pace = CallProgress(tell)
    envelope = ada.call("fs.search", {"root": "users/ada", "pattern": "x"}, pace)
    assert envelope["error"]["code"] == "unavailable"
    assert seen == [PARTS[1]]


def test_a_listing_that_was_given_up_looks_into_no_further_folder(ada: Session) -> None:
    plant(ada, *PARTS)
    pace = CallProgress()
    pace.cancel()
    assert not ada.call("fs.list", {"path": "users/ada", "glob": "**"}, pace)["ok"]


def test_a_write_that_was_given_up_before_its_turn_writes_nothing(ada: Session) -> None:
    plant(ada, PARTS[0])
    before = rows(ada)
    pace = CallProgress()
    pace.cancel()
    assert not ada.call("fs.append", {"path": PARTS[0], "text": "Never."}, pace)["ok"]
    assert rows(ada) == before
