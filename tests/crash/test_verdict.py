"""The judgement itself: an honest account passes, and each sort of broken promise is named."""

from collections.abc import Callable

import pytest

from garden.application import Garden
from tests.crash.ledger import Ledger, Told, Wish
from tests.crash.verdict import judge
from tests.crash.wishes import words_of
from tests.support.planted import NOTES, ada, ok, plant

KEYS = ("writer0-1-1", "writer0-1-2")
Lie = Callable[[Garden, Ledger], None]


def wish(key: str) -> Wish:
    words = words_of(key)
    return Wish(key, "ada", "fs.append", {"path": NOTES, "text": words, "idempotencyKey": key}, words)


@pytest.fixture
def ledger(garden: Garden) -> Ledger:
    """What a witness knows who was told of every request and every answer."""
    plant(ada(garden), NOTES)
    planted = Wish("plant", "ada", "fs.write", {})
    ledger = Ledger({"plant": Told(planted, asked=1)})
    for key in KEYS:
        answer = ok(ada(garden).call("fs.append", wish(key).args))
        ledger.told[key] = Told(wish(key), asked=1, answer=answer)
    return ledger


def test_an_honest_account_passes(garden: Garden, ledger: Ledger) -> None:
    assert judge(garden, "ada", ledger) == []


def acknowledged_and_never_done(_: Garden, ledger: Ledger) -> None:
    ledger.told["writer0-1-3"] = Told(wish("writer0-1-3"), asked=1, answer={"result": {}, "meta": {}})


def refused_and_done(_: Garden, ledger: Ledger) -> None:
    told = ledger.told[KEYS[0]]
    told.answer, told.refusal = None, {"code": "patch_conflict"}


def answered_with_another_event(_: Garden, ledger: Ledger) -> None:
    ledger.told[KEYS[0]].answer = ledger.told[KEYS[1]].answer


def refused_for_no_good_reason(_: Garden, ledger: Ledger) -> None:
    ledger.told["writer0-1-3"] = Told(wish("writer0-1-3"), asked=1, refusal={"code": "internal"})


def done_twice(garden: Garden, ledger: Ledger) -> None:
    again = {**wish(KEYS[0]).args, "idempotencyKey": "writer0-1-3"}
    answer = ok(ada(garden).call("fs.append", again))
    ledger.told["writer0-1-3"] = Told(wish("writer0-1-3"), asked=1, answer=answer)


def saved_by_hand_and_lost(_: Garden, ledger: Ledger) -> None:
    ledger.outside[words_of("editor0-1-1")] = "ada"


def torn(garden: Garden, _: Ledger) -> None:
    file = garden.home.path / NOTES
    file.write_text(file.read_text()[:-10])


def taken_away(garden: Garden, ledger: Ledger) -> None:
    """A diff that was to bring words has taken others away as well."""
    words = words_of("writer0-1-3")
    diff = f"--- a/{NOTES}\n+++ b/{NOTES}\n@@ -1,1 +1,1 @@\n-{words_of(KEYS[0])}\n+{words}\n"
    args = {"path": NOTES, "diffText": diff, "idempotencyKey": "writer0-1-3"}
    answer = ok(ada(garden).call("fs.patch", args))
    ledger.told["writer0-1-3"] = Told(
        Wish("writer0-1-3", "ada", "fs.patch", args, words), asked=1, answer=answer
    )


@pytest.mark.parametrize(
    ("lie", "named"),
    [
        (acknowledged_and_never_done, "was acknowledged and has no effect"),
        (refused_and_done, "and yet carried out"),
        (answered_with_another_event, "and was answered with"),
        (refused_for_no_good_reason, "was refused"),
        (done_twice, "2 times"),
        (saved_by_hand_and_lost, "was saved by hand"),
        (torn, "is not the newest version"),
        (taken_away, "away"),
    ],
)
def test_a_broken_promise_is_named(garden: Garden, ledger: Ledger, lie: Lie, named: str) -> None:
    lie(garden, ledger)
    assert any(named in fault for fault in judge(garden, "ada", ledger))
