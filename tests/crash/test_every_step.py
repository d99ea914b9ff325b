"""A writer is killed before every step of every operation; the next caller finds everything in order."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count

import pytest

from garden.application import Garden
from tests.crash.sampling import FULL, chosen_steps, sample
from tests.support.crowd import Asked, Crowd
from tests.support.planted import NOTES, PROFILE, ada, ok, patching
from tests.support.promises import broken_promises, inserted_by, text_of, told

OTHER = "users/ada/parts/critic/notes.md"
Asking = Callable[[int], Asked]


def patch_profile(number: int) -> Asked:
    return patching(PROFILE, "concerns v1", f"said {number};", idempotencyKey=f"key {number}")


def patch_notes(number: int) -> Asked:
    return patching(NOTES, "s3 v1", f"said {number};", idempotencyKey=f"key {number}")


def append_to_notes(number: int) -> Asked:
    return "fs.append", {"path": NOTES, "text": f"said {number};"}


def begin_a_document(number: int) -> Asked:
    path = f"users/ada/parts/p{number}/profile.md"
    return "md.plant", {"path": path, "title": f"said {number};", "idempotencyKey": f"key {number}"}


def write_the_first_copy(number: int) -> Asked:
    return patching(f"users/ada/parts/p{number}/profile.md", "concerns v1", f"said {number};")


def before_every_step(
    crowd: Crowd, name: str, ask: Callable[[int], Asked], first: Sequence[Asked] = ()
) -> Iterator[int]:
    """Run it undisturbed to learn its steps, then kill it before each of them, the answer included."""
    numbers = count()
    # Twice: the first time may make folders.
    crowd.call(ask(next(numbers)))
    steps = crowd.call(ask(next(numbers)), first=first).steps
    assert steps[-1] == "answer"
    for step in chosen_steps(len(steps), name):
        number = next(numbers)
        done = crowd.call(ask(number), dies_before=step, first=first)
        assert done.killed, (steps[step], done)
        yield number


def preview(path: str) -> Asked:
    """A call that only makes a document's head known, so that the next plan is tried."""
    return "fs.append", {"path": path, "text": "never said;", "dryRun": True}


@pytest.mark.parametrize(
    ("ask", "first"),
    [
        (patch_profile, []),
        (patch_profile, [preview(PROFILE)]),
        (patch_notes, []),
        (append_to_notes, []),
        (append_to_notes, [preview(NOTES)]),
        (begin_a_document, []),
    ],
)
def test_a_request_killed_at_any_step_has_one_effect_when_sent_again(
    garden: Garden, crowd: Crowd, ask: Asking, first: Sequence[Asked]
) -> None:
    for number in before_every_step(crowd, f"{ask.__name__}{len(first)}", ask, first):
        tool, args = ask(number)
        again = ok(ada(garden).call(tool, args))
        assert text_of(garden, args["path"]).count(f"said {number};") == 1
        effects = [
            event for event in told(garden, args["path"]).committed if f"said {number};" in inserted_by(event)
        ]
        assert [str(event.event_id) for event in effects] == [again["meta"]["eventId"]]
        assert ok(ada(garden).call(tool, args))["result"] == again["result"]
        assert broken_promises(garden) == []


def test_the_first_copy_of_a_document_survives_a_kill_at_any_step(garden: Garden, crowd: Crowd) -> None:
    def ask(number: int) -> Asked:
        ok(ada(garden).call(*begin_a_document(number)))
        return write_the_first_copy(number)

    for number in before_every_step(crowd, "first copy", ask):
        tool, args = write_the_first_copy(number)
        ok(ada(garden).call(tool, args))
        assert len(list((garden.home.path / f"history/ada/parts/p{number}/profile").iterdir())) == 1
        assert broken_promises(garden) == []


def test_an_archive_killed_at_any_step_empties_the_file_once_and_keeps_its_text(
    garden: Garden, crowd: Crowd
) -> None:
    def path(number: int) -> str:
        return f"users/ada/memories/m{number}.md"

    def archive(number: int) -> Asked:
        return "fs.archive", {"path": path(number), "idempotencyKey": f"archive {number}"}

    def ask(number: int) -> Asked:
        ok(ada(garden).call("fs.write", {"path": path(number), "content": f"said {number};"}))
        return archive(number)

    for number in before_every_step(crowd, "archive", ask):
        assert text_of(garden, path(number)) in ("", f"said {number};")
        again = ok(ada(garden).call(*archive(number)))
        assert text_of(garden, path(number)) == ""
        effects = [each for each in told(garden, path(number)).committed if each.statement.op == "archive"]
        assert [str(event.event_id) for event in effects] == [again["meta"]["eventId"]]
        [copy] = (garden.home.path / f"history/ada/memories/m{number}.md").iterdir()
        assert copy.read_text() == f"said {number};"
        assert broken_promises(garden) == []


