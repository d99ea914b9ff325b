"""An answer is given again only for a request that was sent again, and it says what is left of its effect."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from garden.application import Garden, open_garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, edit_outside, file_of, ok, plant, refused, rows

Asked = tuple[str, dict[str, Any]]

SLEPT = ("fs.append", {"path": NOTES, "text": "Slept well."})
OTHER = NOTES.replace("notes.md", "parts/critic/notes.md")
FOLDER = "users/ada/parts/child"
KEY = {"idempotencyKey": "mine"}
SECTIONS = "## Summaries\n<!-- @anchor: summaries v1 -->\n\n## Inbox\n<!-- @anchor: inbox v1 -->\n"
PAGE = "---\nid: ada\nuser_id: ada\nschema: 1\n---\n\n# {}\n\n" + SECTIONS


def inbox(text: str) -> Asked:
    return "md.patch_section", {"path": NOTES, "sectionAnchor": "inbox v1", "change": {"replace": text}}


def page(title: str) -> Asked:
    return "fs.write", {"path": NOTES, "content": PAGE.format(title)}


def item(op: str, wish: object) -> Asked:
    where = {"path": CRITIC, "sectionAnchor": "needs v1"}
    return "md.curate_list", {**where, "ops": op, "items": [wish], "reason": "She said so."}


def move(path: str = NOTES, new_path: str = OTHER) -> Asked:
    return "fs.move", {"path": path, "newPath": new_path}


@pytest.fixture
def operator(garden: Garden) -> Session:
    """A maintainer in Ada's garden, with a profile and notes."""
    session = garden.session("ada", "operator", role="maintainer")
    plant(session, CRITIC, NOTES)
    return session


def do(session: Session, asked: Asked, **also: Any) -> dict[str, Any]:
    """Make a call that must succeed; return the whole envelope."""
    return ok(session, asked[0], **asked[1], **also)


def done_anew(session: Session, asked: Asked) -> dict[str, Any]:
    """Make a call that must succeed and must not be a replay."""
    events = len(rows(session))
    envelope = do(session, asked)
    assert not {"replayed", "effectStands", "unchanged"} & set(envelope["meta"])
    assert len(rows(session)) > events
    return envelope


@pytest.mark.parametrize(
    ("asked", "other", "words"),
    [
        (inbox("one"), inbox("two"), "one"),
        (page("One"), page("Two"), "# One"),
        (item("append", "Rest"), item("prune", {"match": "Rest"}), "- Rest"),
        (SLEPT, inbox("two"), "Slept well."),
    ],
    ids=["patch", "write", "curate", "append"],
)
def test_the_same_words_after_another_change_are_a_new_request(
    garden: Garden, operator: Session, asked: Asked, other: Asked, words: str
) -> None:
    first = do(operator, asked)
    do(operator, other)
    again = done_anew(operator, asked)
    assert again["meta"]["eventId"] != first["meta"]["eventId"]
    assert words in file_of(garden, asked[1]["path"]).read_text()
    assert do(operator, asked)["meta"]["replayed"]


