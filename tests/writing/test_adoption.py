from collections.abc import Iterator
from typing import Any

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.session import Session
from garden.upkeep.reconciliation import adopt
from garden.upkeep.status import State
from tests.support.gardens import (
    CRITIC,
    NOTES,
    edit_outside,
    events_of,
    file_of,
    ok,
    out_of_step,
    plant,
    put,
    refused,
    result,
    rows,
)

ANCHOR = "<!-- @anchor: needs v1 -->\n"
PATCH = {"path": CRITIC, "sectionAnchor": "concerns v1", "change": {"replace": "- Rest"}}


def _edits(path: str) -> list[tuple[str, dict[str, Any]]]:
    """One call of every tool that edits a profile."""
    return [
        ("fs.append", {"path": path, "text": "a"}),
        ("fs.write", {"path": path, "content": "a"}),
        ("fs.patch", {"path": path, "diffText": "@@ -1,1 +1,1 @@\n-a\n+b\n"}),
        ("md.patch_section", {**PATCH, "path": path}),
        (
            "md.curate_list",
            {"path": path, "sectionAnchor": "needs", "ops": "append", "items": ["a"], "reason": "b"},
        ),
    ]


def test_an_outside_edit_is_recorded_before_the_next_write(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    known = result(ada, "fs.hash", path=CRITIC)
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    found = result(ada, "fs.hash", path=CRITIC)
    envelope = ok(ada, "md.patch_section", **PATCH)
    newest, adopted, planted = rows(ada, path=CRITIC)
    assert (newest["op"], planted["op"]) == ("replace_section", "plant")
    told = {
        "type": "external_edit", "op": "external_edit", "status": "committed", "actor": "external",
        "beforeHash": known, "afterHash": found, "documentVersion": 2,
    }  # fmt: skip
    assert {key: adopted[key] for key in told} == told
    assert adopted["splices"] == [{"offset": 45, "removed": "Part", "inserted": "The Critic"}]
    assert envelope["meta"]["adoptedEventId"] == adopted["eventId"]
    assert "outside the tools" in envelope["meta"]["warnings"][0]
    text = result(ada, "fs.read", path=CRITIC)
    assert "# The Critic" in text
    assert "- Rest" in text


def test_reading_adopts_nothing(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    assert "# The Critic" in result(ada, "fs.read", path=CRITIC)
    assert result(ada, "md.lint", path=CRITIC)["blocked"] is False
    assert events_of(ada, CRITIC) == ["plant committed"]
    ok(ada, "md.snapshot_history", path=CRITIC)


def test_an_outside_edit_is_adopted_even_if_the_next_write_is_refused(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    known = result(ada, "fs.hash", path=CRITIC)
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    refused(ada, "md.patch_section", "precondition_failed", **PATCH, ifMatch=known)
    assert events_of(ada, CRITIC) == ["plant committed", "external_edit committed"]


def test_an_outside_edit_of_line_ends_alone_is_adopted(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    edit_outside(garden, NOTES, "# Notes\n", "# Notes  \n")
    ok(ada, "fs.append", path=NOTES, text="a")
    assert events_of(ada, NOTES) == ["plant committed", "external_edit committed", "append_file committed"]


def test_a_document_created_outside_is_adopted(garden: Garden, ada: Session) -> None:
    text = "---\r\nid: n\r\nuser_id: ada\r\nschema: 1\r\n---\r\n\r\n# 日記\r\n\r\n## Free\r\n\r\nwords"
    put(garden, NOTES, text.encode())
    ok(ada, "fs.append", path=NOTES, text="more")
    adopted = rows(ada, path=NOTES, type="external_edit")[0]
    assert (adopted["beforeHash"], adopted["documentVersion"]) == (None, 1)
    assert adopted["splices"] == [{"offset": 0, "removed": "", "inserted": text}]
    assert file_of(garden, NOTES).read_bytes().decode() == text + "\r\n\r\nmore"


def test_an_anchor_removed_outside_stops_every_edit_until_it_is_put_back(
    garden: Garden, ada: Session
) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, ANCHOR, "")
    damaged = file_of(garden, CRITIC).read_bytes()
    for tool, args in _edits(CRITIC):
        error = refused(ada, tool, "document_damaged", **args)
        assert "needs v1" in str(error["details"]["reasons"])
        assert error["hint"]
    assert file_of(garden, CRITIC).read_bytes() == damaged
    assert rows(ada, path=CRITIC)[0]["lint"]["damage"] == {"anchors": ["needs v1"], "identity": {}}
    assert "## Needs" in result(ada, "fs.read", path=CRITIC)
    edit_outside(garden, CRITIC, "## Needs\n", f"## Needs\n{ANCHOR}")
    ok(ada, "md.patch_section", **PATCH)
    assert events_of(ada, CRITIC) == [
        "plant committed", "external_edit committed", "external_edit committed", "replace_section committed"
    ]  # fmt: skip


def test_further_outside_edits_leave_a_document_damaged(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, ANCHOR, "")
    refused(ada, "md.patch_section", "document_damaged", **PATCH)
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    refused(ada, "md.patch_section", "document_damaged", **PATCH)
    edit_outside(garden, CRITIC, "<!-- @anchor: evidence v1 -->\n", "")
    error = refused(ada, "md.patch_section", "document_damaged", **PATCH)
    assert "needs v1" in str(error["details"])
    assert "evidence v1" in str(error["details"])
    edit_outside(garden, CRITIC, "## Needs\n", f"## Needs\n{ANCHOR}")
    assert "evidence v1" in str(refused(ada, "md.patch_section", "document_damaged", **PATCH)["details"])
    edit_outside(garden, CRITIC, "## Evidence\n", "## Evidence\n<!-- @anchor: evidence v1 -->\n")
    ok(ada, "md.patch_section", **PATCH)


def test_a_whole_section_removed_outside_is_damage(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    edit_outside(garden, NOTES, "\n## Summaries\n<!-- @anchor: summaries v1 -->\n", "")
    refused(ada, "fs.append", "document_damaged", path=NOTES, text="a")


@pytest.mark.parametrize(
    ("old", "new"), [("id: critic", "id: other"), ("schema: 1\n", ""), ("user_id: ada", "user_id: ben")]
)
def test_identity_changed_outside_stops_edits_until_it_is_put_back(
    garden: Garden, ada: Session, old: str, new: str
) -> None:
    plant(ada, CRITIC)
    before = file_of(garden, CRITIC).read_bytes()
    edit_outside(garden, CRITIC, old, new)
    refused(ada, "md.patch_section", "document_damaged", **PATCH)
    assert rows(ada, path=CRITIC)[0]["lint"]["damage"]["identity"]
    put(garden, CRITIC, before)
    ok(ada, "md.patch_section", **PATCH)


def test_frontmatter_broken_outside_stops_edits(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "schema: 1", "schema: [1")
    refused(ada, "md.patch_section", "malformed_document", **PATCH)
    assert result(ada, "md.lint", path=CRITIC)["blocked"]


def test_a_preview_is_refused_for_damage_as_the_real_call_is(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, ANCHOR, "")
    previews = [
        refused(ada, "propose_change", "document_damaged", tool="md.patch_section", args=PATCH),
        refused(ada, "md.patch_section", "document_damaged", **PATCH, dryRun=True),
    ]
    assert events_of(ada, CRITIC) == ["plant committed"]
    real = refused(ada, "md.patch_section", "document_damaged", **PATCH)
    assert previews == [real, real]


def test_a_preview_sees_what_was_put_back(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, ANCHOR, "")
    refused(ada, "md.patch_section", "document_damaged", **PATCH)
    edit_outside(garden, CRITIC, "## Needs\n", f"## Needs\n{ANCHOR}")
    ok(ada, "md.patch_section", **PATCH, dryRun=True)
    ok(ada, "md.patch_section", **PATCH)


def test_putting_the_same_bytes_back_ends_the_drift(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    before = file_of(garden, CRITIC).read_bytes()
    put(garden, CRITIC, b"oh no")
    put(garden, CRITIC, before)
    ok(ada, "md.patch_section", **PATCH)
    assert events_of(ada, CRITIC) == ["plant committed", "replace_section committed"]


class TestWithoutItsFile:
    @pytest.fixture(autouse=True)
    def _the_account_holds_in_the_end(self, garden: Garden) -> Iterator[None]:
        yield
        assert out_of_step(garden) == [f"{CRITIC}: the file is not version 1"]

    def test_a_missing_file_is_not_found_and_not_begun_anew(self, garden: Garden, ada: Session) -> None:
        plant(ada, CRITIC)
        file_of(garden, CRITIC).unlink()
        refused(ada, "fs.read", "not_found", path=CRITIC)
        refused(ada, "md.list_sections", "not_found", path=CRITIC)
        for tool, args in [*_edits(CRITIC), ("md.plant", {"path": CRITIC, "title": "Anew"})]:
            error = refused(ada, tool, "document_damaged", **args)
            assert error["details"]["version"] == 1
        refused(ada, "md.snapshot_history", "document_damaged", path=CRITIC)
        assert not file_of(garden, CRITIC).exists()
        assert events_of(ada, CRITIC) == ["plant committed"]


def test_a_missing_file_put_back_can_be_edited(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    before = file_of(garden, CRITIC).read_bytes()
    file_of(garden, CRITIC).unlink()
    refused(ada, "md.patch_section", "document_damaged", **PATCH)
    put(garden, CRITIC, before)
    ok(ada, "md.patch_section", **PATCH)


def test_a_wrong_id_that_its_owner_corrects_is_no_damage(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "id: critic\n", "id: critik\n")
    refused(ada, "md.patch_section", "document_damaged", **PATCH)
    edit_outside(garden, CRITIC, "id: critik\n", "id: critic\n")
    ok(ada, "md.patch_section", **PATCH)


def test_a_document_created_by_hand_with_a_wrong_id_can_be_corrected(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    planted = file_of(garden, CRITIC).read_text()
    other = CRITIC.replace("/critic/", "/other/")
    put(garden, other, planted.encode())
    refused(ada, "md.patch_section", "document_damaged", **{**PATCH, "path": other})
    edit_outside(garden, other, "id: critic\n", "id: other\n")
    ok(ada, "md.patch_section", **{**PATCH, "path": other})


@pytest.mark.parametrize("odd", ["2024-01-01", ".nan", "2024-01-01T10:00:00Z", "[2024-01-01, x]", "1.5"])
def test_an_identity_value_that_is_not_text_is_reported_and_can_be_corrected(
    garden: Garden, ada: Session, odd: str
) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "id: critic\n", f"id: {odd}\n")
    refused(ada, "md.patch_section", "document_damaged", **PATCH)
    edit_outside(garden, CRITIC, f"id: {odd}\n", "id: critic\n")
    ok(ada, "md.patch_section", **PATCH)


@pytest.mark.parametrize("escape", ["\\0", "\\ud800"])
def test_an_identity_value_that_no_database_holds_can_be_removed(garden: Garden, escape: str) -> None:
    maintainer = garden.session("ada", role="maintainer")
    plant(maintainer, CRITIC)
    odd = f'schema: 1\nparticipants: ["a{escape}b"]\n'
    edit_outside(garden, CRITIC, "schema: 1\n", odd)
    assert "refused" not in {each.outcome for each in adopt(garden.services, "ada")}
    edit_outside(garden, CRITIC, odd, "schema: 1\n")
    assert "refused" not in {each.outcome for each in adopt(garden.services, "ada")}
    ok(maintainer, "md.repair", path=CRITIC)
    ok(maintainer, "md.restore", path=CRITIC, version=1)
    ok(maintainer, "md.patch_section", **PATCH)


CUT_OFF = {
    "the newest events": [
        "delete from garden.events where stream = '{path}' and sequence > 1",
        "update garden.documents as d set (version, content_hash, raw_hash, head_event_id, tail_sequence,"
        " tail_chain_hash, updated_at, seal) = (select version, content_hash, raw_hash, head_event_id,"
        " tail_sequence, tail_chain_hash, updated_at, seal from kept) where path = '{path}'",
    ],
    "the whole document": [
        "delete from garden.events where stream = '{path}'",
        "delete from garden.documents where path = '{path}'",
    ],
    "the seal of the head": ["update garden.documents set seal = tail_chain_hash where path = '{path}'"],
}


@pytest.mark.parametrize("lost", CUT_OFF)
def test_what_an_agent_wrote_is_not_recorded_as_a_persons_where_its_events_are_gone(
    garden: Garden, ada: Session, database: str, lost: str
) -> None:
    plant(ada, CRITIC)
    with connection(database) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute("create temp table kept as select * from garden.documents")
        ok(ada, "md.patch_section", **PATCH)
        for command in CUT_OFF[lost]:
            assert owner.execute(command.format(path=CRITIC).encode()).rowcount > 0, command
        if lost == "the seal of the head":
            edit_outside(garden, CRITIC, "# Part", "# The Critic")
        text, counted = file_of(garden, CRITIC).read_text(), "select count(*) from garden.events"
        before = owner.execute(counted.encode()).fetchone()
        [done] = adopt(garden.services, "ada")
        assert (done.outcome, done.before) == ("needs a person", State.UNREADABLE)
        assert "gone" in done.message or "sealed" in done.message
        for tool, args in _edits(CRITIC):
            for dry_run in (True, False):
                refused(ada, tool, "unavailable", **args, dryRun=dry_run)
        assert owner.execute(counted.encode()).fetchone() == before
        assert file_of(garden, CRITIC).read_text() == text


def test_a_line_of_an_agent_is_named_after_many_other_changes(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    for number in range(25):
        ok(ada, "fs.append", path=NOTES, text=f"Day {number} was calm.")
    edit_outside(garden, NOTES, "Day 1 was calm.\n", "")
    list(adopt(garden.services, "ada"))
    assert "This save removed 1 line by" in rows(ada, path=NOTES)[0]["rationale"]


def test_an_outside_edit_names_the_lines_of_agents_that_it_removed(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    for actor, words in (("companion", "slept badly"), ("scribe", "- a\n- b"), ("companion", "walked")):
        ok(garden.session("ada", actor), "fs.append", path=NOTES, text=words)
    edit_outside(garden, NOTES, "walked", "walked, she wrote")
    list(adopt(garden.services, "ada"))
    file = file_of(garden, NOTES)
    kept = [line for line in file.read_text().splitlines() if line not in {"slept badly", "- a", "- b"}]
    file.write_text("\n".join(line.replace("walked, she wrote", "rested") for line in kept) + "\n")
    list(adopt(garden.services, "ada"))
    newest, before = (row for row in rows(ada, path=NOTES) if row["op"] == "external_edit")
    said = "The document was edited outside the tools. This save removed"
    assert before["rationale"] == f"{said} 1 line by companion."
    assert newest["rationale"] == f"{said} 2 lines by scribe and 1 line by companion."
