from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.records import JOURNAL, Statement
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.home.keys import rotate_keys
from garden.session import Session
from garden.transfer.imports import import_file
from garden.upkeep.reconciliation import finish_erasures, rebuild_heads, reconcile
from garden.upkeep.status import status_of_user
from garden.writing.erased_text import ERASED_WORDS, OLD_COPY
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    edit_outside,
    file_of,
    ok,
    out_of_step,
    plant,
    put,
    refused,
    result,
    rows,
)
from tests.support.stored import dump, everything, texts_of

WORDS = "the Harbour key is under the third stone"
PARTS = ("- Keep in mind: the harbour", " key is under\tthe", " Third stone, she said.")
REASON = "Told in confidence."
ANCHORS = {NOTES: "summaries v1", CRITIC: "needs v1"}


@pytest.fixture
def operator(garden: Garden) -> Session:
    return garden.session("ada", "operator", role="maintainer")


@pytest.fixture
def ada(garden: Garden) -> Session:
    """Ada's companion, which has written the words everywhere."""
    session = garden.session("ada", "companion")
    plant(session, CRITIC, NOTES)
    patch = {"path": CRITIC, "sectionAnchor": "concerns v1"}
    body = ""
    for part in PARTS:
        body += part
        ok(session, "md.patch_section", **patch, change={"replace": body}, rationale=f"She said {body}.")
    ok(session, "fs.append", path=NOTES, text=f"Noted: {WORDS.upper()}.", idempotencyKey="k1")
    ok(session, "md.patch_section", **patch, change={"replace": "- Keep in mind: the weather"})
    ok(session, "md.snapshot_history", path=NOTES)
    ok(
        session,
        "events.log",
        type="observation",
        rationale=f"I noticed that {WORDS}",
        details={WORDS: [WORDS]},
    )
    edit_outside(garden, NOTES, "Noted", "By hand")
    return session


def erase(session: Session, /, **args: object) -> dict[str, Any]:
    """Erase, and return the result."""
    done: dict[str, Any] = result(session, "garden.erase", reason=REASON, **args)
    return done


def faults(garden: Garden) -> list[str]:
    return [fault.message for fault in garden.services.verifier.check_user("ada").faults]


@pytest.mark.usefixtures("ada")
def test_a_passage_leaves_every_place(garden: Garden, operator: Session, database: str) -> None:
    preview = erase(operator, text=WORDS, preview=True)
    assert "tombstone" not in preview
    assert out_of_step(garden) == [f"{NOTES}: the file is not version 2"]
    done = erase(operator, text=WORDS)
    assert done["places"] == preview["places"]
    assert {(each["what"], each["path"]) for each in done["places"]} == {
        ("file", NOTES), ("version", NOTES), ("copy", NOTES), ("event", NOTES), ("note", NOTES),
        ("answer", NOTES), ("file", CRITIC), ("version", CRITIC), ("copy", CRITIC), ("event", CRITIC),
        ("answer", CRITIC), ("note", None),
    }  # fmt: skip
    assert "third stone" not in everything(garden, database)
    assert out_of_step(garden) == []
    assert file_of(garden, NOTES).read_text().count("By hand: .") == 1
    assert "the weather" in file_of(garden, CRITIC).read_text()
    newest, *earlier = rows(operator, path=NOTES)
    [append] = [row for row in earlier if row["tool"] == "fs.append"]
    assert (newest["op"], newest["erased"]) == ("erase", ["edit", "splices", "hashes"])
    assert "Noted: xxxxxx" in append["splices"][0]["inserted"]


@pytest.mark.usefixtures("ada")
def test_a_document_goes_with_its_history_and_its_earlier_paths(
    garden: Garden, operator: Session, database: str
) -> None:
    moved = "users/ada/parts/critic/notes.md"
    ok(operator, "fs.move", path=NOTES, newPath=moved)
    erase(operator, path=moved)
    assert not file_of(garden, moved).exists()
    assert not (garden.home.path / "history/ada/notes").exists()
    assert "by hand" not in everything(garden, database)
    assert "weather" in everything(garden, database)
    assert faults(garden) == []
    refused(operator, "md.restore", "erased", path=moved, version=1)
    ok(operator, "md.plant", path=moved)
    assert out_of_step(garden) == []


