"""`log`, `show`, `diff`, `blame`, and `cat` of a version: the history as its git namesakes read."""

from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, edit_outside, file_of, ok, rows
from tests.surfaces.cli.conftest import Command

PROFILE = "parts/critic/profile.md"


@pytest.fixture
def concerned(ada: Session) -> list[str]:
    """Ada's critic with two more concerns; the ids of its events, oldest first."""
    for item, why in (("- Says no", "She\nlaughed."), ("- Says maybe", "Her own word.")):
        fields = {"change": {"append": item}, "rationale": why}
        ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns", **fields)
    return [row["eventId"] for row in reversed(rows(ada, path=CRITIC))]


def test_the_log_gives_each_version_with_its_author_and_reason(run: Command, concerned: list[str]) -> None:
    newest, place, why, blank, *rest = run.well("log", PROFILE, "--section", "concerns").splitlines()
    assert newest.split()[0] == concerned[-1][-8:]
    assert newest.split()[3:] == ["companion", "version", "4", "+2", "-0"]
    assert (place, why, blank) == ("    concerns v1 · append_section", "    Her own word.", "")
    assert rest[2] == "    She laughed."
    assert f"    {PROFILE} · concerns v1 · append_section" in run.well("log")


@pytest.mark.usefixtures("concerned")
def test_a_log_that_is_cut_says_how_to_go_on(run: Command) -> None:
    assert run("log", "--limit", "2").err == "hint:  more than 2 versions; --limit N or --all shows more.\n"
    assert run("log", "--all").err == ""
    assert len(run("log", PROFILE, "--limit", "2", "--json").json["result"]["versions"]) == 2
    assert len(run("log", PROFILE, "--all", "--json").json["result"]["versions"]) == 4
    assert run("log", "--since", "2001-01-01", "--until", "2001-01-02").err == "No versions found.\n"


@pytest.mark.usefixtures("concerned")
def test_a_mistyped_name_is_an_error_with_the_nearest(run: Command) -> None:
    assert "Did you mean companion?" in run.fails("log", "--actor", "companon")
    assert "Did you mean concerns v1" in run.fails("log", PROFILE, "--section", "concernz")
    assert "'spring' does not name a version" in run.fails("show", PROFILE, "spring")
    assert run("log", "--actor", "x", "--json").json["error"]["code"] == "invalid_input"


def test_a_version_is_shown_to_the_byte_by_any_reference(
    run: Command, garden: Garden, concerned: list[str]
) -> None:
    third = garden.services.reader.text_at("ada", CRITIC, 3)
    for reference in ("3", "v3", concerned[2], concerned[2][-8:], "head~1"):
        ran = run("show", PROFILE, reference)
        assert ran.out == run.well("cat", PROFILE, "--version", reference) == third
        assert ran.err.startswith(f"{PROFILE}, version 3, event {concerned[2][-8:]}, ")
    assert run.well("cat", PROFILE, "--at", "head") == run("show", PROFILE).out
    section = run("show", PROFILE, "1", "--section", "concerns").out
    assert section.startswith("## Concerns\n")
    assert "Says" not in section


@pytest.mark.usefixtures("ada")
def test_a_garden_is_shown_at_a_time(run: Command) -> None:
    shown = run("show", ".", "0s").out
    assert f"==> {NOTES} <==\n" in shown
    assert "Slept well" in shown


def test_an_event_is_shown_with_its_diff(run: Command, concerned: list[str]) -> None:
    short = concerned[2][-8:]
    assert run.well("show", short) == run.well("event", short)
    assert "\n+- Says no\n" in run.well("show", short)
    assert run("show", short, "--json").json["result"]["eventId"] == concerned[2]
    assert "There is no such event" in run.fails("show", "00000000")


