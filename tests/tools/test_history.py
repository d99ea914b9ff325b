"""The reviewer's questions: what changed, when, by whom and why, and what did it say before."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from garden.application import Garden
from garden.files.paths import GardenPath
from garden.history.differences import difference
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, edit_outside, file_of, ok, plant, refused, result

CHILD = "users/ada/parts/child/notes.md"
OLDER = "users/ada/parts/elder/notes.md"


def curate(session: Session, op: str, *items: Any, reason: str) -> str:
    args = {"path": CRITIC, "sectionAnchor": "concerns v1", "op": op, "items": list(items)}
    event_id: str = ok(session, "md.curate_list", **args, reason=reason)["meta"]["eventId"]
    return event_id


@pytest.fixture
def told(ada: Session) -> list[str]:
    """Three edits of the concerns, after the planting."""
    plant(ada, CRITIC)
    return [
        curate(ada, "append", "Sleeps badly", reason="She said so."),
        curate(ada, "append", "Works late", reason="Seen twice."),
        curate(ada, "prune", {"match": "Sleeps badly"}, reason="She sleeps well now."),
    ]


def versions(session: Session, **args: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = result(session, "history.log", **args)["versions"]
    return listed


def test_the_reviewers_first_question_takes_two_calls(ada: Session, told: list[str]) -> None:
    lines = result(ada, "history.blame", path=CRITIC, anchor="concerns")["lines"]
    why = next(line for line in lines if line["text"] == "- Works late")
    assert (why["eventId"], why["version"]) == (told[1], 3)
    assert (why["actor"], why["origin"], why["rationale"]) == ("companion", "agent", "Seen twice.")
    before = result(ada, "history.show", path=CRITIC, at=told[0][-6:], anchor="concerns")
    assert (before["eventId"], before["version"]) == (told[0], 2)
    assert "- Sleeps badly" in before["text"]


def test_the_log_counts_lines_and_says_when_there_are_more(ada: Session, told: list[str]) -> None:
    page = ok(ada, "history.log", path=CRITIC, anchor="Concerns", limit=2)
    assert [each["eventId"] for each in page["result"]["versions"]] == told[:0:-1]
    assert "more versions" in page["meta"]["warnings"][0]
    [rest] = versions(ada, path=CRITIC, anchor="concerns v1", cursor=page["result"]["cursor"])
    diff = result(ada, "history.diff", path=CRITIC, **{"from": "1", "to": "2"})
    assert (rest["eventId"], rest["added"], rest["removed"]) == (told[0], diff["added"], diff["removed"])
    assert versions(ada, text="sleeps WELL")[0]["eventId"] == told[2]
    assert len(versions(ada, path="users/ada/parts")) == 4


def test_an_unknown_actor_or_section_is_an_error_with_the_nearest(ada: Session, told: list[str]) -> None:
    assert told
    assert "companion" in refused(ada, "history.log", "invalid_input", actor="compagnion")["hint"]
    assert (
        "concerns v1" in refused(ada, "history.log", "invalid_input", path=CRITIC, anchor="concern")["hint"]
    )
    assert versions(ada, path=CRITIC, anchor="needs") == []


def test_every_name_of_a_version_leads_to_it(ada: Session, told: list[str]) -> None:
    event_id = told[0]
    time = versions(ada, path=CRITIC)[2]["time"]
    for name in ("2", "v2", "V2", event_id, f"evt:{event_id}", event_id[-8:].upper(), time, "head~2"):
        assert result(ada, "history.show", path=CRITIC, at=name)["eventId"] == event_id, name
    for name in ("head", "now", "HEAD~0"):
        assert result(ada, "history.show", path=CRITIC, at=name)["eventId"] == told[2], name


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("99", "not_found", "The newest version is 4"),
        ("v123456", "not_found", "no version 123456"),
        ("head~4", "not_found", "The newest version is 4"),
        ("2001-01-01", "not_found", "Its first version is of 2"),
        ("abcdefabcdef", "not_found", "ends in the id"),
        ("once upon a time", "invalid_input", "3 weeks ago"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_version(
    ada: Session, told: list[str], name: str, code: str, says: str
) -> None:
    assert told
    error = refused(ada, "history.show", code, path=CRITIC, at=name)
    assert says in f"{error['message']} {error['hint']}"


def test_a_document_is_followed_to_where_it_was_moved_from(garden: Garden, ada: Session) -> None:
    operator = garden.session("ada", "operator", role="maintainer")
    plant(ada, CHILD)
    ok(ada, "fs.append", path=CHILD, text="- hid under the table")
    ok(operator, "fs.move", path=CHILD, newPath=OLDER)
    listed = versions(ada, path=OLDER)
    assert [(each["path"], each["version"]) for each in listed] == [(OLDER, 1), (CHILD, 2), (CHILD, 1)]
    assert (listed[0]["op"], listed[0]["added"], listed[0]["removed"]) == ("move", 0, 0)
    assert result(ada, "history.show", path=OLDER, at="head~1")["path"] == CHILD
    assert result(ada, "history.show", path=OLDER, at=listed[2]["time"])["eventId"] == listed[2]["eventId"]
    lines = result(ada, "history.blame", path=OLDER)["lines"]
    assert {line["eventId"] for line in lines} == {each["eventId"] for each in listed[1:]}
    stretches = [
        (hit["path"], hit["cameWith"], hit.get("wentWith"))
        for hit in result(ada, "history.search", text="UNDER the")["hits"]
    ]
    gone = result(ada, "history.show", path=CHILD, at="head")["eventId"]
    assert stretches == [(CHILD, listed[1]["eventId"], gone), (OLDER, listed[0]["eventId"], None)]


def test_a_log_of_the_garden_counts_no_lines_of_a_move(garden: Garden, ada: Session) -> None:
    plant(ada, CHILD)
    ok(garden.session("ada", "operator", role="maintainer"), "fs.move", path=CHILD, newPath=OLDER)
    moves = versions(ada)[:2]
    assert {each["path"] for each in moves} == {CHILD, OLDER}
    assert [(each["added"], each["removed"]) for each in moves] == [(0, 0), (0, 0)]


def test_a_document_that_moved_to_and_fro_keeps_its_events(garden: Garden, ada: Session) -> None:
    operator = garden.session("ada", "operator", role="maintainer")
    plant(ada, CHILD)
    appended = ok(ada, "fs.append", path=CHILD, text="- hid under the table")["meta"]["eventId"]
    for path, new_path in [(CHILD, OLDER), (OLDER, CHILD)] * 20:
        ok(operator, "fs.move", path=path, newPath=new_path)
    [line] = [each for each in result(ada, "history.blame", path=CHILD)["lines"] if "hid" in each["text"]]
    assert line["eventId"] == appended


def test_a_move_by_a_host_whose_clock_is_behind_loses_no_version(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CHILD)
    with monkeypatch.context() as ahead:
        later = datetime.now(UTC) + timedelta(minutes=2)
        ahead.setattr(garden.services.write_path.store, "_now", lambda: later)
        appended = ok(ada, "fs.append", path=CHILD, text="- hid under the table")["meta"]["eventId"]
    ok(garden.session("ada", "operator", role="maintainer"), "fs.move", path=CHILD, newPath=OLDER)
    assert result(ada, "history.show", path=OLDER, at="head~1")["eventId"] == appended
    assert appended in {line["eventId"] for line in result(ada, "history.blame", path=OLDER)["lines"]}


def test_equal_lines_that_come_back_keep_each_its_event(garden: Garden, ada: Session) -> None:
    operator = garden.session("ada", "operator", role="maintainer")
    plant(operator, CRITIC)
    for section in ("concerns", "needs"):
        change = {"append": "- Rest"}
        ok(operator, "md.patch_section", path=CRITIC, sectionAnchor=section, change=change)
    before = result(ada, "history.blame", path=CRITIC)["lines"]
    file = file_of(garden, CRITIC)
    file.write_text(file.read_text().replace("- Rest", ""))
    ok(operator, "md.restore", path=CRITIC, version=3, rationale="She needs it.")
    after = result(ada, "history.blame", path=CRITIC)["lines"]
    rests = [[line["eventId"] for line in lines if line["text"] == "- Rest"] for lines in (before, after)]
    assert rests[0] == rests[1]


def test_a_carriage_return_alone_ends_no_line_of_a_blame(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "## Concerns", "one\rtwo\rthree\n\n## Concerns")
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs", change={"append": "- Rest"})
    first, *_ = result(ada, "history.blame", path=CRITIC, anchor="concerns")["lines"]
    assert first["text"] == "## Concerns"


def test_a_phrase_is_found_where_it_arose_across_an_edge(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="- the ferry")
    edit_outside(garden, NOTES, "the ferry", "the fast ferry")
    ok(ada, "fs.append", path=NOTES, text="- was late")
    [hit] = result(ada, "history.search", text="fast ferry", path=NOTES)["hits"]
    adopted = versions(ada, path=NOTES)[1]
    assert (adopted["origin"], hit["cameWith"], hit["anchor"]) == ("adopted", adopted["eventId"], "inbox v1")
    edit_outside(garden, NOTES, "inbox v1 -->\n", "inbox v1 -->\n\n## Boats\n")
    ok(ada, "fs.append", path=NOTES, text="- came home")
    old, new = result(ada, "history.search", text="fast ferry", path=NOTES)["hits"]
    assert (old["anchor"], new["anchor"]) == ("inbox v1", "Boats")
    assert old["wentWith"] == new["cameWith"]


def test_a_phrase_changes_its_section_by_an_edit_far_above(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    calm = "The day was calm.\n" * 9
    hidden = f"inbox v1 -->\n\n<!--\n{calm}Until here\n{calm}\n## Boats\n\nThe ferry was late.\n"
    edit_outside(garden, NOTES, "inbox v1 -->\n", hidden)
    garden.services.write_path.settle_and_adopt(ada.caller, GardenPath(NOTES))
    edit_outside(garden, NOTES, "Until here", "Until here -->")
    garden.services.write_path.settle_and_adopt(ada.caller, GardenPath(NOTES))
    hits = result(ada, "history.search", text="the ferry", path=NOTES)["hits"]
    assert [hit["anchor"] for hit in hits] == ["inbox v1", "Boats"]
    assert hits[0]["wentWith"] == hits[1]["cameWith"]


def test_a_diff_with_the_file_has_edits_by_hand_and_marks_words(
    garden: Garden, ada: Session, told: list[str]
) -> None:
    assert told
    edit_outside(garden, CRITIC, "Works late", "Works too late")
    found = result(ada, "history.diff", path=CRITIC, **{"from": "head"}, words=True, anchor="concerns")
    assert (found["added"], found["removed"]) == (1, 1)
    assert "- Works {+too +}late\n" in found["diff"]
    ok(ada, "md.lint", path=CRITIC)
    edit_outside(garden, CRITIC, "Works too late", "Works late")


def test_a_long_diff_is_cut_and_says_so(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="\n".join(f"- the day {number} was calm" for number in range(3000)))
    cut = ok(ada, "history.diff", path=NOTES, **{"from": "1", "to": "2"})
    assert cut["result"]["truncated"]
    assert cut["result"]["added"] >= 3000
    assert len(cut["result"]["diff"].encode()) <= 50_000
    assert "more lines are left out" in cut["meta"]["warnings"][0]


def test_a_cut_last_line_without_an_end_is_counted() -> None:
    found = difference("", "words " * 20_000, NOTES, None, words=True)
    assert (found.added, found.lines_cut) == (1, 1)


def test_a_garden_is_shown_as_it_was_at_a_time(ada: Session, told: list[str]) -> None:
    first = versions(ada, path=CRITIC)[-2]["time"]
    plant(ada, NOTES)
    shown = result(ada, "history.show", path="users/ada", at=first)
    assert [(each["path"], each["eventId"]) for each in shown["documents"]] == [(CRITIC, told[0])]
    assert shown["text"].startswith(f"==> {CRITIC} <==\n---\n")
    assert len(result(ada, "history.show", path="users/ada", at="now")["documents"]) == 2
    refused(ada, "history.show", "invalid_input", path="users/ada", at="v1")


def test_erased_words_are_in_no_answer(garden: Garden, ada: Session, told: list[str]) -> None:
    assert told
    operator = garden.session("ada", "operator", role="maintainer")
    ok(operator, "garden.erase", text="Sleeps badly", reason="She asked for it.")
    answers = [result(ada, "history.show", path=CRITIC, at=str(number)) for number in range(1, 5)]
    answers.append(result(ada, "history.diff", path=CRITIC, **{"from": "2", "to": "4"}))
    answers.append(result(ada, "history.log", path=CRITIC))
    answers.append(result(ada, "history.blame", path=CRITIC, at="2"))
    assert "Sleeps badly" not in str(answers)
    assert result(ada, "history.search", text="Sleeps badly")["hits"] == []