@pytest.mark.usefixtures("ada")
def test_an_earlier_path_with_another_document_is_named(operator: Session) -> None:
    moved = "users/ada/parts/critic/notes.md"
    ok(operator, "fs.move", path=NOTES, newPath=moved)
    ok(operator, "md.plant", path=NOTES)
    (warning,) = ok(operator, "garden.erase", path=moved, reason=REASON)["meta"]["warnings"]
    assert f"was at {NOTES} before" in warning


@pytest.mark.parametrize("thing", ["bytes", "link"])
@pytest.mark.usefixtures("ada")
def test_what_no_tool_can_read_keeps_nothing_from_being_erased(
    garden: Garden, operator: Session, database: str, thing: str
) -> None:
    file, target = file_of(garden, NOTES), garden.home.path / "elsewhere.md"
    target.write_text("not hers")
    file.unlink()
    file.symlink_to(target) if thing == "link" else file.write_bytes(b"\xff\xfe")
    done = ok(operator, "garden.erase", text=WORDS, reason=REASON)
    assert {"unreadable", "version"} <= {each["what"] for each in done["result"]["places"]}
    assert [NOTES in each for each in done["meta"]["warnings"]] == [True]
    assert file.is_symlink() or file.read_bytes() == b"\xff\xfe"
    assert "unreadable" not in {each["what"] for each in erase(operator, text=WORDS, path=CRITIC)["places"]}
    assert "unreadable" in {each["what"] for each in erase(operator, path=NOTES)["places"]}
    assert not file.is_symlink()
    assert not file.exists()
    assert WORDS not in everything(garden, database)
    assert target.read_text() == "not hers"
    erase(operator, everything=True)
    assert faults(garden) == []


@pytest.mark.usefixtures("ada")
def test_a_user_goes_with_notes_answers_tokens_and_folders(
    garden: Garden, operator: Session, database: str
) -> None:
    garden.tokens.create("ada", role="agent", actor="companion", expires_at=None)
    put(garden, "users/ada/parts/critic/photo.txt", b"hers")
    put(garden, "users/ada/.new-notes.md-0123456789abcdef", WORDS.encode())
    places = {each["what"]: each["count"] for each in erase(operator, everything=True)["places"]}
    assert (places["stray"], places["other"]) == (1, 1)
    assert texts_of(garden) == {"users/ada/parts/critic/photo.txt": "hers"}
    assert not (garden.home.path / "history/ada").exists()
    left = everything(garden, database)
    for words in ("harbour", "weather", "noticed", "she said"):
        assert words not in left
    assert faults(garden) == []
    assert [each.revoked_at is None for each in garden.tokens.list("ada")] == [False]


@pytest.mark.parametrize(
    "args", [{}, {"everything": True, "text": WORDS}, {"text": "of"}, {"text": "told in Confidence"}]
)
def test_a_request_that_names_nothing_or_too_little_is_refused(
    operator: Session, args: dict[str, object]
) -> None:
    refused(operator, "garden.erase", "invalid_input", reason=REASON, **args)


def test_only_maintainers_erase(ada: Session) -> None:
    refused(ada, "garden.erase", "permission_denied", text=WORDS, reason=REASON)


def test_words_that_were_never_written_leave_no_tombstone(operator: Session, database: str) -> None:
    plant(operator, OVERVIEW)
    assert erase(operator, text=WORDS) == {"places": [], "events": 0, "bytes": 0}
    with connection(database) as opened:
        assert opened.execute("select from garden.erasures").fetchall() == []


