"""A document or folder that a person moves keeps its history, and is in step afterwards."""

import shutil

import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.session import Session
from garden.upkeep.reconciliation import adopt, reconcile
from garden.upkeep.status import State, status_of_user
from garden.writing.hand_moves import FoundMoves, HandMoves
from tests.events.test_verifier import tamper
from tests.support.gardens import CRITIC, edit_outside, events_of, file_of, ok, plant, put, refused, rows
from tests.support.planted import ada
from tests.support.promises import broken_promises

JUDGE, ARCHER = (CRITIC.replace("critic", name) for name in ("judge", "archer"))
CRITIC_NOTES, JUDGE_NOTES = (path.replace("profile", "notes") for path in (CRITIC, JUDGE))


class _GoneError(BaseException):
    pass


@pytest.fixture
def session(garden: Garden) -> Session:
    plant(ada(garden), CRITIC, CRITIC_NOTES)
    remember(ada(garden), CRITIC, "counts the hours")
    return ada(garden)


def remember(session: Session, path: str, words: str) -> None:
    change = {"append": f"- {words}"}
    ok(session, "md.patch_section", path=path, sectionAnchor="concerns v1", change=change)


def move_folder(garden: Garden, path: str, new_path: str) -> None:
    file_of(garden, path).parent.rename(file_of(garden, new_path).parent)


def states(garden: Garden) -> dict[str, State]:
    return {each.path: each.state for each in status_of_user(garden.services, "ada")}


@pytest.mark.parametrize("new_path", [JUDGE, ARCHER], ids=["later in order", "earlier in order"])
def test_a_folder_moved_by_hand_is_adopted_as_a_move(garden: Garden, session: Session, new_path: str) -> None:
    move_folder(garden, CRITIC, new_path)
    assert set(states(garden).values()) == {State.MOVED}
    assert {each.outcome for each in reconcile(garden.services, ["ada"])} == {"adopted"}
    assert states(garden) == dict.fromkeys((new_path, new_path.replace("profile", "notes")), State.IN_STEP)
    assert events_of(session, CRITIC)[-1] == "move committed"
    left, arrived = rows(session, path=CRITIC)[0], rows(session, path=new_path, op="move")[0]
    assert {left["actor"], arrived["actor"]} == {"external"}
    assert (left["edit"]["toPath"], arrived["edit"]["fromPath"]) == (new_path, CRITIC)
    assert "id: critic" not in file_of(garden, new_path).read_text()
    assert broken_promises(garden) == []
    remember(session, new_path, "judges")


@pytest.mark.usefixtures("session")
def test_notes_that_a_person_edits_on_a_second_move_keep_their_history(garden: Garden) -> None:
    for path, new_path in ((CRITIC, JUDGE), (JUDGE, ARCHER)):
        move_folder(garden, path, new_path)
        notes = new_path.replace("profile", "notes")
        edit_outside(garden, notes, "## Inbox", f"By hand in {new_path}.\n\n## Inbox")
        assert {each.outcome for each in reconcile(garden.services, ["ada"])} == {"adopted"}
    assert set(states(garden).values()) == {State.IN_STEP}


def test_what_was_said_before_the_move_keeps_its_event(garden: Garden, session: Session) -> None:
    [said] = ok(session, "memory.recall", query="counts the hours")["result"]["memories"][:1]
    move_folder(garden, CRITIC, JUDGE)
    list(reconcile(garden.services, ["ada"]))
    [now] = ok(session, "memory.recall", query="counts the hours")["result"]["memories"][:1]
    assert (now["path"], now["eventId"]) == (JUDGE, said["eventId"])


def test_a_tool_that_opens_either_path_records_the_move_first(garden: Garden, session: Session) -> None:
    move_folder(garden, CRITIC, JUDGE)
    refused(session, "fs.append", "not_found", path=CRITIC_NOTES, text="More.")
    assert events_of(session, JUDGE_NOTES) == events_of(session, CRITIC_NOTES)[1:] == ["move committed"]
    remember(session, JUDGE, "judges")
    assert events_of(session, JUDGE) == ["move committed", "repair committed", "append_section committed"]


@pytest.mark.parametrize("edit", ["text", "id", "both"])
def test_a_document_edited_on_the_way_is_still_known(garden: Garden, session: Session, edit: str) -> None:
    move_folder(garden, CRITIC, JUDGE)
    if edit in {"text", "both"}:
        edit_outside(garden, JUDGE, "- counts the hours\n", "- counts the days\n")
    if edit in {"id", "both"}:
        edit_outside(garden, JUDGE, "id: critic\n", "id: judge\n")
    list(adopt(garden.services, "ada"))
    is_move = "move committed" in events_of(session, JUDGE)
    # With another id and another text it is another document.
    assert is_move == (edit != "both")
    assert "days" in file_of(garden, JUDGE).read_text() or edit == "id"
    if edit == "text":
        assert (
            "This save removed 1 line by companion." in rows(session, path=JUDGE, op="move")[0]["rationale"]
        )