def test_text_that_a_person_removed_can_be_written_again(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    do(ada, SLEPT)
    edit_outside(garden, NOTES, "Slept well.\n", "")
    done_anew(ada, SLEPT)
    assert "Slept well." in file_of(garden, NOTES).read_text()


@pytest.mark.parametrize(
    "other", [{"actor": "night nurse"}, {"transaction_id": "evening"}], ids=["actor", "transaction"]
)
def test_the_same_words_of_two_agents_or_transactions_are_two_requests(
    garden: Garden, ada: Session, other: dict[str, Any]
) -> None:
    second = garden.session("ada", **{"actor": "companion", **other})
    plant(ada, NOTES)
    for session in (ada, second):
        done_anew(session, SLEPT)
        session.call("events.log", {"type": "observation", "rationale": "calm"})
    assert file_of(garden, NOTES).read_text().count("Slept well.") == 2
    assert len(rows(ada, type="observation")) == 2


def test_the_same_words_on_the_next_day_are_a_new_request(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, NOTES)
    do(ada, SLEPT)
    monkeypatch.setattr(garden.services.store, "_now", lambda: datetime.now(UTC) + timedelta(minutes=11))
    done_anew(ada, SLEPT)


def test_the_time_in_which_words_count_as_sent_again_is_a_setting(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, NOTES)
    monkeypatch.setenv("GARDEN_LIMITS_RESEND_SECONDS", "0")
    with open_garden(garden.home.path) as other:
        session = other.session("ada", "companion")
        do(session, SLEPT)
        done_anew(session, SLEPT)


def test_a_statement_counts_as_sent_again_only_while_it_is_the_newest_entry(ada: Session) -> None:
    calm = ("events.log", {"type": "observation", "rationale": "calm"})
    first = do(ada, calm)
    again = do(ada, calm)["meta"]
    assert (again["eventId"], again["replayed"]) == (first["meta"]["eventId"], True)
    assert "carried out before" in again["warnings"][0]
    ok(ada, "events.log", type="observation", rationale="restless")
    done_anew(ada, calm)


def test_the_id_of_a_tool_call_counts_only_with_the_same_actor_and_words(
    garden: Garden, ada: Session
) -> None:
    plant(ada, NOTES)
    one = {"toolCallId": "call_1"}
    first = do(ada, inbox("one"), **one)
    other = do(ada, inbox("two"), **one)
    for asked, before, stands in [(inbox("one"), first, False), (inbox("two"), other, True)]:
        again = do(ada, asked, **one)["meta"]
        assert (again["eventId"], again["effectStands"]) == (before["meta"]["eventId"], stands)
    assert "replayed" not in do(garden.session("ada", "night nurse"), inbox("one"), **one)["meta"]


@pytest.mark.parametrize("also", [{}, {"toolCallId": "call_1"}], ids=["words", "tool call"])
def test_restore_and_move_are_carried_out_again_without_a_key(
    garden: Garden, operator: Session, also: dict[str, str]
) -> None:
    restore = ("md.restore", {"path": NOTES, "version": 1, **also})
    do(operator, inbox("one"))
    done_anew(operator, restore)
    do(operator, inbox("two"))
    done_anew(operator, restore)
    assert "two" not in file_of(garden, NOTES).read_text()
    there = (move()[0], {**move()[1], **also})
    done_anew(operator, there)
    done_anew(operator, move(OTHER, NOTES))
    done_anew(operator, there)
    assert file_of(garden, OTHER).exists()
    assert not file_of(garden, NOTES).exists()


@pytest.mark.parametrize("also", [{}, {"toolCallId": "call_1"}], ids=["words", "tool call"])
def test_the_same_damage_is_repaired_a_second_time(
    garden: Garden, operator: Session, also: dict[str, str]
) -> None:
    for _ in range(2):
        edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
        mended = done_anew(operator, ("md.repair", {"path": CRITIC, **also}))["result"]["mended"]
        assert mended == ["the anchor 'needs v1' under 'Needs'"]
        assert "<!-- @anchor: needs v1 -->" in file_of(garden, CRITIC).read_text()


@pytest.mark.parametrize("also", [{}, {"toolCallId": "call_1"}], ids=["words", "tool call"])
def test_a_document_is_planted_again_after_it_moved_away(
    garden: Garden, operator: Session, also: dict[str, str]
) -> None:
    planting = ("md.plant", {"path": "users/ada/parts/child/notes.md", **also})
    done_anew(operator, planting)
    do(operator, move(planting[1]["path"], OTHER))
    done_anew(operator, planting)
    assert file_of(garden, planting[1]["path"]).exists()


def test_an_entry_is_not_reported_as_added_to_a_document_that_moved_away(operator: Session) -> None:
    do(operator, SLEPT)
    do(operator, move())
    refused(operator, *SLEPT[:1], "not_found", **SLEPT[1])


@dataclass(frozen=True)
class Effect:
    """A request, and what takes its effect away; the warning says so."""

    asked: Asked
    undo: Callable[[Garden, Session], object]
    warning: str
    first: Asked | None = None


def remove_copy(garden: Garden, _session: Session) -> None:
    shutil.rmtree(file_of(garden, "history/ada"))


EFFECTS = {
    "text removed by hand": Effect(
        SLEPT, lambda garden, _: edit_outside(garden, NOTES, "Slept well.\n", ""), "no longer has this change"
    ),
    "text replaced": Effect(
        inbox("one"), lambda _, session: do(session, inbox("two")), "no longer has this change"
    ),
    "item pruned": Effect(
        item("append", "Rest"),
        lambda _, session: do(session, item("prune", {"match": "Rest"})),
        "no longer has this change",
    ),
    "file gone": Effect(SLEPT, lambda garden, _: file_of(garden, NOTES).unlink(), "file has gone"),
    "file that is no text": Effect(
        SLEPT, lambda garden, _: file_of(garden, NOTES).write_bytes(b"\xff"), "can no longer be read"
    ),
    "blank lines": Effect(
        page("One\n\n"),
        lambda _, session: do(session, page("One")),
        "no longer has this change",
        first=page("One"),
    ),
    "document moved away": Effect(
        ("md.plant", {"path": "users/ada/parts/child/notes.md"}),
        lambda _, session: do(session, move("users/ada/parts/child/notes.md")),
        "file has gone",
    ),
    "moved back": Effect(
        move(), lambda _, session: do(session, move(OTHER, NOTES)), "no longer at its new path"
    ),
    "restored text replaced": Effect(
        ("md.restore", {"path": NOTES, "version": 1}),
        lambda _, session: do(session, inbox("one")),
        "no longer has this change",
        first=inbox("one"),
    ),
    "folder removed": Effect(
        ("fs.ensure_dir", {"path": FOLDER}),
        lambda garden, _: file_of(garden, FOLDER).rmdir(),
        "folder has gone",
    ),
    "copy changed": Effect(
        ("md.snapshot_history", {"path": NOTES}),
        lambda garden, _: next(file_of(garden, "history/ada").rglob("*.md")).write_text("mine\n"),
        "copy has gone or changed",
    ),
    "copy removed": Effect(("md.snapshot_history", {"path": NOTES}), remove_copy, "copy has gone or changed"),
}  # fmt: skip


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=EFFECTS)
def test_a_replay_with_a_key_says_whether_its_effect_stands_and_a_preview_is_that_replay(
    garden: Garden, operator: Session, effect: Effect
) -> None:
    if effect.first is not None:
        do(operator, effect.first)
    first = do(operator, effect.asked, **KEY)
    for stands in (True, False):
        events = len(rows(operator))
        preview = do(operator, effect.asked, **KEY, dryRun=True)
        again = do(operator, effect.asked, **KEY)
        assert again["result"] == first["result"]
        assert again["meta"]["eventId"] == first["meta"]["eventId"]
        assert (again["meta"]["replayed"], again["meta"]["effectStands"]) == (True, stands)
        assert "carried out before" in again["meta"]["warnings"][0]
        assert (effect.warning in again["meta"]["warnings"][0]) is not stands
        assert preview["result"] == again["result"]
        assert preview["meta"].pop("dryRun")
        assert preview["meta"].pop("diff") == ""
        once = {"tookMs": 0, "summary": ""}
        assert {**preview["meta"], **once} == {**again["meta"], **once}
        assert len(rows(operator)) == events
        if stands:
            effect.undo(garden, operator)


