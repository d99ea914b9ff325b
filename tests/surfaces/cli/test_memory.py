"""`memory store`, `list`, `forget` and `context`, and `summaries due`."""

import re

import pytest

from garden.session import Session
from tests.support.gardens import NOTES, ok
from tests.surfaces.cli.conftest import Command

pytestmark = pytest.mark.usefixtures("ada")
NAME = re.compile(r"  ([a-z2-7]{10})$", re.MULTILINE)


def test_a_memory_is_stored_once_unless_one_insists(run: Command) -> None:
    words = ("memory", "store", "- Wants to sail the Baltic", "--category", "life-goal")
    stored = run.well(*words, "--tag", "sailing", "--priority", "80")
    assert stored.startswith("Stored: overview.md#life_goals v1/")
    known = run.well(*words)
    assert known.startswith("Known already: overview.md#life_goals v1/")
    assert "    Wants to sail the Baltic (priority: 80) #sailing\n" in known
    assert run.well(*words, "--insist").startswith("Stored: ")
    assert (run.home / "users/ada/overview.md").read_text().count("sail the Baltic") == 2


def test_a_memory_comes_from_stdin_and_goes_to_the_inbox(run: Command) -> None:
    assert run.well("memory", "store", "-", given=b"Dreamt of boats.").startswith(
        "Stored: notes.md#inbox v1/"
    )
    assert "Dreamt of boats." in (run.home / NOTES).read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--category", "goals"], "category: input should be 'fact'"),
        (["--summary", "weekly", "--period", "2026-47"], "The one for "),
        (["--chat", "c7"], "--period and --chat need a --summary"),
        (["--priority", "300"], "--priority: input should be less than or equal to 100"),
    ],
)
def test_a_wrong_option_is_refused_by_the_name_it_has_here(run: Command, words: list[str], said: str) -> None:
    assert said in run.fails("memory", "store", "x", *words)


def test_a_memory_is_listed_and_forgotten_by_its_name(run: Command) -> None:
    run.well("memory", "store", "Dreamt of boats.")
    first = run("memory", "list", "--limit", "1", "--path", "notes.md")
    assert "Dreamt of boats." in first.out
    assert " · operator  " in first.out
    assert "More: --cursor " in first.err
    [name] = NAME.findall(first.out)
    assert "needs" not in run.fails("memory", "forget", name, code=2)
    gone = run("memory", "forget", name, "--rationale", "She woke up.")
    assert (gone.code, gone.out) == (0, "Forgotten: notes.md · inbox v1\n")
    assert "'garden erase'" in gone.err
    assert "boats" not in run.well("memory", "list", "--path", "notes.md")
    assert "is not in the garden any more" in run.fails("memory", "forget", name, "-m", "x")


def test_pages_follow_each_other_and_filters_may_leave_nothing(run: Command) -> None:
    pages: list[str] = []
    cursor: str | None = None
    while not pages or cursor:
        words = ["memory", "list", "--limit", "1", "--json", *(["--cursor", cursor] if cursor else [])]
        result = run(*words).json["result"]
        pages += [each["text"] for each in result["memories"]]
        cursor = result.get("cursor")
    assert len(pages) == len(set(pages)) > 2
    none = run("memory", "list", "--tag", "nosuch")
    assert (none.code, none.out, none.err) == (0, "", "No memory is found.\n")


def test_the_context_is_the_block_of_the_tool(run: Command, ada: Session) -> None:
    ran = run("memory", "context", "sleep", "--tokens", "300")
    assert ran.out == ok(ada, "memory.context", query="sleep", tokens=300)["result"]["text"]
    assert "Slept well" in ran.out
    assert re.fullmatch(r"\d+ tokens(; no room for \d+ of \w+)*\.\n", ran.err)


def test_a_period_is_due_until_it_has_a_summary(run: Command) -> None:
    assert run.well("summaries", "due") == "No summary is due.\n"
    run.well("append", "notes.md", "2026-03-03: She wrote first.")
    rows = [line.split() for line in run.well("summaries", "due").splitlines()]
    assert rows[0] == ["summary", "period", "entries"]
    assert ["weekly", "2026-W10", "1"] in rows
    run.well("memory", "store", "She began.", "--summary", "weekly", "--period", "2026-W10")
    due = [each["period_key"] for each in run("summaries", "due", "--json").json]
    assert "2026-03-03" in due
    assert "2026-W10" not in due