@pytest.mark.usefixtures("session")
def test_many_files_cost_one_search_a_round(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    search, searches = HandMoves.search, list[str]()

    def counted(moves: HandMoves, user_id: str) -> FoundMoves:
        searches.append(user_id)
        return search(moves, user_id)

    monkeypatch.setattr(HandMoves, "search", counted)
    move_folder(garden, CRITIC, JUDGE)
    for number in range(4):
        put(garden, CRITIC_NOTES.replace("critic", f"new-{number}"), f"# New {number}\n".encode())
    list(adopt(garden.services, "ada"))
    assert searches == ["ada"]
    assert State.MOVED not in states(garden).values()


@pytest.mark.usefixtures("session")
def test_a_missing_document_whose_events_do_not_fit_hides_no_other(garden: Garden, database: str) -> None:
    tamper(
        database,
        f"update garden.events set splice_offsets = '{{9998,9999}}' where path = '{CRITIC}' and sequence = 2",
    )
    move_folder(garden, CRITIC, JUDGE)
    assert states(garden)[CRITIC] is State.MISSING
    assert states(garden)[JUDGE_NOTES] is State.MOVED


def test_a_copy_is_no_move(garden: Garden, session: Session) -> None:
    shutil.copytree(file_of(garden, CRITIC).parent, file_of(garden, JUDGE).parent)
    list(adopt(garden.services, "ada"))
    assert events_of(session, JUDGE) == ["external_edit committed"]
    shutil.rmtree(file_of(garden, CRITIC).parent)
    list(adopt(garden.services, "ada"))
    assert states(garden)[CRITIC] is State.MISSING


def test_a_document_with_two_candidates_stays_missing_and_status_names_them(
    garden: Garden, session: Session
) -> None:
    shutil.copytree(file_of(garden, CRITIC).parent, file_of(garden, JUDGE).parent)
    move_folder(garden, CRITIC, ARCHER)
    found = {each.path: each for each in status_of_user(garden.services, "ada")}
    assert found[CRITIC].state is State.MISSING
    assert f"{ARCHER}, {JUDGE}" in found[CRITIC].message
    list(adopt(garden.services, "ada"))
    assert "move committed" not in events_of(session, CRITIC)


def test_a_move_to_another_users_garden_is_not_adopted(garden: Garden, session: Session) -> None:
    put(garden, JUDGE_NOTES.replace("ada", "ben"), file_of(garden, CRITIC_NOTES).read_bytes())
    file_of(garden, CRITIC_NOTES).unlink()
    for user in ("ada", "ben"):
        list(adopt(garden.services, user))
    assert events_of(session, CRITIC_NOTES) == ["plant committed"]


def test_a_document_moved_there_and_back_and_then_deleted_is_missing(
    garden: Garden, session: Session
) -> None:
    for path, new_path in ((CRITIC_NOTES, JUDGE_NOTES), (JUDGE_NOTES, CRITIC_NOTES)):
        file_of(garden, new_path).parent.mkdir(exist_ok=True)
        file_of(garden, path).rename(file_of(garden, new_path))
        list(adopt(garden.services, "ada"))
    assert events_of(session, CRITIC_NOTES) == ["plant committed", "move committed", "move committed"]
    file_of(garden, CRITIC_NOTES).unlink()
    list(adopt(garden.services, "ada"))
    assert states(garden)[CRITIC_NOTES] is State.MISSING


@pytest.mark.parametrize("step", [Failpoint.LOCKED, Failpoint.HALF_SEALED, Failpoint.SEALED, Failpoint.BEGUN])
def test_a_move_by_hand_that_is_cut_off_is_completed(
    garden: Garden, session: Session, step: Failpoint
) -> None:
    move_folder(garden, CRITIC, JUDGE)

    def cut_off(reached: Failpoint) -> None:
        if reached is step:
            raise _GoneError

    with watch_failpoints(cut_off), pytest.raises(_GoneError):
        list(reconcile(garden.services, ["ada"]))
    list(reconcile(garden.services, ["ada"]))
    assert set(states(garden).values()) == {State.IN_STEP}
    for path in (CRITIC, JUDGE):
        assert events_of(session, path).count("move committed") == 1
    assert broken_promises(garden) == []


def test_a_tool_does_not_write_to_a_document_that_is_in_two_places(garden: Garden, session: Session) -> None:
    """What was deleted and is nowhere else stays missing, whatever the other documents hold."""
    plant(session, JUDGE_NOTES)
    file_of(garden, CRITIC_NOTES).unlink()
    refused(session, "fs.append", "document_damaged", path=CRITIC_NOTES, text="More.")