def test_a_later_change_elsewhere_leaves_the_effect(operator: Session) -> None:
    do(operator, item("append", "Rest"), **KEY)
    do(operator, item("append", "Play"))
    again = do(operator, item("append", "Rest"), **KEY)["meta"]
    assert again["effectStands"]
    assert "still has this change" in again["warnings"][0]


def test_a_proposal_of_a_request_that_was_carried_out_before_is_its_replay(operator: Session) -> None:
    do(operator, SLEPT)
    preview = ok(operator, "propose_change", tool=SLEPT[0], args=SLEPT[1])
    assert preview["result"]["diff"] == ""
    assert "carried out before" in preview["result"]["safetyReport"]
    assert (preview["meta"]["replayed"], preview["meta"]["effectStands"]) == (True, True)
    do(operator, inbox("two"))
    preview = ok(operator, "propose_change", tool=SLEPT[0], args=SLEPT[1])
    assert "+Slept well." in preview["result"]["diff"]
    assert "replayed" not in preview["meta"]


def test_a_preview_says_that_an_outside_edit_would_be_recorded_first(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    edit_outside(garden, NOTES, "# Notes", "# Mine")
    assert "would be recorded first" in do(ada, SLEPT, dryRun=True)["meta"]["warnings"][0]
    assert len(rows(ada)) == 1
