"""Every answer's `meta` sums it up in one line, without words of a document, and estimates its tokens."""

from typing import Any

import pytest

from garden.application import Garden
from garden.gateway.shaping import _CHANGES, _COUNTS
from garden.session import Session
from garden.tools.registry import REGISTRY
from tests.support.examples import IN_ORDER, arguments_of
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, ok, plant, put


def summary(session: Session, tool: str, **args: Any) -> str:
    return str(ok(session, tool, **args)["meta"]["summary"])


@pytest.fixture
def ada(garden: Garden) -> Session:
    return garden.session("ada", "companion")


def test_a_read_says_which_lines_of_how_many(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"one\ntwo\nthree\n")
    put(garden, OVERVIEW, b"")
    assert summary(ada, "fs.read", path=NOTES) == f"Read lines 1-3 of 3 of {NOTES}."
    assert summary(ada, "fs.read", path=NOTES, maxLines=2) == f"Read lines 1-2 of 3 of {NOTES}."
    ranges = [{"startLine": line, "endLine": line} for line in (1, 2, 3, 1, 2, 3)]
    assert "lines 1-1, 2-2, 3-3, 1-1, 2-2, … of 3" in summary(ada, "fs.read", path=NOTES, ranges=ranges)
    assert summary(ada, "fs.read", path=OVERVIEW) == f"Read lines 0-0 of 0 of {OVERVIEW}."


def test_a_search_and_a_listing_say_how_much_they_found(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"late\nlate\n")
    put(garden, CRITIC, b"late\n")
    found = summary(ada, "fs.search", root="users/ada", pattern="late", maxMatches=2)
    assert found == "2 of 3 matches, in 1 file of 2 searched."
    assert summary(ada, "fs.list", path="users/ada/parts") == "1 name in users/ada/parts."
    assert summary(ada, "fs.search", root="users/ada", pattern="x").startswith("0 of 0 matches")


def test_a_change_says_what_happened(ada: Session) -> None:
    assert summary(ada, "md.plant", path=NOTES) == f"Created {NOTES}."
    entry = {"path": NOTES, "text": "Slept well.", "idempotencyKey": "k1"}
    assert summary(ada, "fs.append", **entry, dryRun=True) == f"Preview only: {NOTES} stays as it is."
    assert summary(ada, "fs.append", **entry) == f"Appended to {NOTES}."
    assert summary(ada, "fs.append", **entry) == f"Replayed: Appended to {NOTES}."
    assert summary(ada, "fs.ensure_dir", path="users/ada") == "Nothing changed in users/ada."


def test_a_long_diff_is_counted_and_cut(ada: Session) -> None:
    plant(ada, NOTES)
    args = {"path": NOTES, "text": "\n".join(["- a line of words that is long"] * 3000)}
    proposed = ok(ada, "propose_change", tool="fs.append", args=args)
    preview = ok(ada, "fs.append", **args, dryRun=True)
    for answer, diff in ((proposed, proposed["result"]["diff"]), (preview, preview["meta"]["diff"])):
        assert answer["meta"]["linesAdded"] >= 3000
        assert 49_000 < len(diff) <= 50_000
        assert "cut after 50000 bytes" in answer["meta"]["warnings"][-1]
    assert "lines added, 0 removed" in proposed["meta"]["summary"]
    ok(ada, "fs.append", **args)
    compared = ok(ada, "history.diff", path=NOTES, **{"from": "1", "to": "2"})
    assert compared["meta"]["summary"] == f"{compared['result']['added']} lines added, 0 removed."
    assert "With anchor" in compared["meta"]["warnings"][0]


def test_every_tool_is_summed_up_in_one_short_line_without_words_of_documents(ada: Session) -> None:
    results: dict[str, Any] = {}
    for tool in IN_ORDER:
        envelope = ok(ada, tool, **arguments_of(tool, results))
        results[tool], meta = envelope["result"], envelope["meta"]
        line = meta["summary"]
        assert line.endswith(".")
        assert len(line.splitlines()) == 1
        assert len(line) < 150
        assert not any(word in line for word in ("slept", "deadline", "laughed")), line
        assert meta["tokens"] >= 1


def test_tokens_are_the_characters_of_the_result_by_four(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, "ä".encode() * 9)
    assert ok(ada, "fs.read", path=NOTES)["meta"]["tokens"] == 3
    assert ok(ada, "fs.list", path="users/ada")["meta"]["tokens"] == -(-len(f'["{NOTES}"]') // 4)


def test_the_tables_name_tools_that_are_there() -> None:
    assert {*_CHANGES, *_COUNTS} - {"fs.edit"} <= set(REGISTRY)
