"""`ls`, `cat` and `search`."""

import subprocess
import sys
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import NOTES, edit_outside, file_of, ok, put, result
from tests.surfaces.cli.conftest import Command, untouched


@pytest.mark.usefixtures("ada")
def test_ls_lists_a_folder_with_a_slash_behind_folders(run: Command) -> None:
    assert run.well("ls").splitlines() == ["notes.md", "overview.md", "parts/"]
    assert run.well("ls", "parts/critic").splitlines() == ["notes.md", "profile.md"]
    assert run.well("ls", "users/ada/parts/").splitlines() == ["critic/"]


@pytest.mark.usefixtures("ada")
def test_ls_lists_folders_below_on_request(run: Command) -> None:
    assert run.well("ls", "-r").splitlines() == [
        "notes.md", "overview.md", "parts/", "parts/critic/", "parts/critic/notes.md",
        "parts/critic/profile.md",
    ]  # fmt: skip
    assert run.well("ls", "--glob", "**/profile.md") == "parts/critic/profile.md\n"


@pytest.mark.usefixtures("ada")
def test_ls_shows_the_history_by_its_short_name(run: Command) -> None:
    assert run.well("ls", "history") == "parts/\n"
    assert run.well("ls", "history/ada/parts/critic/profile").endswith(".md\n")


@pytest.mark.usefixtures("ada")
def test_ls_as_json_is_the_tools_envelope(run: Command, ada: Session) -> None:
    envelope = run("ls", "parts", "--json").json
    assert envelope["result"] == result(ada, "fs.list", path="users/ada/parts")
    assert set(envelope) == {"ok", "result", "meta"}


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["ls", "parts/nobody"], "There is nothing at this path."),
        (["ls", "notes.md"], "this tool works on folders"),
        (["ls", "../ben"], "This path is not allowed"),
        (["ls", "/etc"], "it is absolute"),
        (["cat", "parts/nobody/notes.md"], "There is nothing at this path."),
        (["cat", "parts"], "this tool works on documents"),
        (["cat", "users/ben/notes.md", "--user", "ada"], "it belongs to another user's garden"),
        (["cat", "notes.md", "--lines", "900-901"], "There are no lines 900 to 901"),
        (["cat", "notes.md", "--section", "dreams"], "There is no section 'dreams'."),
        (["cat", "notes.md", "--version", "99"], "has no version 99"),
        (["cat", "notes.md", "--version", "0"], "has no version 0"),
        (["cat", "notes.md", "--at", "tomorrow"], "'tomorrow' does not name a version."),
        (["cat", "notes.md", "--at", "2001-01-01"], "no version of users/ada/notes.md from before that time"),
        (["cat", "parts", "--version", "1"], "There is no document users/ada/parts in the event log."),
        (["cat", "parts/nobody/notes.md", "--at", "0s"], "There is no document users/ada/parts/nobody"),
        (["search", "("], "not a valid RE2 expression"),
        (["search", "x", "parts/nobody"], "There is nothing at this path."),
    ],
)
def test_a_read_that_fails_says_why_in_a_sentence(run: Command, words: list[str], sentence: str) -> None:
    message = run.fails(*words)
    assert message.startswith("error: ")
    assert sentence in message
    envelope = run(*words, "--json")
    assert (envelope.code, envelope.json["ok"]) == (1, False)


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    "words",
    [
        ["cat"], ["cat", "notes.md", "--lines", "0-3"], ["cat", "notes.md", "--lines", "5-3"],
        ["cat", "notes.md", "--lines", "-"], ["cat", "notes.md", "--lines", "a"],
        ["cat", "notes.md", "--at", "3d", "--version", "1"],
        ["cat", "notes.md", "--lines", "1", "--section", "inbox"], ["search"], ["search", "x", "-C", "21"],
    ],
)  # fmt: skip
def test_wrong_usage_exits_with_2(run: Command, words: list[str]) -> None:
    assert "hint:  Type for example: garden" in run.fails(*words, code=2)


