"""Recall in the console: questions with their scores, and what was given as context to whom."""

import re

import pytest

from garden.home.settings import TokenPolicy
from garden.surfaces.web.console.recall import link_to, parts_of
from tests.support.served import Person, Service
from tests.support.visitors import Visitor, words_of

SAIL = "Wants to sail the Baltic with Juno"
HOSTILE = "<script>alert(1)</script> sails \u202eback\u200b [home](javascript:alert(2))"


@pytest.fixture
def memory(ada: Person) -> str:
    stored = ada.ok("memory.store", content=SAIL, tags=["sea"], idempotencyKey="sail")
    return str(stored["result"]["id"])


@pytest.mark.usefixtures("memory")
def test_a_question_finds_passages_with_scores_and_reasons(reviewer: Visitor, ada: Person) -> None:
    page = reviewer.page("/recall?query=sailing+the+Baltic")
    assert f'href="/console/documents/{ada.notes}?section=inbox#inbox"' in page
    assert "<mark>sail</mark>" in page
    words = words_of(page)
    assert "1 passage, best first" in words
    for expected in ("combined", "lexical", "semantic", "Signal Adds", "section", "companion agent", "#sea"):
        assert expected in words
    assert words.count("0.") >= 3


def test_a_question_without_an_answer_says_what_to_try(owner: Visitor) -> None:
    assert "Try other words or fewer filters." in owner.text("/recall?query=zebra")
    assert "Ask in your own words." in owner.text("/recall")


@pytest.mark.usefixtures("memory")
def test_filters_of_the_form_are_used_and_kept(owner: Visitor) -> None:
    page = owner.page("/recall?query=sail&from_day=3d")
    assert SAIL.split()[-1] in words_of(page)
    assert re.search(r"<details open>\s*<summary>At another time", page)
    assert 'value="3d"' in page
    assert "No passage is found" in owner.text("/recall?query=sail&to=30d")


@pytest.mark.parametrize("wrong", ["from_day=someday", "to=x", "as_of=x"])
def test_a_wrong_filter_is_refused_on_the_page_that_keeps_the_form(keeper: Visitor, wrong: str) -> None:
    answer = keeper.get(f"/recall?query=sail&{wrong}")
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert 'value="sail"' in answer.text


def test_hostile_words_are_shown_and_never_obeyed(owner: Visitor, ada: Person) -> None:
    ada.ok("memory.store", content=HOSTILE)
    ada.ok("memory.context", tokens=500)
    for page in (owner.page("/recall?query=<b>sails"), owner.page("/recall/given")):
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page
        assert "<b>" not in page
        assert "U+202E" in page
        assert "U+200B" in page
        assert 'href="javascript' not in page


def test_a_long_passage_is_cut(owner: Visitor, ada: Person) -> None:
    ada.ok("fs.append", path=ada.notes, text="\n- sail " + "x" * 500_000 + "\n")
    answer = owner.get("/recall?query=sail")
    assert "…" in answer.text
    assert len(answer.content) < 20_000


@pytest.mark.usefixtures("memory")
def test_a_context_is_listed_with_its_actor_and_words(reviewer: Visitor, ada: Person, ben: Person) -> None:
    ben.ok("memory.store", content="Ben's own")
    ben.ok("memory.context", tokens=500)
    ada.ok("memory.context", tokens=500)
    words = reviewer.text("/recall/given")
    assert "companion 1 passage" in words
    assert SAIL in words
    assert "Ben" not in words


def test_a_passage_that_was_given_and_is_gone_is_said_to_be_gone(
    reviewer: Visitor, ada: Person, memory: str
) -> None:
    ada.ok("memory.context", tokens=500)
    ada.ok("memory.forget", id=memory, rationale="She changed her mind.")
    words = reviewer.text("/recall/given")
    assert "gone It does not stand there any more. notes.md · inbox v1" in words
    assert SAIL not in words


def test_what_was_given_comes_in_pages(owner: Visitor, ada: Person) -> None:
    assert "Nothing was given" in owner.text("/recall/given")
    for number in range(9):
        ada.ok("memory.store", content=f"Thought {number} about the sea")
    for _ in range(7):
        ada.ok("memory.context", tokens=2000)
    page = owner.page("/recall/given")
    assert page.count("9 passages") == 6
    assert page.count("about the sea") == 6 * 9
    older = re.search(r'href="/console(/recall/given\?first=[^"]+)" rel="next"', page)
    assert older
    assert owner.page(older[1]).count("9 passages") == 1


def test_an_unknown_block_is_refused(keeper: Visitor) -> None:
    assert keeper.get("/recall/given?first=x").status_code == 400


def test_a_token_without_these_tools_is_refused(service: Service, ada: Person) -> None:
    policy = TokenPolicy(remove=("memory.recall", "memory.list", "memory.context"))
    issued = service.garden.tokens.create(
        ada.user_id, role="reviewer", actor="mira", expires_at=None, policy=policy
    )
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": issued.secret})
        assert client.get("/console/recall").status_code == 200
        assert client.get("/console/recall?query=sea").status_code == 403
        assert client.get("/console/recall/given").status_code == 403


def test_matched_words_are_told_apart_in_any_case() -> None:
    assert [*parts_of("Sail, sailing SAIL", ["sail", "sailing"])] == [
        (True, "Sail"),
        (False, ", "),
        (True, "sailing"),
        (False, " "),
        (True, "SAIL"),
    ]
    assert [*parts_of("a (b", ["(b"])] == [(False, "a "), (True, "(b")]
    assert [*parts_of("plain", [])] == [(False, "plain")]


def test_a_section_is_linked_by_its_name_without_its_version() -> None:
    assert link_to("users/ada/a b.md", "what_helps v12").endswith("/a%20b.md?section=what_helps#what_helps")
    quoted = "A%20%22v1%22%20head"
    assert link_to("notes.md", 'A "v1" head') == f"/console/documents/notes.md?section={quoted}#{quoted}"
