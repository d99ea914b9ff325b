"""What `verify_user` finds, what it does not report falsely, and how it goes on after an interruption."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.history.faults import Part
from garden.history.verification import UserReport, verify_user
from garden.history.verify_progress import Resumption
from garden.session import Session
from garden.upkeep.reconciliation import finish_erasures
from tests.events.test_verifier import tamper
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, edit_outside, file_of, ok, plant, put, rows

PATCH = {"path": CRITIC, "sectionAnchor": "concerns v1"}
MOVED = CRITIC.replace("critic", "child")
HISTORY = "history/ada/parts/critic/profile"


@pytest.fixture
def ada(garden: Garden) -> Session:
    """Ada's garden, with copies of edits, of a snapshot and of a document that has moved."""
    session = garden.session("ada", "companion", role="maintainer")
    plant(session, OVERVIEW, NOTES, CRITIC)
    for word in ("one", "one, and two", "three"):
        ok(session, "md.patch_section", **PATCH, change={"replace": f"- She said {word}"})
        ok(session, "fs.append", path=NOTES, text=f"She said {word}.")
    ok(session, "md.snapshot_history", path=NOTES)
    return session


def found(garden: Garden) -> list[tuple[str, str]]:
    """The part and the message of every fault of Ada."""
    return [(fault.part, fault.message) for fault in verify_user(garden.services, "ada").faults]


def copies(garden: Garden, folder: str = HISTORY) -> list[Path]:
    return sorted((garden.home.path / folder).glob("*.md"))


@pytest.mark.usefixtures("ada")
def test_a_clean_garden_holds_with_every_document_and_event_counted(garden: Garden) -> None:
    report = verify_user(garden.services, "ada")
    assert (report.holds, report.documents, report.faults) == (True, 3, ())
    assert report.events == 10


def test_moves_outside_edits_and_failed_edits_hold(garden: Garden, ada: Session) -> None:
    old, new = (f"users/ada/parts/{part}/notes.md" for part in ("critik", "critic"))
    plant(ada, old)
    ok(ada, "md.patch_section", path=old, sectionAnchor="inbox v1", change={"replace": "words"})
    ok(ada, "fs.move", path=old, newPath=new)
    plant(ada, old)
    ok(ada, "md.patch_section", path=old, sectionAnchor="inbox v1", change={"replace": "words"})
    edit_outside(garden, CRITIC, "- She said three", "- By hand")
    ok(ada, "md.patch_section", **PATCH, change={"append": "- four"})
    file_of(garden, CRITIC).write_bytes(b"")
    assert [part for part, _ in found(garden)] == [Part.OUTSIDE]
    assert not ada.call("md.patch_section", {**PATCH, "change": {"append": "- five"}})["ok"]
    assert found(garden) == []


def test_copies_hold_what_the_events_give_after_an_erasure(garden: Garden, ada: Session) -> None:
    for text in ("She said one, and", "said three"):
        ok(ada, "garden.erase", text=text, reason="She asked for it.")
        assert found(garden) == []
    before = {copy: copy.read_bytes() for copy in copies(garden)}
    # The first copy held only a part of the passage, which the events have lost too.
    assert not any(b"said one" in content for content in before.values())
    ok(ada, "garden.erase", path=CRITIC, reason="She asked for it.")
    assert not copies(garden)
    assert found(garden) == []
    [gone, *_] = before
    gone.parent.mkdir(parents=True, exist_ok=True)
    gone.write_bytes(before[gone] + b"She said one\n")
    assert [part for part, _ in found(garden)] == [Part.COPY]


