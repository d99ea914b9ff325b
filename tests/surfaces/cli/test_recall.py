"""`recall`: searching, `recall rebuild` and `recall verify`."""

import re
from pathlib import Path

import pytest

from garden.application import Garden
from garden.grammar.parser import parse
from garden.surfaces.cli.hits import line_of
from tests.recall.rows import change_rows, stored_rows
from tests.support.gardens import NOTES
from tests.surfaces.cli.conftest import Command

pytestmark = pytest.mark.usefixtures("ada")


def test_rows_that_are_missing_are_named_and_made_again(run: Command, garden: Garden) -> None:
    before = stored_rows(garden)
    assert run.well("recall", "verify").endswith("of 4 documents; 0 documents with a problem.\n")
    change_rows(garden)
    ran = run("recall", "verify", "--user", "ada")
    assert ran.code == 1
    assert f"{NOTES}: the passage #" in ran.out
    assert "is missing" in ran.out
    assert "of 4 documents" in run.well("recall", "rebuild")
    assert stored_rows(garden) == before
    assert run.well("recall", "rebuild").startswith("0 passages of 0 documents;")
    assert "of 4 documents" in run.well("recall", "rebuild", "--all")
    assert [each["problem"] for each in run("recall", "verify", "--json").json] == [""] * 4


def test_a_document_that_is_refused_keeps_its_rows(run: Command, garden: Garden) -> None:
    change_rows(
        garden, b"update garden.documents set version = version + 1 where path = 'users/ada/notes.md'"
    )
    before = stored_rows(garden)
    ran = run("recall", "rebuild")
    assert ran.code == 1
    assert f"{NOTES}: Its events do not lead to its head." in ran.out
    assert run("recall", "rebuild", "--json").json[0]["problem"]
    assert stored_rows(garden) == before


def test_words_that_name_no_command_are_searched(run: Command) -> None:
    file = run.home / NOTES
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "Slept" in text)
    for words in (["slept deadline"], ["slept", "deadline"], ["search", "slept deadline"]):
        first, text, *_ = run.well("recall", *words).splitlines()
        assert re.fullmatch(rf"{re.escape(str(file))}:{line}  Inbox · \S+ · companion  [a-z2-7]{{10}}", first)
        assert text.endswith("Slept well, after the deadline.")
    assert run("recall", "--", "rebuild").out.count("passages of") == 0


def test_a_terminal_gets_links_and_marks(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.home / "users")
    shown = run.well("recall", "slept", "--limit", "1", tty=True)
    link = f";{(run.home / NOTES).as_uri()}\x1b\\\x1b[35mada/notes.md:"
    assert link in shown
    assert "\x1b[1;31mSlept\x1b[0m" in shown
    plain = run.well("recall", "slept", "--limit", "1", tty=True, NO_COLOR="1")
    assert "\x1b" not in plain


def test_a_current_folder_that_is_gone_does_no_harm(
    run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    assert run.well("recall", "slept", "--limit", "1").startswith(str(run.home / NOTES))


def test_controls_in_a_text_are_shown_as_signs(run: Command) -> None:
    file = run.home / NOTES
    file.write_text(f"{file.read_text()}\n2026-11-18: A bell\x1b]0;x\x07 rang.\n")
    run("reconcile")
    shown = run.well("recall", "bell", "--limit", "1", tty=True)
    assert "␛]0;x␇ rang" in re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_explain_shows_shares_that_make_the_score(run: Command) -> None:
    table = run.well("recall", "deadline", "--explain", "--limit", "2").rpartition("\n\n")[2]
    headings, *rows = (line.split() for line in table.splitlines())
    assert (headings[0], headings[-1]) == ("place", "score")
    for row in rows:
        assert sum(map(float, row[1:-1])) == pytest.approx(float(row[-1]), abs=0.01)
    assert rows[0][0].startswith("notes.md:")


def test_nothing_found_is_said_with_a_hint(run: Command) -> None:
    said = run.fails("recall", "deadline", "--from", "2031-01-01")
    assert said.startswith("No passage is found.\nhint:  Try other words")
    assert run("recall", "deadline", "--tag", "none", "--json").json["result"] == {"memories": []}


@pytest.mark.parametrize(
    "words", ["--from never", "--limit 0", "--category x", "--kind x", "--path ../x", "--as-of 2031-99"]
)
def test_a_wrong_filter_is_refused(run: Command, words: str) -> None:
    assert run.fails("recall", "deadline", *words.split()).startswith("error: ")


def test_a_warning_goes_to_standard_error(run: Command, garden: Garden) -> None:
    change_rows(garden, b"delete from garden.recall_documents where path = 'users/ada/overview.md'")
    ran = run("recall", "deadline")
    assert ran.code == 0
    assert ran.err.startswith("warning: Documents that are not indexed yet")


def test_the_line_is_that_of_the_passage_also_of_equal_ones() -> None:
    text = "# T\r\n\r\n## Inbox\r\n<!-- @anchor: inbox v1 -->\r\n\r\n- One\r\n\tmore\r\n- One\r\n- One  \r\n"
    text += "\n## Other\n\n1. One\n\nA line\nand another\n"
    document, place = parse(text), "users/ada/notes.md#"
    assert line_of(document, f"{place}inbox v1/aaaaaaaaaa", "One\nmore") == 6
    assert line_of(document, f"{place}inbox v1/aaaaaaaaaa~2", "One") == 9
    assert line_of(document, f"{place}inbox v1/aaaaaaaaaa~4", "One") is None
    assert line_of(document, f"{place}Other/aaaaaaaaaa", "A line\nand another") == 15
