"""`memory.recall`: the passages that answer a question, with their places, scores and matched words."""

from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from garden.transfer.imports import import_file
from tests.support.gardens import NOTES, OVERVIEW, edit_outside, ok, refused, result


@pytest.fixture
def told(ada: Session) -> Session:
    for content, fields in (
        ("Wants to sail the Baltic", {"category": "life-goal", "tags": ["sea"], "pursuingPriority": 80}),
        ("Sleeps well after a walk by the sea", {"category": "health"}),
        ("2026-11-01: slept lazily on the ferry", {}),
        ("She slept better on the sea.", {"summaryType": "monthly", "periodKey": "2026-10"}),
    ):
        ok(ada, "memory.store", content=content, **fields)
    return ada


def texts(session: Session, query: str, **filters: object) -> list[str]:
    found = result(session, "memory.recall", query=query, **filters)["memories"]
    return [each["text"] for each in found]


def test_a_memory_is_found_at_once_with_its_place_its_scores_and_the_words_that_match(told: Session) -> None:
    memory = result(told, "memory.recall", query="sailing the baltic")["memories"][0]
    listed = result(told, "memory.list", categories=["life-goal"])["memories"][0]
    assert {name: memory[name] for name in listed} == listed
    assert set(memory) - set(listed) == {"scores", "matched"}
    assert (memory["path"], memory["heading"], memory["pursuingPriority"]) == (OVERVIEW, "Life Goals", 80)
    assert {"sail", "Baltic"} <= set(memory["matched"])
    assert set(memory["scores"]) == {"lexical", "semantic", "combined"}
    assert 0 < memory["scores"]["combined"] <= 1


def test_every_filter_narrows_the_search(told: Session) -> None:
    query = "slept lazy by the sea"
    assert texts(told, query)[0] == "2026-11-01: slept lazily on the ferry"
    assert texts(told, query, limit=1) == texts(told, query)[:1]
    assert texts(told, query, categories=["health"]) == ["Sleeps well after a walk by the sea"]
    assert texts(told, query, tags=["#Sea"]) == ["Wants to sail the Baltic (priority: 80) #sea"]
    assert {each[:4] for each in texts(told, query, kinds=["notes"])} == {"2026"}
    assert texts(told, query, paths=[NOTES]) == texts(told, query, kinds=["notes"])
    assert texts(told, query, **{"from": "2026-11-01", "to": "2026-11-01"}) == texts(told, query, limit=1)
    assert texts(told, query, summaryTypes=["monthly"]) == texts(told, query, periodKeyPrefix="2026-1")
    assert texts(told, query, minSimilarity=1) == []
    assert texts(told, query, semanticWeight=0, lexicalWeight=1)
    assert texts(told, query, asOf="2026-01-01") == []


def test_it_is_fresh_after_outside_edits_and_forgetting_and_of_the_own_garden(
    garden: Garden, told: Session
) -> None:
    edit_outside(garden, OVERVIEW, "sail the Baltic", "cross the Alps")
    ok(told, "memory.store", content="Has two cats", category="fact")
    [alps] = result(told, "memory.recall", query="Alps", limit=1)["memories"]
    assert (alps["origin"], alps["matched"]) == ("adopted", ["Alps"])
    ok(told, "memory.forget", id=alps["id"], rationale="She said no.")
    assert not any("Alps" in each for each in texts(told, "Alps"))
    assert any("Alps" in each for each in texts(told, "Alps", asOf=alps["createdAt"]))
    assert texts(garden.session("ben", "companion"), "cats") == []
    refused(garden.session("ben", "companion"), "memory.recall", "path_not_allowed", query="x", paths=[NOTES])
    for wrong in ({"limit": 0}, {"minSimilarity": 2}, {"lexicalWeight": -1}, {"asOf": "soon"}, {"opts": 1}):
        refused(told, "memory.recall", "invalid_input", query="x", **wrong)


def test_origins_are_the_same_in_recall_list_and_blame(garden: Garden, ada: Session) -> None:
    ok(ada, "memory.store", content="Has two cats", category="fact")
    reviewer = garden.session("ada", "eve", role="maintainer")
    ok(reviewer, "memory.store", content="Has two dogs", category="fact")
    edit_outside(garden, OVERVIEW, "- Has two dogs", "- Has two dogs\n- Has two parrots")
    origins = {"Has two cats": "agent", "Has two dogs": "person", "Has two parrots": "adopted"}
    ok(ada, "md.fix", path=OVERVIEW)
    for tool, asked in (("memory.recall", {"query": "Has two"}), ("memory.list", {})):
        found = result(ada, tool, **asked)["memories"]
        assert {each["text"]: each["origin"] for each in found} == origins
    lines = result(ada, "history.blame", path=OVERVIEW)["lines"]
    assert origins.items() <= {each["text"].removeprefix("- "): each["origin"] for each in lines}.items()


def test_an_imported_memory_says_so(garden: Garden, ada: Session, tmp_path: Path) -> None:
    text = (
        "---\nid: ada\nuser_id: ada\nschema: 1\n---\n\n## Facts\n<!-- @anchor: facts v1 -->\n\n- Has cats\n"
    )
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "overview.md").write_text(text)
    import_file(garden.services, tmp_path, tmp_path / "ada" / "overview.md", "operator")
    [memory] = result(ada, "memory.list")["memories"]
    assert (memory["text"], memory["origin"]) == ("Has cats", "imported")
    [item] = result(ada, "memory.context", tokens=1000)["items"]
    assert item["origin"] == "imported"