@pytest.mark.parametrize("last", [Failpoint.BEGUN, Failpoint.KEPT, Failpoint.WRITTEN])
def test_an_open_change_holds_until_a_person_edits_the_file_too(
    garden: Garden, ada: Session, last: Failpoint
) -> None:
    class GoneError(BaseException):
        pass

    def go(step: Failpoint) -> None:
        if step is last:
            raise GoneError

    with watch_failpoints(go), pytest.raises(GoneError):
        ada.call("md.patch_section", {**PATCH, "change": {"append": "- four"}})
    assert found(garden) == []
    with file_of(garden, CRITIC).open("a") as opened:
        opened.write("by hand\n")
    assert Part.OUTSIDE in [part for part, _ in found(garden)]


def test_what_a_running_service_writes_meanwhile_is_no_fault(garden: Garden, ada: Session) -> None:
    def write(path: str, _events: int) -> None:
        if not path:
            ok(ada, "md.patch_section", **PATCH, change={"append": "- four"})
            ok(ada, "md.snapshot_history", path=OVERVIEW)
            ok(ada, "md.plant", path=MOVED)
            ok(ada, "garden.erase", text="said three", reason="She asked for it.")

    assert verify_user(garden.services, "ada", on_document=write).faults == ()


@pytest.mark.usefixtures("ada")
def test_files_that_differ_are_missing_or_were_begun_outside_are_named(garden: Garden) -> None:
    file_of(garden, OVERVIEW).unlink()
    edit_outside(garden, NOTES, "She said one.", "She said nothing.")
    put(garden, MOVED, b"# Another\n")
    faults = verify_user(garden.services, "ada").faults
    assert [(fault.part, fault.place) for fault in faults] == [
        (Part.OUTSIDE, NOTES),
        (Part.FILE, OVERVIEW),
        (Part.OUTSIDE, MOVED),
    ]
    assert "garden restore" in faults[1].hint
    assert "garden reconcile" in faults[0].hint


@pytest.mark.usefixtures("ada")
def test_links_in_place_of_folders_are_reported_and_not_followed(garden: Garden) -> None:
    for top in ("users", "history"):
        folder = garden.home.path / top / "ada/parts"
        folder.rename(elsewhere := garden.home.path.parent / f"{top}-elsewhere")
        folder.symlink_to(elsewhere)
    parts = [part for part, _ in found(garden)]
    assert parts == [Part.COPY] * 3 + [Part.FILE]


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("place", [HISTORY, "history/ada/notes"], ids=["of an edit", "of a snapshot"])
def test_a_copy_that_was_edited_deleted_or_swapped_is_found(garden: Garden, place: str) -> None:
    [copy, *others] = copies(garden, place)
    content = copy.read_bytes()
    for forged in (content + b"forged\n", others[0].read_bytes() if others else b"", b"\xff", None):
        copy.write_bytes(forged) if forged is not None else copy.unlink()
        [fault] = verify_user(garden.services, "ada").faults
        assert (fault.part, garden.home.path / fault.place) == (Part.COPY, copy)
        assert str(fault.event_id) in copy.name
    copy.write_bytes(content)
    assert found(garden) == []


@pytest.mark.usefixtures("ada")
def test_a_copy_that_no_event_left_is_found_unless_it_holds_a_version(garden: Garden) -> None:
    planted = copies(garden)[0]
    planted = planted.with_name(planted.name.replace("-0", "-1").replace("2026", "2025"))
    planted.write_bytes(b"never\n")
    put(garden, f"history/ada/parts/none/notes/{planted.name}", b"never\n")
    assert [message for _, message in found(garden)] == ["no event left it, and it holds no version"] * 2
    # As an interrupted snapshot leaves it.
    planted.write_bytes(copies(garden)[-1].read_bytes())
    assert len(found(garden)) == 1


