"""`memory.forget` removes one memory from its document, and `memory.list` pages through what is left."""

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import (
    NOTES,
    OVERVIEW,
    edit_outside,
    file_of,
    ok,
    plant,
    refused,
    result,
    rows,
)


def ids(ada: Session, **filters: object) -> list[str]:
    return [each["id"] for each in result(ada, "memory.list", **filters)["memories"]]


def store(ada: Session, content: str, **fields: object) -> str:
    return str(result(ada, "memory.store", content=content, **fields)["id"])


def test_an_item_goes_with_what_is_nested_in_it_and_the_history_keeps_it(
    garden: Garden, ada: Session
) -> None:
    store(ada, "Has two cats", category="fact")
    wanted = store(ada, "Lives in Kiel\n- near the ferry", category="fact")
    before = file_of(garden, OVERVIEW).read_text()
    envelope = ok(ada, "memory.forget", id=wanted, rationale="She moved.")
    assert envelope["result"] == {"path": OVERVIEW, "anchor": "facts v1"}
    assert "garden erase" in envelope["meta"]["warnings"][-1]
    text = file_of(garden, OVERVIEW).read_text()
    assert "Kiel" in before
    assert "ferry" in before
    assert "Kiel" not in text.partition("## Change Log")[0]
    assert "ferry" not in text
    assert "· facts v1 · forget · She moved. (evt:" in text
    assert wanted not in ids(ada)
    assert (rows(ada)[0]["tool"], rows(ada)[0]["op"]) == ("memory.forget", "forget")
    assert ids(ada, asOf="2026-01-01") == []


def test_an_entry_goes_alone_and_equal_ones_are_told_apart(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    for text in ("2026-11-18: slept well", "2026-11-18: talked\n- of tea", "2026-11-18: slept well"):
        ok(ada, "fs.append", path=NOTES, text=text, idempotencyKey=str(len(rows(ada))))
    second = next(each for each in ids(ada) if each.endswith("~2"))
    dry = ok(ada, "memory.forget", id=second, rationale="Twice.", dryRun=True)
    assert "-2026-11-18: slept well" in dry["meta"]["diff"]
    ok(ada, "memory.forget", id=second, rationale="Twice.")
    assert file_of(garden, NOTES).read_text().endswith("slept well\n\n2026-11-18: talked\n- of tea\n")
    ok(ada, "memory.forget", id=second.removesuffix("~2"), rationale="It is not so.")
    assert file_of(garden, NOTES).read_text().endswith("v1 -->\n\n2026-11-18: talked\n- of tea\n")


def test_one_whose_removal_would_change_another_stays(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="- tea\n\nBetween them\n\n    code")
    before = file_of(garden, NOTES).read_text()
    wanted = next(
        each["id"] for each in result(ada, "memory.list")["memories"] if each["text"] == "Between them"
    )
    error = refused(ada, "memory.forget", "patch_conflict", id=wanted, rationale="x")
    assert "alone" in error["message"]
    assert file_of(garden, NOTES).read_text() == before


def test_a_name_alone_is_enough_where_no_other_has_it(ada: Session) -> None:
    wanted = store(ada, "Has two cats", category="fact")
    name = wanted.rpartition("/")[2]
    store(ada, "Has two cats", category="personal-context")
    error = refused(ada, "memory.forget", "invalid_input", id=name, rationale="x")
    assert wanted in error["details"]["ids"]
    ok(ada, "memory.forget", id=wanted, rationale="x")
    ok(ada, "memory.forget", id=name, rationale="x")
    assert ids(ada) == []


def test_one_that_is_gone_is_not_found_and_the_nearest_is_named(garden: Garden, ada: Session) -> None:
    gone = store(ada, "Lives in Kiel with two cats", category="fact")
    edit_outside(garden, OVERVIEW, "two cats", "three cats")
    for wanted in (gone, gone.rpartition("/")[2]):
        error = refused(ada, "memory.forget", "not_found", id=wanted, rationale="x")
        [nearest] = error["details"]["nearest"]
        assert nearest["text"] == "Lives in Kiel with three cats"
    ok(ada, "memory.forget", id=nearest["id"], rationale="x")
    for unknown in ("aaaaaaaaaa", f"{OVERVIEW}#facts v1/aaaaaaaaaa", f"{NOTES}#inbox v1/aaaaaaaaaa"):
        refused(ada, "memory.forget", "not_found", id=unknown, rationale="x")


def test_only_memories_of_the_own_garden_go_and_never_the_change_log(garden: Garden, ada: Session) -> None:
    wanted = store(ada, "Has two cats", category="fact")
    ben = garden.session("ben", "companion")
    refused(ben, "memory.forget", "path_not_allowed", id=wanted, rationale="x")
    refused(ben, "memory.forget", "not_found", id=wanted.rpartition("/")[2], rationale="x")
    assert ids(ben) == []
    refused(ben, "memory.list", "path_not_allowed", paths=[OVERVIEW])
    refused(ada, "memory.forget", "invalid_input", id="nonsense", rationale="x")
    refused(ada, "memory.forget", "invalid_input", id=wanted, rationale="")
    reviewer = garden.session("ada", "rita", role="reviewer")
    refused(reviewer, "memory.forget", "permission_denied", id=wanted, rationale="x")
    assert ids(reviewer) == [wanted]


def test_a_list_is_paged_newest_first_and_narrowed_by_every_filter(ada: Session) -> None:
    first = store(ada, "Has two cats", category="fact", tags=["Pets"])
    second = store(ada, "2026-11-01: slept well #sleep")
    third = store(ada, "Better", summaryType="monthly", periodKey="2026-10")
    newest = [third, second, first]
    assert ids(ada) == newest
    page = result(ada, "memory.list", limit=2)
    rest = result(ada, "memory.list", limit=2, cursor=page["cursor"])
    assert [each["id"] for each in (*page["memories"], *rest["memories"])] == newest
    assert "cursor" not in rest
    assert ids(ada, kinds=["notes"]) == ids(ada, paths=[NOTES]) == newest[:2]
    assert ids(ada, paths=["users/ada"]) == newest
    assert ids(ada, categories=["fact", "work"]) == ids(ada, tags=["#pets"]) == [first]
    assert ids(ada, **{"from": "2026-11-01", "to": "2026-11-01"}) == [second]
    assert ids(ada, to="2026-10-31") == ids(ada, summaryTypes=["monthly"]) == [third]
    assert ids(ada, periodKeyPrefix="2026-1") == [third]
    after_two = result(ada, "memory.list")["memories"][1]["createdAt"]
    assert third in ids(ada)
    assert third not in ids(ada, asOf=after_two)
    memory = result(ada, "memory.list", limit=1, paths=[NOTES], tags=["sleep"])["memories"][0]
    assert (memory["day"], memory["session"]) == ("2026-11-01", "2026-11-01")
    assert (memory["kind"], memory["heading"], memory["origin"]) == ("notes", "Inbox", "agent")
    assert memory["eventId"] == rows(ada, path=NOTES)[1]["eventId"]
    for wrong in ({"cursor": "x"}, {"limit": 51}, {"from": "soon"}, {"kinds": ["diary"]}):
        refused(ada, "memory.list", "invalid_input", **wrong)
