"""`erase`, its preview and question, and what `keys verify` says afterwards."""

from pathlib import Path

import pytest

from garden.application import Garden
from tests.support.gardens import NOTES, file_of
from tests.surfaces.cli.conftest import Command, untouched

WORDS = "Slept well, after the deadline."
WHY = ("--reason", "She asked for it.")


@pytest.mark.usefixtures("ada")
def test_an_erasure_shows_its_places_and_asks(run: Command, garden: Garden) -> None:
    ran = run("erase", "--text", WORDS, *WHY, "--yes")
    assert ran.code == 0, ran
    assert [line.split()[:2] for line in ran.lines[:3]] == [
        ["document", "place"],
        ["notes.md", "the"],
        ["notes.md", "versions"],
    ]
    assert ran.lines[-1].startswith("Erased 31 bytes in 2 events. Tombstone: ")
    assert WORDS not in file_of(garden, NOTES).read_text()
    assert "erased (passage) by operator: She asked for it." in run.well("keys", "verify")
    assert run.well("erase", "--text", WORDS, *WHY, "--yes").endswith("Nothing was erased.\n")


@pytest.mark.usefixtures("ada")
def test_without_a_terminal_nothing_is_erased_unasked(run: Command, garden: Garden) -> None:
    with untouched(garden):
        assert "Add --yes" in run.fails("erase", "notes.md", *WHY, code=2)
        assert "--reason" in run.fails("erase", "notes.md", "--yes", code=2)
        assert "--user" in run.fails("erase", "--everything", *WHY, "--yes", code=2)
        assert "Give what to erase" in run.fails("erase", code=2)
        assert "Give what to erase" in run.fails("erase", "notes.md", "--export", "x", code=2)


@pytest.mark.usefixtures("ada")
def test_the_passage_comes_from_standard_input(run: Command, garden: Garden) -> None:
    ran = run("erase", "notes.md", "--text", "-", *WHY, "--yes", "--json", given=WORDS.encode())
    assert ran.json["result"]["tombstone"]
    assert WORDS not in file_of(garden, NOTES).read_text()


@pytest.mark.usefixtures("ada")
def test_the_exported_file_holds_no_words_and_is_read_again(run: Command, folder: Path) -> None:
    run.well("erase", "notes.md", *WHY, "--yes", "--vacuum")
    file = folder / "erasures.jsonl"
    assert run.well("erase", "--export", file).startswith("1 erasure written.")
    assert "deadline" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert "known already" in run.well("erase", "--replay", file)
    file.write_text(file.read_text().replace("notes.md", "overview.md"))
    assert "was not written by this garden" in run.fails("erase", "--replay", file)
    file.write_text('{"kind": "user"}\n')
    assert "was not written by this garden" in run.fails("erase", "--replay", file)
    file.write_text("[1]\n")
    assert "was not written by --export" in run.fails("erase", "--replay", file, code=2)