@pytest.mark.parametrize("next_path", [NOTES, OTHER], ids=["the old path", "the new path"])
def test_a_move_killed_at_any_step_happened_wholly_or_not_at_all(
    garden: Garden, crowd: Crowd, next_path: str
) -> None:
    """Each move is undone by a move back, so that the next one finds the document."""

    def move(number: int) -> Asked:
        return "fs.move", {"path": NOTES, "newPath": OTHER, "idempotencyKey": f"there {number}"}

    def move_back(number: int) -> Asked:
        return "fs.move", {"path": OTHER, "newPath": NOTES, "idempotencyKey": f"back {number}"}

    session, numbers = ada(garden), count()
    steps = crowd.call(move(next(numbers))).steps
    ok(session.call(*move_back(0)))
    for step in chosen_steps(len(steps), next_path):
        number = next(numbers)
        assert crowd.call(move(number), dies_before=step).killed
        # Another caller opens one of the two paths before the mover tries again.
        session.call("fs.append", {"path": next_path, "text": f"said {number};", "dryRun": True})
        session.call("fs.append", {"path": next_path, "text": f"said {number};", "ifMatch": "none"})
        ok(session.call(*move(number)))
        assert not (garden.home.path / NOTES).exists()
        assert (garden.home.path / OTHER).exists()
        ok(session.call(*move_back(number)))
        assert broken_promises(garden) == []


def test_a_snapshot_killed_at_any_step_can_be_taken_again(garden: Garden, crowd: Crowd) -> None:
    def ask(number: int) -> Asked:
        ok(ada(garden).call(*patch_profile(number)))
        return "md.snapshot_history", {"path": PROFILE, "idempotencyKey": f"snapshot {number}"}

    for number in before_every_step(crowd, "snapshot", ask):
        args = {"path": PROFILE, "idempotencyKey": f"snapshot {number}"}
        taken = ok(ada(garden).call("md.snapshot_history", args))["result"]["historyPath"]
        assert text_of(garden, taken) == text_of(garden, PROFILE)
        assert broken_promises(garden, spare_copies=True) == []


@pytest.mark.parametrize(
    ("first_dies_before", "copy_is_lost"), [("create", False), ("exchange", False), ("end_event", True)]
)
def test_a_settlement_can_itself_be_killed_at_any_step(
    garden: Garden, crowd: Crowd, first_dies_before: str, copy_is_lost: bool
) -> None:
    """A copy whose link was lost in a power failure is made again, in steps of its own."""
    crowd.call(patch_profile(0))
    steps = crowd.call(patch_profile(1)).steps
    history = garden.home.path / "history/ada/parts/critic/profile"
    number, killed, stride = 1, True, 1 if FULL else 8
    for step in count(0, stride):
        number += 2
        assert crowd.call(patch_profile(number), dies_before=steps.index(first_dies_before)).killed
        if copy_is_lost:
            max(history.iterdir()).unlink()
        killed = crowd.call(patch_profile(number + 1), dies_before=step).killed
        for each in (number, number + 1):
            ok(ada(garden).call(*patch_profile(each)))
            assert text_of(garden, PROFILE).count(f"said {each};") == 1
        assert broken_promises(garden) == []
        if not killed:
            break


def append_outside(garden: Garden, path: str, text: str) -> None:
    with (garden.home.path / path).open("a") as file:
        file.write(text)


def save_outside(garden: Garden, path: str, text: str) -> None:
    """Save as most editors do: replace the file with a new one."""
    file = garden.home.path / path
    new = file.with_suffix(".swp")
    new.write_text(file.read_text() + text)
    new.replace(file)


OUTSIDE_EDITS = [
    (PROFILE, patch_profile, append_outside),
    (NOTES, patch_notes, append_outside),
    (NOTES, patch_notes, save_outside),
    (PROFILE, patch_profile, save_outside),
]


@pytest.mark.parametrize(("path", "ask", "edit_outside"), sample(OUTSIDE_EDITS, 2))
def test_an_outside_edit_after_a_kill_at_any_step_is_kept_and_recorded(
    garden: Garden,
    crowd: Crowd,
    path: str,
    ask: Asking,
    edit_outside: Callable[[Garden, str, str], None],
) -> None:
    for number in before_every_step(crowd, ask.__name__ + edit_outside.__name__, ask):
        edit_outside(garden, path, f"\n- by hand {number};\n")
        outside = text_of(garden, path)
        ok(ada(garden).call(*patching(path, "summary v1" if path == PROFILE else "s1 v1", f"after {number}")))
        assert outside in told(garden, path).replay().texts.values()
        assert text_of(garden, path).count(f"by hand {number};") == 1
        assert broken_promises(garden) == []