def test_a_secret_that_a_person_wrote_is_erased(garden: Garden, operator: Session, database: str) -> None:
    token = "ghp_" + "a1B2c3" * 6
    plant(operator, NOTES)
    edit_outside(garden, NOTES, "inbox v1 -->\n", f"inbox v1 -->\n\nThe key is {token}!\n")
    erase(operator, text=token)
    assert "The key is !" in file_of(garden, NOTES).read_text()
    assert "a1b2c3" not in everything(garden, database)


def test_an_anchor_is_not_erased(garden: Garden, operator: Session) -> None:
    plant(operator, OVERVIEW)
    before = file_of(garden, OVERVIEW).read_bytes()
    refused(operator, "garden.erase", "anchor_changed", text="@anchor: summary", reason=REASON)
    assert file_of(garden, OVERVIEW).read_bytes() == before
    assert rows(operator, path=OVERVIEW)[0]["op"] != "erase"


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("update garden.erasures set reason = 'other'", "the tombstone of an erasure was changed"),
        ("update garden.erased_rows set version_hash = null", "what an erasure left of it was changed"),
        (
            "update garden.events set rationale = 'other' where rationale like '%[erased]%'",
            "what an erasure left of it was changed",
        ),
        ("delete from garden.erased_rows", "its words are gone, and no erasure says so"),
        ("delete from garden.erasures", "it took words out of events, and its tombstone is gone"),
    ],
)
def test_what_is_left_is_sealed(
    garden: Garden, operator: Session, database: str, change: str, message: str
) -> None:
    erase(operator, text=WORDS)
    with connection(database) as opened, opened.transaction():
        opened.execute("set local session_replication_role = replica")
        opened.execute(change.encode())
    assert message in faults(garden)


@pytest.mark.usefixtures("ada")
def test_an_erasure_that_only_the_database_asks_for_is_refused(
    garden: Garden, operator: Session, database: str
) -> None:
    erase(operator, text="Keep in mind")
    with connection(database) as opened:
        opened.execute("set session_replication_role = replica")
        opened.execute(
            "insert into garden.erasures (user_id, erasure_id, kind, reason, actor, role, created_at, seal,"
            " seal_salt_version) select user_id, gen_random_uuid(), 'user', reason, actor, role, created_at,"
            " seal, seal_salt_version from garden.erasures"
        )
    (found,) = (each for each in reconcile(garden.services, ["ada"]) if each.path == "users/ada")
    assert (found.outcome, "not as it was asked for" in found.message) == ("refused", True)
    refused(operator, "garden.erase", "unavailable", text=WORDS, reason=REASON)
    assert "third stone" in everything(garden, database)


@pytest.mark.usefixtures("ada")
def test_a_second_erasure_takes_more_from_the_same_events(
    garden: Garden, operator: Session, database: str
) -> None:
    erase(operator, text=WORDS)
    erase(operator, text="Keep in mind")
    assert "in mind" not in everything(garden, database)
    assert out_of_step(garden) == []
    assert len(garden.services.verifier.check_user("ada").erasures) == 2


def test_words_that_come_during_an_erasure_go_as_well(
    garden: Garden, operator: Session, ada: Session
) -> None:
    """A short passage has no fingerprint that would refuse them."""
    for path in (NOTES, CRITIC):
        ok(ada, "md.patch_section", path=path, sectionAnchor=ANCHORS[path], change={"append": "- Saw Ann."})
    erased: list[Failpoint] = []

    def write_once(reached: Failpoint) -> None:
        if reached is Failpoint.EVENTS_ERASED:
            erased.append(reached)
            if len(erased) == 2:
                ok(ada, "fs.append", path=NOTES, text="Saw Ann again.")

    with watch_failpoints(write_once):
        erase(operator, text="Ann")
    assert len(erased) == 3
    assert all("Ann" not in text for text in texts_of(garden).values())
    assert out_of_step(garden) == []


