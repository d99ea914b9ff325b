import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.session import Session
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.status import State, status_of_user
from tests.support.gardens import CRITIC, events_of, file_of, ok, plant, refused, result, rows

OLD = "users/ada/parts/critik/notes.md"
NEW = "users/ada/parts/critic/notes.md"


class _GoneError(BaseException):
    pass


@pytest.fixture
def operator(garden: Garden) -> Session:
    """A maintainer's session, and a document in the wrong place."""
    session = garden.session("ada", "operator", role="maintainer")
    plant(session, OLD)
    ok(session, "md.patch_section", path=OLD, sectionAnchor="inbox v1", change={"replace": "words"})
    return session


def test_a_move_is_answered_with_ok(garden: Garden, operator: Session) -> None:
    before = file_of(garden, OLD).read_bytes()
    assert result(operator, "fs.move", path=OLD, newPath=NEW, rationale="A typing error.") == {"ok": True}
    assert file_of(garden, NEW).read_bytes() == before
    assert not file_of(garden, OLD).exists()


def test_both_paths_have_an_event_of_a_move(operator: Session) -> None:
    envelope = ok(operator, "fs.move", path=OLD, newPath=NEW, rationale="A typing error.")
    assert events_of(operator, OLD)[-1] == "move committed"
    assert events_of(operator, NEW) == ["move committed"]
    left, arrived = rows(operator, path=OLD)[0], rows(operator, path=NEW)[0]
    assert left["eventId"] == envelope["meta"]["eventId"]
    assert left["edit"]["toPath"] == NEW
    assert arrived["edit"] == {"kind": "move", "fromPath": OLD}
    assert {left["rationale"], arrived["rationale"]} == {"A typing error."}


def test_the_history_stays_where_it_is(operator: Session) -> None:
    copies = result(operator, "fs.list", path="history/ada/parts/critik/notes")
    ok(operator, "fs.move", path=OLD, newPath=NEW)
    assert copies
    assert result(operator, "fs.list", path="history/ada/parts/critik/notes") == copies


def test_a_move_never_overwrites(garden: Garden, operator: Session) -> None:
    plant(operator, NEW)
    before = file_of(garden, NEW).read_bytes()
    refused(operator, "fs.move", "already_exists", path=OLD, newPath=NEW)
    refused(operator, "fs.move", "already_exists", path=OLD, newPath=OLD)
    assert file_of(garden, NEW).read_bytes() == before


def test_a_missing_document_is_not_moved(operator: Session) -> None:
    refused(operator, "fs.move", "not_found", path=NEW, newPath=OLD)
    refused(operator, "fs.move", "not_found", path=NEW, newPath="users/ada/notes.md")


def test_the_frontmatter_has_to_fit_the_new_path(garden: Garden, operator: Session) -> None:
    plant(operator, CRITIC)
    other = "users/ada/parts/child/profile.md"
    refused(operator, "fs.move", "identity_changed", path=CRITIC, newPath=other)
    assert file_of(garden, CRITIC).exists()


@pytest.mark.parametrize(
    "path", ["users/ben/parts/critic/notes.md", "users/ada/diary.md", "history/ada/notes"]
)
def test_a_move_leads_only_to_allowed_paths_of_the_same_user(operator: Session, path: str) -> None:
    refused(operator, "fs.move", "path_not_allowed", path=OLD, newPath=path)


def test_a_move_takes_if_match(operator: Session) -> None:
    known = result(operator, "fs.hash", path=OLD)
    ok(operator, "fs.append", path=OLD, text="more")
    refused(operator, "fs.move", "precondition_failed", path=OLD, newPath=NEW, ifMatch=known)


def test_a_dry_run_moves_nothing(garden: Garden, operator: Session) -> None:
    events = len(rows(operator))
    assert ok(operator, "fs.move", path=OLD, newPath=NEW, dryRun=True)["meta"]["dryRun"]
    assert file_of(garden, OLD).exists()
    assert len(rows(operator)) == events


def test_a_move_sent_twice_is_one_move(operator: Session) -> None:
    first = ok(operator, "fs.move", path=OLD, newPath=NEW, idempotencyKey="mine")
    again = ok(operator, "fs.move", path=OLD, newPath=NEW, idempotencyKey="mine")
    assert again["meta"]["replayed"]
    assert again["meta"]["eventId"] == first["meta"]["eventId"]
    refused(operator, "fs.move", "not_found", path=OLD, newPath=NEW)


def test_a_document_can_be_moved_back_and_begun_where_one_was(operator: Session) -> None:
    ok(operator, "fs.move", path=OLD, newPath=NEW)
    ok(operator, "fs.move", path=NEW, newPath=OLD)
    ok(operator, "md.plant", path=NEW)
    assert events_of(operator, NEW) == ["move committed", "move committed", "plant committed"]


def test_a_document_moves_to_a_path_of_its_own_kind_only(garden: Garden) -> None:
    keeper = garden.session("ada", role="maintainer")
    plant(keeper, OLD)
    error = refused(
        keeper, "fs.move", "invalid_input", path=OLD, newPath=OLD.replace("notes.md", "profile.md")
    )
    assert error["message"] == "The document is of the kind notes, the new path is for part_profile."


def test_a_document_deleted_during_an_interrupted_move_is_missing_in_status(
    garden: Garden, operator: Session
) -> None:
    asked = {"path": OLD, "newPath": NEW, "idempotencyKey": "the same"}

    def gone(step: Failpoint) -> None:
        if step is Failpoint.BEGUN:
            raise _GoneError

    with watch_failpoints(gone), pytest.raises(_GoneError):
        operator.call("fs.move", asked)
    file_of(garden, OLD).unlink()
    list(reconcile(garden.services, ["ada"]))
    assert events_of(operator, OLD)[-1] == events_of(operator, NEW)[-1] == "move failed"
    [lost] = [each for each in status_of_user(garden.services, "ada") if each.state is State.MISSING]
    assert lost.path == OLD
    refused(operator, "fs.move", "document_damaged", **asked)
    ok(operator, "md.restore", path=OLD, version=2)
    ok(operator, "fs.move", **asked)


def test_a_preview_of_a_move_that_was_cut_off_is_its_replay(operator: Session) -> None:
    def cut_off(failpoint: Failpoint) -> None:
        if failpoint is Failpoint.WRITTEN:
            raise _GoneError

    move = {"path": OLD, "newPath": NEW, "toolCallId": "call-1"}
    with watch_failpoints(cut_off), pytest.raises(_GoneError):
        operator.call("fs.move", move)
    preview = ok(operator, "fs.move", **move, dryRun=True)["meta"]
    done = ok(operator, "fs.move", **move)["meta"]
    assert (preview["eventId"], preview["effectStands"]) == (done["eventId"], done["effectStands"])
    assert done["effectStands"]