@pytest.mark.usefixtures("ada")
def test_cat_gives_a_document_byte_for_byte(run: Command, garden: Garden) -> None:
    file = file_of(garden, NOTES)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n") + "日記 \x1b[31m".encode())
    assert run("cat", "notes.md", "--raw").out.encode() == file.read_bytes()
    assert run("cat", NOTES, "--user", "ada", "--raw").out.encode() == file.read_bytes()
    assert run("cat", "notes.md").out.encode() == file.read_bytes().replace(b"\x1b", "␛".encode())
    assert run("cat", "notes.md", "--json").json["result"].encode() == file.read_bytes()


@pytest.mark.usefixtures("ada")
def test_cat_reads_on_past_what_one_call_gives(run: Command, garden: Garden) -> None:
    entries = "".join(f"- entry {number}\n" for number in range(1200))
    edit_outside(garden, NOTES, "Slept well, after the deadline.\n", entries)
    assert run.well("cat", "notes.md") == file_of(garden, NOTES).read_text()
    lines = file_of(garden, NOTES).read_text().splitlines(keepends=True)
    assert run.well("cat", "notes.md", "--lines", "3-1100") == "".join(lines[2:1100])
    whole = run("cat", "notes.md", "--json").json
    assert whole["result"] == "".join(lines)
    assert "documentHash" in whole["meta"]
    for part in (["--lines", "1-2"], ["--section", "inbox"], ["--section", "inbox", "--version", "1"]):
        assert "documentHash" not in run("cat", "notes.md", *part, "--json").json["meta"]


@pytest.mark.usefixtures("ada")
def test_cat_gives_some_lines(run: Command, garden: Garden) -> None:
    lines = file_of(garden, NOTES).read_text().splitlines(keepends=True)
    for words, wanted in {"1-2": lines[:2], "2": lines[1:2], "3-": lines[2:], "-2": lines[:2]}.items():
        assert run.well("cat", "notes.md", "--lines", words) == "".join(wanted)


@pytest.mark.usefixtures("ada")
def test_cat_gives_a_section_with_its_heading(run: Command) -> None:
    shown = run.well("cat", "parts/critic/profile.md", "--section", "concerns")
    assert shown.startswith("## Concerns\n<!-- @anchor: concerns v1 -->\n\n- Says yes before looking\n")
    assert "## Needs" not in shown


def test_cat_prints_a_version_by_number_and_by_time(run: Command, ada: Session) -> None:
    first = run.well("cat", NOTES, "--version", "1")
    assert "Slept well" not in first
    between = datetime.now(UTC)
    ok(ada, "fs.append", path=NOTES, text="And then it rained.")
    then = run.well("cat", "notes.md", "--at", between.isoformat())
    assert "Slept well" in then
    assert "it rained" not in then
    assert run.well("cat", "notes.md", "--at", "9999-12-31T23:59:59Z") == run.well("cat", "notes.md")
    assert run("cat", "notes.md", "--version", "1", "--json").json["meta"]["version"] == 1
    section = run.well("cat", "parts/critic/profile.md", "--version", "1", "--section", "concerns")
    assert "Says yes" not in section


@pytest.mark.usefixtures("ada")
def test_search_prints_matches_as_grep_does(run: Command) -> None:
    assert run.well("search", "DEADLINE", "-i").startswith("notes.md:")
    (line,) = run.well("search", "--literal", "yes before").splitlines()
    path, number, text = line.split(":", 2)
    assert (path, text) == ("parts/critic/profile.md", "- Says yes before looking")
    assert run.well("cat", path, "--lines", number) == f"{text}\n"


@pytest.mark.usefixtures("ada")
def test_lines_around_matches_are_printed_once(run: Command) -> None:
    shown = run.well("search", "Says yes|Counts", "parts/critic/profile.md", "-C", "2").splitlines()
    assert len(shown) == len(set(shown)) == 6
    marks = [line.split("profile.md")[1][0] for line in shown]
    assert marks == ["-", "-", ":", ":", "-", "-"]


@pytest.mark.usefixtures("ada")
def test_a_search_without_a_match_exits_with_1_and_says_so(run: Command) -> None:
    assert run.fails("search", "nothing like it") == "No line matches.\n"
    ran = run("search", "nothing like it", "--json")
    assert (ran.code, ran.json["result"]) == (1, [])


@pytest.mark.usefixtures("ada")
def test_a_warning_tells_of_more_matches_than_are_shown(run: Command, garden: Garden) -> None:
    edit_outside(garden, NOTES, "Slept well, after the deadline.\n", "- again\n" * 150)
    ran = run("search", "again")
    assert len(ran.lines) == 100
    assert ran.err.startswith("warning: There are more than 100 matches")


@pytest.mark.usefixtures("ada")
def test_matches_are_coloured_on_a_terminal_only(run: Command) -> None:
    assert "\x1b" not in run.well("search", "well")
    shown = run.well("search", "well", tty=True)
    assert "\x1b[1;31mwell\x1b[0m" in shown
    assert "\x1b" not in run.well("search", "well", tty=True, NO_COLOR="1")


@pytest.mark.usefixtures("ada")
def test_a_search_in_letters_of_many_bytes_marks_the_right_ones(run: Command, garden: Garden) -> None:
    edit_outside(garden, NOTES, "Slept well", "日記 日記 well")
    assert "\x1b[1;31m日記\x1b[0m" in run.well("search", "日記", tty=True)


@pytest.mark.usefixtures("ada")
def test_control_characters_are_shown_as_signs_on_a_terminal(run: Command, garden: Garden) -> None:
    evil = "\x1b]0;owned\x07 \x9b31m \x7f \u202e"
    edit_outside(garden, NOTES, "Slept well", f"Slept {evil} well")
    for words, tty in product(([], ["--json"]), (True, False)):
        for command in (["cat", "notes.md"], ["search", "Slept"], ["blame", "notes.md"]):
            shown = run.well(*command, *words, tty=tty, NO_COLOR="1")
            assert not set(shown) & set("\x1b\x07\x9b\x7f\u202e"), (command, words)
    assert "␛]0;owned␇" in run.well("cat", "notes.md", tty=True)
    assert evil in run("cat", "notes.md", "--json", tty=True).json["result"]


@pytest.mark.usefixtures("ada")
def test_a_file_receives_the_exact_bytes_and_a_pipe_no_controls(garden: Garden, folder: Path) -> None:
    edit_outside(garden, NOTES, "Slept well", "Slept \x1b[31m\rwell\r")
    home = str(garden.home.path)
    words = [sys.executable, "-m", "garden", "--home", home, "cat", "notes.md", "--user", "ada"]
    with (folder / "copy.md").open("w") as copy:
        subprocess.run(words, stdout=copy, check=True)
    assert (folder / "copy.md").read_bytes() == file_of(garden, NOTES).read_bytes()
    piped = subprocess.run(words, capture_output=True, check=True).stdout
    assert b"\x1b" not in piped
    assert b"\r" not in piped


@pytest.mark.usefixtures("ada")
def test_reading_changes_nothing_even_after_an_outside_edit(run: Command, garden: Garden) -> None:
    edit_outside(garden, NOTES, "Slept well", "Slept badly")
    with untouched(garden):
        for words in (["ls"], ["cat", "notes.md"], ["search", "badly"], ["lint"], ["events"], ["tools"]):
            run.well(*words)


@pytest.mark.usefixtures("ada")
def test_a_file_that_is_not_text_is_refused(run: Command, garden: Garden) -> None:
    put(garden, NOTES, b"\xff\xfe")
    assert "is UTF-8 text" in run.fails("cat", "notes.md")