@pytest.mark.usefixtures("ada")
def test_an_erasure_that_meets_trouble_is_finished_later(garden: Garden, operator: Session) -> None:
    with file_of(garden, CRITIC).open("r+"):
        error = refused(operator, "garden.erase", "unavailable", text=WORDS, reason=REASON)
        assert "has begun and is not finished: Another program has this file open" in error["message"]
        assert [each.outcome for each in reconcile(garden.services, ["ada"])] == ["refused"]
    assert [each.outcome for each in reconcile(garden.services, ["ada"])] == ["finished"]
    assert erase(operator, text=WORDS)["places"] == []
    assert out_of_step(garden) == []


def test_an_erasure_waits_for_a_note_that_was_begun_before(
    garden: Garden, ada: Session, operator: Session
) -> None:
    about = UUID(rows(ada, path=NOTES)[0]["eventId"])
    with file_of(garden, NOTES).open("r+"):
        refused(operator, "garden.erase", "unavailable", path=NOTES, text=WORDS, reason=REASON)
    with garden.services.store.document(ada.caller, JOURNAL) as journal:
        assert [each.outcome for each in finish_erasures(garden.services)] == ["busy"]
        journal.annotate(about, Statement(type="observation", op="note", tool="events.log", rationale=WORDS))
    assert [each.outcome for each in finish_erasures(garden.services)] == ["finished"]
    [row] = rows(ada, eventId=str(about))
    assert [each["rationale"] for each in row["annotations"]] == ["[erased]"]


@pytest.mark.usefixtures("ada")
def test_a_head_is_rebuilt_around_gaps(garden: Garden, operator: Session, database: str) -> None:
    erase(operator, text=WORDS)
    before = garden.services.reader.head("ada", CRITIC)
    with connection(database) as opened:
        opened.execute("update garden.documents set seal = sha256('forged') where path <> ''")
    assert {each.outcome for each in rebuild_heads(garden.services, "ada")} == {"made again"}
    assert garden.services.reader.head("ada", CRITIC) == before


