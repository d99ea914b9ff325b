"""An eraser is killed before every step; the next one finishes, and the words are nowhere."""

from collections.abc import Callable

import pytest

from garden.application import Garden
from garden.upkeep.reconciliation import reconcile
from tests.crash.sampling import sample
from tests.support.crowd import Asked, Crowd
from tests.support.planted import ada, ok, patching
from tests.support.promises import broken_promises
from tests.support.stored import everything


@pytest.fixture
def crowd(garden: Garden, processes: Crowd) -> Crowd:
    return processes.at(garden.home.path)


def words(number: int) -> str:
    """A phrase of 24 characters of its own."""
    return f"phrase{number:03}xkqzvwjyhtgfbd"


def document(number: int) -> str:
    return f"users/ada/parts/p{number}/profile.md"


def write_words(garden: Garden, number: int) -> None:
    path, text = document(number), words(number)
    ok(ada(garden).call("md.plant", {"path": path, "title": text}))
    ok(ada(garden).call(*patching(path, "concerns v1", text, rationale=text)))
    ok(ada(garden).call("events.log", {"type": "observation", "filePath": path, "rationale": text}))
    ok(ada(garden).call(*patching(path, "concerns v1", "Other words.")))


def erase_passage(number: int) -> Asked:
    return "garden.erase", {"text": words(number), "reason": "It was a secret."}


def erase_document(number: int) -> Asked:
    return "garden.erase", {"path": document(number), "reason": "It was a secret."}


@pytest.mark.parametrize("erasing", [erase_passage, erase_document])
def test_words_are_erased_after_a_kill_at_any_step(
    garden: Garden, crowd: Crowd, database: str, erasing: Callable[[int], Asked]
) -> None:
    write_words(garden, 0)
    steps = crowd.call(erasing(0)).steps
    for number, step in enumerate(sample(range(len(steps)), 4), start=1):
        write_words(garden, number)
        assert crowd.call(erasing(number), dies_before=step).killed
        list(reconcile(garden.services, ["ada"]))
        if steps.index("begin") >= step:
            ok(ada(garden).call(*erasing(number)))
        assert words(number) not in everything(garden, database), steps[step]
        assert garden.services.eraser.erasures.pending() == []
        assert broken_promises(garden, spare_copies=True) == []
