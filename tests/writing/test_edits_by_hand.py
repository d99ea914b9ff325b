"""A person saves a file at the moment at which a write replaces it."""

import errno
import os
from collections.abc import Callable
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path

import pytest

from garden.application import Garden
from garden.files import plain_files
from garden.files.beneath import exchange
from garden.files.errors import StorageError
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.files.garden_files import GardenFiles
from tests.support.planted import NOTES, PROFILE, ada, code_of, ok, patching, plant
from tests.support.promises import broken_promises, text_of, told


def save(file: Path, text: str) -> None:
    """Save as most editors do."""
    swap = file.with_suffix(".swp")
    swap.write_text(text)
    swap.replace(file)


def append(file: Path, text: str) -> None:
    """Save in place."""
    file.write_text(text)


@pytest.mark.parametrize("saving", [save, append])
@pytest.mark.parametrize(("path", "anchor"), [(PROFILE, "concerns v1"), (NOTES, "s3 v1")])
def test_a_file_saved_by_hand_at_the_last_moment_is_not_replaced(
    garden: Garden,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    anchor: str,
    saving: Callable[[Path, str], None],
) -> None:
    plant(ada(garden), path)
    monkeypatch.setattr(plain_files, "exchange", saving_before(garden.home.path / path, saving, saves=1))
    asked = patching(path, anchor, "said once;", idempotencyKey="the same")
    assert code_of(ada(garden).call(*asked)) == "precondition_failed"
    assert text_of(garden, path).count("by hand;") == 1
    assert text_of(garden, path).count("said once;") == 0
    ok(ada(garden).call(*asked))
    assert text_of(garden, path).count("by hand;") == text_of(garden, path).count("said once;") == 1
    assert broken_promises(garden) == []


def saving_before(
    file: Path, saving: Callable[[Path, str], None], saves: int
) -> Callable[[str, str, int], bool]:
    """An exchange of names, before which the same text is saved; each later save adds to it."""
    texts = accumulate([file.read_text(), *["\nby hand;\n"] * saves])
    next(texts)

    def too_late(fresh: str, name: str, folder: int) -> bool:
        text = next(texts, None)
        if text is not None:
            saving(file, text)
        return exchange(fresh, name, folder)

    return too_late


@pytest.mark.parametrize("saves", [2, 3, 4])
def test_of_several_saves_at_the_last_moment_the_newest_stays(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, saves: int
) -> None:
    plant(ada(garden), PROFILE)
    asked = patching(PROFILE, "concerns v1", "said once;", idempotencyKey="the same")
    with monkeypatch.context() as busy:
        busy.setattr(plain_files, "exchange", saving_before(garden.home.path / PROFILE, save, saves))
        assert code_of(ada(garden).call(*asked)) == "precondition_failed"
    assert text_of(garden, PROFILE).count("by hand;") == saves
    ok(ada(garden).call(*asked))
    assert text_of(garden, PROFILE).count("by hand;") == saves
    assert broken_promises(garden) == []


def test_a_replacement_that_can_not_be_undone_is_settled_by_the_next_write(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada(garden), PROFILE)
    calls = iter([exchange, fail])

    with monkeypatch.context() as failing_disk:
        failing_disk.setattr(plain_files, "exchange", lambda *words: next(calls)(*words))
        failing_disk.setattr(plain_files, "check_unchanged", fail)
        failing_disk.setattr(os, "unlink", fail)
        asked = patching(PROFILE, "concerns v1", "said once;", idempotencyKey="the same")
        answer = ada(garden).call(*asked)
    assert "did not confirm" in answer["error"]["message"]
    assert ok(ada(garden).call(*asked))["meta"]["replayed"]
    assert text_of(garden, PROFILE).count("said once;") == 1
    assert broken_promises(garden) == []


def fail(*_: object, **__: object) -> bool:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_preview_finds_a_document_that_a_failed_move_took_away(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    maintainer = garden.session("ada", role="maintainer")
    old, new = "users/ada/parts/critic/notes.md", "users/ada/parts/guard/notes.md"
    plant(maintainer, old)

    def refuse(*_: object, **__: object) -> None:
        raise StorageError("The file system refused.", hint="Call again.")

    with monkeypatch.context() as patched:
        patched.setattr(GardenFiles, "move", refuse)
        assert code_of(maintainer.call("fs.move", {"path": old, "newPath": new})) == "unavailable"
    # The mover wakes up.
    (garden.home.path / new).parent.mkdir(exist_ok=True)
    (garden.home.path / old).rename(garden.home.path / new)
    elsewhere = {"path": old, "newPath": "users/ada/parts/fool/notes.md"}
    asked = [("fs.append", {"path": old, "text": "more"}), ("fs.move", elsewhere)]
    previewed = [code_of(maintainer.call(tool, {**args, "dryRun": True})) for tool, args in asked]
    assert previewed == [code_of(maintainer.call(*each)) for each in asked] == ["not_found"] * 2


@pytest.mark.parametrize("path", [PROFILE, NOTES])
def test_a_program_with_the_file_open_loses_no_words(garden: Garden, path: str) -> None:
    plant(ada(garden), path)
    asked = patching(path, "concerns v1" if path == PROFILE else "s3 v1", "said once;")
    with (garden.home.path / path).open("a") as writing:
        refusal = ada(garden).call(*asked)
        assert code_of(refusal) == "unavailable"
        assert "open for writing" in refusal["error"]["message"]
        assert [event.statement.op for event in told(garden, path).events] == ["write_file"]
        writing.write("\nby hand;\n")
    ok(ada(garden).call(*asked))
    assert text_of(garden, path).count("by hand;") == text_of(garden, path).count("said once;") == 1
    assert broken_promises(garden) == []


@pytest.mark.parametrize("path", [PROFILE, NOTES])
def test_a_program_that_opens_the_file_at_the_last_moment_loses_no_words(garden: Garden, path: str) -> None:
    plant(ada(garden), path)
    asked = patching(path, "concerns v1" if path == PROFILE else "s3 v1", "said once;")
    with ExitStack() as programs:

        def opening(step: Failpoint) -> None:
            if step is Failpoint.BEGUN:
                writing = programs.enter_context((garden.home.path / path).open("a"))
                programs.callback(writing.write, "\nby hand;\n")

        with watch_failpoints(opening):
            assert code_of(ada(garden).call(*asked)) == "unavailable"
    ok(ada(garden).call(*asked))
    assert text_of(garden, path).count("by hand;") == text_of(garden, path).count("said once;") == 1
    assert broken_promises(garden) == []