class TestErasedWords:
    """They do not come back."""

    @pytest.fixture(autouse=True)
    def old(self, garden: Garden, operator: Session, ada: Session) -> bytes:
        """A file from before the erasure."""
        ok(ada, "fs.append", path=NOTES, text="Before.")
        old = file_of(garden, NOTES).read_bytes()
        erase(operator, text=WORDS)
        return old

    @pytest.mark.parametrize(
        ("tool", "args"),
        [
            ("fs.append", {"path": NOTES, "text": f"Again: {WORDS.upper()}"}),
            ("fs.append", {"path": NOTES, "text": "the key is under the third stone"}),
            ("fs.append", {"path": NOTES, "text": "Fine.", "rationale": WORDS}),
            ("fs.append", {"path": NOTES, "text": f"Noted: {WORDS.upper()}.", "idempotencyKey": "k1"}),
            ("fs.append", {"path": NOTES, "text": WORDS, "dryRun": True}),
            ("events.log", {"type": "observation", "details": {"saw": [WORDS]}}),
            ("md.snapshot_history", {"path": NOTES, "rationale": WORDS}),
            ("garden.erase", {"path": NOTES, "reason": f"She said {WORDS}"}),
            ("fs.ensure_dir", {"path": "users/ada/parts/new", "rationale": WORDS}),
            ("fs.append", {"path": NOTES, "text": "Fine.", "transactionId": WORDS}),
            ("fs.append", {"path": NOTES, "text": "Fine.", "idempotencyKey": WORDS}),
            ("events.log", {"type": "observation", "sectionAnchor": WORDS}),
        ],
    )
    def test_a_call_that_brings_them_is_refused(
        self, garden: Garden, operator: Session, tool: str, args: dict[str, object], database: str
    ) -> None:
        refused(operator, tool, "erased", **args)
        garden.services.calls.flush()
        assert "third stone" not in everything(garden, database)

    def test_they_are_recognised_when_another_key_signs(self, garden: Garden, ada: Session) -> None:
        rotate_keys(garden.settings, garden.home)
        refused(ada, "fs.append", "erased", path=NOTES, text=WORDS)

    def test_other_words_are_welcome(self, ada: Session) -> None:
        ok(ada, "fs.append", path=NOTES, text="The key is not under a stone.", rationale="She said so.")

    def test_an_edit_that_completes_them_is_refused(self, garden: Garden, ada: Session) -> None:
        ok(ada, "fs.append", path=NOTES, text="the key is under")
        number = file_of(garden, NOTES).read_text().splitlines().index("the key is under") + 1
        diff = f"@@ -{number} +{number} @@\n-the key is under\n+the key is under the third stone\n"
        refused(ada, "fs.patch", "erased", path=NOTES, diffText=diff)

    def test_a_keyed_request_whose_answer_went_is_not_carried_out_twice(
        self, garden: Garden, ada: Session, operator: Session
    ) -> None:
        entry = {"path": NOTES, "text": "An innocent entry.", "idempotencyKey": "k2"}
        ok(ada, "fs.append", path=NOTES, text="told at noon")
        ok(ada, "fs.append", **entry)
        erase(operator, text="told at noon")
        refused(ada, "fs.append", "idempotency_conflict", **entry)
        assert file_of(garden, NOTES).read_text().count("An innocent entry.") == 1
        ok(ada, "fs.append", **{**entry, "idempotencyKey": "k3"})

    def test_a_restored_version_has_a_gap(self, garden: Garden, operator: Session) -> None:
        ok(operator, "md.restore", path=CRITIC, version=4)
        assert "in mind: xxx" in file_of(garden, CRITIC).read_text()

    def test_an_old_copy_stays_on_the_disk_and_is_reported(
        self, garden: Garden, ada: Session, operator: Session, old: bytes, database: str
    ) -> None:
        put(garden, NOTES, old)
        refused(ada, "fs.append", "erased", path=NOTES, text="More.")
        refused(ada, "fs.append", "erased", path=NOTES, text="More.", dryRun=True)
        (found,) = reconcile(garden.services, ["ada"])
        assert (found.path, found.outcome) == (NOTES, "needs a person")
        assert "old copy" in found.message
        assert [each.message for each in status_of_user(garden.services, "ada") if not each.in_step] == [
            OLD_COPY
        ]
        assert file_of(garden, NOTES).read_bytes() == old
        assert "third stone" not in " ".join(dump(database).casefold().split())
        erase(operator, text=WORDS)
        assert "third stone" not in everything(garden, database)
        assert out_of_step(garden) == []

    def test_words_that_a_person_writes_again_are_kept_and_reported(
        self, garden: Garden, ada: Session
    ) -> None:
        edit_outside(garden, NOTES, "By hand", f"By hand: {WORDS}")
        envelope = ok(ada, "fs.append", path=NOTES, text="More.")
        assert ERASED_WORDS in envelope["meta"]["warnings"]
        assert WORDS in file_of(garden, NOTES).read_text()

    def test_an_older_export_is_not_imported(
        self, garden: Garden, operator: Session, old: bytes, folder: Path
    ) -> None:
        erase(operator, path=NOTES)
        file = folder / "export/ada/notes.md"
        file.parent.mkdir(parents=True)
        file.write_bytes(old)
        assert import_file(garden.services, folder / "export", file, "operator").code == "erased"
        file.write_text(file.read_text().replace(WORDS.upper(), "Nothing"))
        assert import_file(garden.services, folder / "export", file, "operator").outcome == "imported"


def test_a_damaged_document_can_be_repaired_after_an_erasure(
    garden: Garden, operator: Session, ada: Session
) -> None:
    edit_outside(garden, NOTES, "<!-- @anchor: summaries v1 -->\n", "")
    erase(operator, text=WORDS, path=NOTES)
    refused(ada, "fs.append", "document_damaged", path=NOTES, text="Slept well.")
    mended = result(operator, "md.repair", path=NOTES)["mended"]
    assert mended == ["the anchor 'summaries v1' under 'Summaries'"]
    ok(ada, "fs.append", path=NOTES, text="Slept well.")
