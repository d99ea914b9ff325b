from typing import Any

import pytest

from garden.session import Session
from tests.support.gardens import CRITIC, ok, plant, refused, result, rows

QUOTE = "\"I can't relax until it's done\" (ev:s12-m40)"


def _curate(
    session: Session, ops: Any, *items: Any, anchor: str = "evidence v1", **said: Any
) -> dict[str, Any]:
    return session.call(
        "md.curate_list",
        {"path": CRITIC, "sectionAnchor": anchor, "ops": ops, "items": items, "reason": "shows it", **said},
    )


def _items(session: Session, heading: str = "Evidence") -> list[str]:
    text = result(session, "fs.read", path=CRITIC)
    section = text.partition(f"## {heading}")[2].partition("\n## ")[0]
    return [line.removeprefix("- ") for line in section.splitlines() if line.startswith("- ")]


@pytest.fixture
def three(ada: Session) -> Session:
    plant(ada, CRITIC)
    done = _curate(ada, "append", *(f'"it is {n}" (ev:s1-m{n})' for n in (1, 2, 3)))
    assert done["ok"], done
    return ada


def test_an_item_is_appended_with_the_sections_hashes_in_the_answer(ada: Session) -> None:
    plant(ada, CRITIC)
    before = result(ada, "fs.hash", path=CRITIC, sectionAnchor="evidence v1")
    done = _curate(ada, "append", QUOTE)
    after = result(ada, "fs.hash", path=CRITIC, sectionAnchor="evidence v1")
    assert done["result"] == {"beforeHash": before, "afterHash": after}
    assert _items(ada) == [QUOTE]


@pytest.mark.parametrize("ops", ["append", ["append"]])
def test_one_op_goes_for_all_items_as_a_word_or_in_a_list(three: Session, ops: Any) -> None:
    done = _curate(three, ops, QUOTE, '"and" (ev:s1-m4)')
    assert done["ok"], done
    assert len(_items(three)) == 5


@pytest.mark.parametrize("item", [QUOTE, [QUOTE]])
def test_op_and_item_are_other_names_of_ops_and_items(three: Session, item: Any) -> None:
    args = {"path": CRITIC, "section_anchor": "evidence v1", "reason": "shows it"}
    ok(three, "md.curate_list", **args, op="append", item=item)
    assert _items(three)[-1] == QUOTE
    error = refused(three, "md.curate_list", "invalid_input", **args, op="append", item=item, ops="append")
    assert "ops is given twice (op and ops)" in error["message"]


def test_there_may_be_one_op_for_each_item(three: Session) -> None:
    done = _curate(three, ["append", "prune"], QUOTE, {"match": "ev:s1-m1"})
    assert done["ok"], done
    assert _items(three) == ['"it is 2" (ev:s1-m2)', '"it is 3" (ev:s1-m3)', QUOTE]
    assert rows(three, path=CRITIC)[0]["op"] == "curate_list"


@pytest.mark.parametrize("match", ["ev:s1-m2", '"it is 2" (ev:s1-m2)', '2: "it is'])
def test_an_item_is_pruned_by_token_text_or_number(three: Session, match: str) -> None:
    assert _curate(three, "prune", {"match": match})["ok"]
    assert _items(three) == ['"it is 1" (ev:s1-m1)', '"it is 3" (ev:s1-m3)']
    assert rows(three, path=CRITIC)[0]["op"] == "prune_item"


@pytest.mark.parametrize("match", ["ev:s1-m9", "2: something else", "it is", "7: it"])
def test_a_missing_item_is_refused_with_the_existing_ones(three: Session, match: str) -> None:
    error = _curate(three, "prune", {"match": match})["error"]
    assert error["code"] == "not_found"
    assert "it is 2" in str(error["details"])
    assert len(_items(three)) == 3


def test_an_ambiguous_item_is_refused(three: Session) -> None:
    _curate(three, "append", "the same", anchor="needs")
    _curate(three, "append", "the same", anchor="needs", idempotencyKey="again")
    error = _curate(three, "prune", {"match": "the same"}, anchor="needs")["error"]
    assert error["code"] in {"patch_conflict", "not_found"}
    assert _items(three, "Needs") == ["the same", "the same"]