@pytest.mark.usefixtures("concerned")
def test_a_diff_compares_versions_or_the_file(run: Command, garden: Garden) -> None:
    assert run("diff", PROFILE).err == "No difference.\n"
    edit_outside(garden, CRITIC, "- Says maybe", "- Says perhaps")
    ran = run("diff", PROFILE)
    assert (ran.err, "\n-- Says maybe\n+- Says perhaps\n" in ran.out) == ("1 added, 1 removed.\n", True)
    assert "- Says [-maybe-]{+perhaps+}\n" in run("diff", PROFILE, "--words").out
    ran = run("diff", PROFILE, "2", "3", "--section", "concerns")
    assert (ran.err, "\n+- Says no\n" in ran.out) == ("1 added, 0 removed.\n", True)
    assert run("diff", PROFILE, "2", "--json").json["result"]["added"] > 1
    assert "\x1b[32m{+perhaps+}" in run("diff", PROFILE, "--words", "--no-pager", tty=True).out


@pytest.mark.usefixtures("concerned")
@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x0b", "\r"])
def test_only_a_line_feed_ends_a_line_of_a_diff(run: Command, garden: Garden, separator: str) -> None:
    edit_outside(garden, CRITIC, "- Says maybe", f"- Says perhaps{separator}+ and never")
    for options in ([], ["--words"]):
        assert not [line for line in run("diff", PROFILE, *options).out.split("\n") if line == "+ and never"]


def test_blame_says_who_when_and_why(run: Command, garden: Garden, concerned: list[str]) -> None:
    lines = run.well("blame", PROFILE, "--section", "concerns").splitlines()
    [line] = [each for each in lines if each.endswith("- Says no")]
    assert line.split()[0] == concerned[2][-8:]
    assert line.split()[2] == "companion"
    assert lines[-2:] == [f"{concerned[2][-8:]}  She laughed.", f"{concerned[3][-8:]}  Her own word."]
    assert run("blame", PROFILE, "--at", "1", "--json").json["result"]["lines"][0]["text"] == "---"
    edit_outside(garden, CRITIC, "- Says maybe", "- Says perhaps")
    assert "warning: The file has edits that are not recorded yet" in run("blame", PROFILE).err
    assert run("blame", PROFILE, "--at", "3").err == ""


@pytest.mark.usefixtures("ada")
def test_times_are_in_the_readers_zone(run: Command) -> None:
    time = run("log", PROFILE, "--limit", "1").lines[0].split("  ")[1]
    assert time.endswith("Z")
    there = run("log", PROFILE, "--limit", "1", GARDEN_TIMEZONE="Asia/Kolkata").lines[0].split("  ")[1]
    assert there.endswith("+05:30")
    assert there in run("events", "--limit", "1", GARDEN_TIMEZONE="Asia/Kolkata").out


def test_a_terminal_gets_a_pager_and_nothing_else_does(
    run: Command, folder: Path, concerned: list[str]
) -> None:
    paged = folder / "paged"
    assert run("log", PROFILE, tty=True, PAGER=f"tee {paged}").out == ""
    assert concerned[0][-8:] in paged.read_text()
    assert "\x1b[" in paged.read_text()
    paged.unlink()
    for words in (["log", "--no-pager"], ["log", "--json"]):
        assert concerned[0][-8:] in run(*words, tty=True, PAGER=f"tee {paged}").out
    for pager in ("cat", "no-such-pager"):
        assert concerned[0][-8:] in run("log", tty=True, PAGER=pager).out
    for pager in (" ", "tee '"):
        assert run("log", tty=True, PAGER=pager, PATH=str(folder)).code == 0
    assert concerned[0][-8:] in run("log", PAGER=f"tee {paged}").out
    assert not paged.exists()


@pytest.mark.usefixtures("ada")
def test_leaving_the_pager_early_is_no_error(run: Command, garden: Garden) -> None:
    file = file_of(garden, CRITIC)
    file.write_text(file.read_text().replace("## Needs", "Long.\n\n" * 9000 + "## Needs"))
    ran = run("diff", PROFILE, tty=True, PAGER="true")
    assert (ran.code, "rror" in ran.err) == (0, False)
    assert "No versions" not in run("log", tty=True, PAGER="true").err