def test_reading_a_forged_copy_warns_and_shows_the_text(garden: Garden, ada: Session) -> None:
    for copy in (*copies(garden), *copies(garden, "history/ada/notes")):
        path = str(copy.relative_to(garden.home.path))
        assert ok(ada, "fs.read", path=path)["meta"]["warnings"] == []
        with copy.open("a") as opened:
            opened.write("- forged\n")
        answer = ok(ada, "fs.read", path=path)
        assert answer["result"].endswith("- forged\n")
        [warning] = answer["meta"]["warnings"]
        assert warning.startswith("This copy is not what event ")
        other = rows(ada, path=OVERVIEW)[0]["eventId"]
        foreign = copy.with_name(f"{copy.name[:-39]}{other}.md")
        copy.rename(foreign)
        [warning] = ok(ada, "fs.read", path=str(foreign.relative_to(garden.home.path)))["meta"]["warnings"]
        assert warning.startswith("No event left this copy")


@pytest.fixture
def resumption(garden: Garden, ada: Session) -> Iterator[Resumption]:
    """What a run left that was interrupted after the last document of Ada."""
    ok(ada, "fs.append", path=NOTES, text="Later.")
    run = verify(garden, interrupted := begin(garden))
    assert (run.resumed, run.holds) == (0, True)
    interrupted.save()
    yield interrupted
    interrupted.remove()


def begin(garden: Garden, *, restart: bool = False) -> Resumption:
    return Resumption(garden.home.state / "verify.json", garden.keys(), restart=restart)


def verify(garden: Garden, resumption: Resumption) -> UserReport:
    return verify_user(garden.services, "ada", resumption)


@pytest.mark.usefixtures("resumption")
def test_the_next_run_goes_on_where_one_was_interrupted(garden: Garden, ada: Session) -> None:
    assert verify(garden, begin(garden)).resumed == 3
    assert verify(garden, begin(garden, restart=True)).resumed == 0
    ok(ada, "fs.append", path=NOTES, text="New.")
    again = verify(garden, begin(garden))
    assert (again.resumed, again.holds) == (2, True)


@pytest.mark.parametrize(
    "command",
    [
        f"update garden.events set rationale = 'x' where path = '{CRITIC}' and sequence = 2",
        f"delete from garden.events where path = '{CRITIC}' and sequence = 2",
        f"update garden.documents set seal = sha256('x') where path = '{CRITIC}'",
        "delete from garden.feed where position = 2",
    ],
)
@pytest.mark.usefixtures("resumption")
def test_what_was_changed_after_an_interrupted_run_is_found(
    garden: Garden, database: str, command: str
) -> None:
    tamper(database, command)
    assert not verify(garden, begin(garden)).holds


@pytest.mark.usefixtures("resumption")
def test_files_changed_after_an_interrupted_run_are_found(garden: Garden) -> None:
    copies(garden)[0].write_bytes(b"forged")
    file_of(garden, NOTES).write_bytes(b"forged")
    faults = verify(garden, begin(garden)).faults
    assert [fault.part for fault in faults] == [Part.OUTSIDE, Part.COPY]


def test_copies_that_an_open_erasure_keeps_from_being_compared_are_compared_later(
    garden: Garden, ada: Session
) -> None:
    class GoneError(BaseException):
        pass

    def go(step: Failpoint) -> None:
        if step is Failpoint.NOTES_ERASED:
            raise GoneError

    ok(ada, "events.log", type="observation", rationale="The key is under the stone.")
    copies(garden)[0].write_bytes(b"forged")
    with watch_failpoints(go), pytest.raises(GoneError):
        ada.call("garden.erase", {"text": "key is under the stone", "reason": "She asked for it."})
    interrupted = begin(garden)
    assert [fault.part for fault in verify(garden, interrupted).faults] == [Part.UNFINISHED]
    interrupted.save()
    list(finish_erasures(garden.services))
    assert [fault.part for fault in verify(garden, begin(garden)).faults] == [Part.COPY]


@pytest.mark.usefixtures("resumption")
def test_a_forged_note_of_progress_counts_for_nothing(garden: Garden) -> None:
    file = garden.home.state / "verify.json"
    file.write_text(re.sub('"seal": "..', '"seal": "00', file.read_text()))
    assert verify(garden, begin(garden)).resumed == 0