def test_items_are_merged_where_the_first_one_stands(three: Session) -> None:
    done = _curate(three, "merge", {"into": "ev:s1-m1", "from": ["ev:s1-m3"], "text": "both (ev:s1-m1)"})
    assert done["ok"], done
    assert _items(three) == ["both (ev:s1-m1)", '"it is 2" (ev:s1-m2)']
    assert rows(three, path=CRITIC)[0]["op"] == "merge_items"


def test_a_merge_without_a_text_keeps_the_words_of_all(three: Session) -> None:
    assert _curate(three, "merge", {"into": "ev:s1-m1", "from": ["ev:s1-m3"]})["ok"]
    merged = _items(three)[0]
    assert "it is 1" in merged
    assert "it is 3" in result(three, "fs.read", path=CRITIC)


def test_an_item_keeps_its_nested_content(three: Session) -> None:
    _curate(three, "append", "whole\n  - nested\n\n  and more", anchor="needs")
    _curate(three, "append", "other", anchor="needs")
    assert _curate(three, "prune", {"match": "1: whole"}, anchor="needs")["ok"]
    text = result(three, "fs.read", path=CRITIC)
    assert "nested" not in text
    assert "and more" not in text
    assert _items(three, "Needs") == ["other"]


def test_a_reason_is_required(three: Session) -> None:
    args = {"path": CRITIC, "sectionAnchor": "evidence v1", "ops": "append", "items": [QUOTE]}
    refused(three, "md.curate_list", "invalid_input", **args)
    refused(three, "md.curate_list", "invalid_input", **args, reason="")


def test_the_reason_is_in_the_event_and_the_change_log(three: Session) -> None:
    done = _curate(three, "append", QUOTE, reason="It names the fear.")
    assert rows(three, path=CRITIC)[0]["rationale"] == "It names the fear."
    line = f"· evidence v1 · append_item · It names the fear. (evt:{done['meta']['eventId']})"
    assert line in result(three, "fs.read", path=CRITIC)


def test_a_rationale_beside_the_reason_is_kept_as_well(three: Session) -> None:
    _curate(three, "append", QUOTE, reason="It names the fear.", rationale="Asked for in the review.")
    event = rows(three, path=CRITIC)[0]
    assert "It names the fear." in event["rationale"]
    assert "Asked for in the review." in event["rationale"]


def test_ops_that_do_not_fit_their_items_are_refused(three: Session) -> None:
    wrong: list[tuple[Any, list[Any]]] = [
        (["append", "append"], ["a"]),
        ("prune", [7]),
        ("merge", ["a"]),
        ("append", [{"match": "a"}]),
        ("drop", ["a"]),
        ("append", []),
        ([], []),
        ("merge", [{"into": "a", "from": []}]),
    ]
    for ops, items in wrong:
        assert _curate(three, ops, *items)["error"]["code"] == "invalid_input", (ops, items)


def test_a_batch_is_applied_whole_or_not_at_all(three: Session) -> None:
    assert not _curate(three, ["append", "prune"], QUOTE, {"match": "ev:s9-m9"})["ok"]
    assert len(_items(three)) == 3


def test_a_section_without_a_list_gets_its_first_item(ada: Session) -> None:
    plant(ada, CRITIC)
    assert _curate(ada, "append", "Rest", anchor="needs")["ok"]
    assert "<!-- @anchor: needs v1 -->\n\n- Rest\n\n" in result(ada, "fs.read", path=CRITIC)


def test_pruning_twice_under_one_key_prunes_once(three: Session) -> None:
    first = _curate(three, "prune", {"match": "ev:s1-m1"})
    second = _curate(three, "prune", {"match": "ev:s1-m1"})
    assert second["meta"]["replayed"]
    assert second["result"] == first["result"]
    assert len(_items(three)) == 2


def test_if_match_takes_the_lists_section_or_document(three: Session) -> None:
    section = result(three, "fs.hash", path=CRITIC, sectionAnchor="evidence v1")
    document = result(three, "fs.hash", path=CRITIC)
    assert _curate(three, "append", QUOTE, ifMatch=section, dryRun=True)["ok"]
    assert _curate(three, "append", QUOTE, ifMatch=document)["ok"]
    error = _curate(three, "append", QUOTE, ifMatch=section)["error"]
    assert error["code"] == "precondition_failed"
    assert ok(three, "fs.hash", path=CRITIC)["result"] == error["details"]["documentHash"]
