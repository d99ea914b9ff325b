"""`md.repair`: what an edit from outside took away comes back, and the person's words stay."""

import pytest

from garden.application import Garden
from garden.session import Session
from garden.upkeep.status import status_of_user
from tests.support.gardens import (
    CRITIC,
    NOTES,
    edit_outside,
    events_of,
    file_of,
    ok,
    plant,
    put,
    refused,
    result,
    rows,
    without_names,
)
from tests.support.promises import broken_promises

ANCHOR = "<!-- @anchor: needs v1 -->\n"
PATCH = {"path": CRITIC, "sectionAnchor": "needs v1", "change": {"append": "- Rest"}}


@pytest.fixture
def operator(garden: Garden) -> Session:
    """A maintainer in Ada's garden, with a profile and notes."""
    session = garden.session("ada", "operator", role="maintainer")
    plant(session, CRITIC, NOTES)
    worry = {"replace": "- Says yes too soon"}
    ok(session, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=worry)
    return session


def text(garden: Garden, path: str = CRITIC) -> str:
    return file_of(garden, path).read_bytes().decode()


def states(garden: Garden) -> set[str]:
    return {status.state.value for status in status_of_user(garden.services, "ada")}


def test_an_anchor_that_was_taken_out_comes_back_and_tools_work_again(
    garden: Garden, operator: Session
) -> None:

    edit_outside(garden, CRITIC, ANCHOR, "\n- Written by her, on her phone\n")
    refused(operator, "md.patch_section", "document_damaged", **PATCH)
    assert states(garden) == {"in step", "damaged"}
    envelope = ok(operator, "md.repair", path=CRITIC, rationale="She edited it on her phone.")
    assert envelope["result"]["mended"] == ["the anchor 'needs v1' under 'Needs'"]
    assert envelope["result"]["fromVersion"] == 2
    assert envelope["result"]["newHash"] == result(operator, "fs.hash", path=CRITIC)
    mended = text(garden)
    assert f"## Needs\n{ANCHOR}\n- Written by her, on her phone\n" in mended
    assert "document · repair · She edited it on her phone. (evt:-)" in without_names(mended)
    assert states(garden) == {"in step"}
    ok(operator, "md.patch_section", **PATCH)
    assert events_of(operator, CRITIC) == [
        "plant committed", "replace_section committed", "external_edit committed", "repair committed",
        "append_section committed",
    ]  # fmt: skip


def test_an_unseen_outside_edit_is_adopted_and_repaired_together(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    damaged = text(garden)
    envelope = ok(operator, "md.repair", path=CRITIC)
    assert (
        envelope["meta"]["adoptedEventId"] == rows(operator, path=CRITIC, type="external_edit")[0]["eventId"]
    )
    assert garden.services.reader.text_at("ada", CRITIC, 3) == damaged
    event = rows(operator, path=CRITIC)[0]
    assert (event["op"], event["edit"]["fromVersion"]) == ("repair", 2)
    assert event["rationale"] == "Put anchors and identity back."
    ok(operator, "md.patch_section", **PATCH)


def test_the_replaced_version_goes_to_the_history(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    damaged = text(garden)
    ok(operator, "md.repair", path=CRITIC)
    newest = max((garden.home.path / "history/ada/parts/critic/profile").iterdir())
    assert newest.read_text() == damaged


def test_an_undamaged_document_is_left_alone(operator: Session) -> None:
    envelope = ok(operator, "md.repair", path=CRITIC)
    assert envelope["meta"]["unchanged"] is True
    assert envelope["result"] == {
        "newHash": result(operator, "fs.hash", path=CRITIC), "fromVersion": 2, "mended": []
    }  # fmt: skip
    assert events_of(operator, CRITIC) == ["plant committed", "replace_section committed"]


def test_an_edit_from_outside_that_damages_nothing_is_adopted_and_left_alone(
    garden: Garden, operator: Session
) -> None:
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    planned = ok(operator, "md.repair", path=CRITIC, dryRun=True)
    assert planned["meta"]["unchanged"] is True
    assert ok(operator, "md.repair", path=CRITIC)["meta"]["unchanged"] is True
    assert events_of(operator, CRITIC)[-1] == "external_edit committed"


def test_several_edits_from_outside_are_mended_from_the_last_version_that_was_whole(
    garden: Garden, operator: Session
) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    refused(operator, "md.patch_section", "document_damaged", **PATCH)
    edit_outside(garden, CRITIC, "schema: 1\n", "")
    refused(operator, "md.patch_section", "document_damaged", **PATCH)
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    envelope = ok(operator, "md.repair", path=CRITIC)
    assert envelope["result"]["fromVersion"] == 2
    assert len(envelope["result"]["mended"]) == 2
    assert "# The Critic" in text(garden)
    ok(operator, "md.patch_section", **PATCH)


def test_identity_keys_get_the_values_of_the_path_and_other_keys_stay(
    garden: Garden, operator: Session
) -> None:
    edit_outside(garden, CRITIC, "id: critic\nuser_id: ada\n", "mood: 'calm'  # so so\nid: somebody\n")
    ok(operator, "md.repair", path=CRITIC)
    top = text(garden).split("---\n")[1]
    assert top == "mood: 'calm'  # so so\nid: critic\nuser_id: ada\nschema: 1\n"
    ok(operator, "md.patch_section", **PATCH)


def test_frontmatter_that_can_not_be_read_is_replaced_and_the_answer_says_where_it_stands(
    garden: Garden, operator: Session
) -> None:
    edit_outside(garden, CRITIC, "schema: 1\n", "schema: 1\n\tmood: {calm\n")
    refused(operator, "md.patch_section", "malformed_document", **PATCH)
    envelope = ok(operator, "md.repair", path=CRITIC)
    assert "the event log keeps the unreadable block" in str(envelope["meta"]["warnings"])
    assert text(garden).startswith("---\nschema: 1\nid: critic\nuser_id: ada\n---\n") or text(
        garden
    ).startswith("---\nid: critic\nuser_id: ada\nschema: 1\n---\n")
    assert "mood: {calm" in garden.services.reader.text_at("ada", CRITIC, 3)
    ok(operator, "md.patch_section", **PATCH)


def test_an_uncertain_repair_is_refused_with_a_hint(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, f"## Needs\n{ANCHOR}", "## Needs\n\n- one\n\n## Needs\n\n- two\n")
    damaged = text(garden)
    error = refused(operator, "md.repair", "document_damaged", path=CRITIC)
    assert "may belong to more than one heading" in error["message"]
    assert [each["heading"] for each in error["details"]["headings"]] == ["Needs", "Needs"]
    assert text(garden) == damaged
    assert events_of(operator, CRITIC)[-1] == "external_edit committed"
    ok(operator, "md.restore", path=CRITIC, version=2)


def test_a_document_that_was_never_whole_is_for_a_person(garden: Garden, operator: Session) -> None:
    path = "users/ada/parts/child/profile.md"
    put(garden, path, b"# Child\n")
    error = refused(operator, "md.repair", "document_damaged", path=path)
    assert "editor" in error["hint"]
    refused(operator, "md.restore", "document_damaged", path=path, version=1)


def test_a_missing_file_is_not_repaired_but_restored(garden: Garden, operator: Session) -> None:
    file_of(garden, CRITIC).unlink()
    assert "garden restore" in refused(operator, "md.repair", "document_damaged", path=CRITIC)["hint"]
    refused(operator, "md.repair", "not_found", path="users/ada/parts/nobody/profile.md")
    ok(operator, "md.restore", path=CRITIC, version=2)


def test_a_repair_can_be_looked_at_before(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    damaged = text(garden)
    planned = ok(operator, "md.repair", path=CRITIC, dryRun=True)
    assert planned["meta"]["dryRun"] is True
    assert "+<!-- @anchor: needs v1 -->" in planned["meta"]["diff"]
    proposal = ok(operator, "propose_change", tool="md.repair", args={"path": CRITIC})
    assert "+<!-- @anchor: needs v1 -->" in proposal["result"]["diff"]
    assert text(garden) == damaged
    assert events_of(operator, CRITIC) == ["plant committed", "replace_section committed"]
    ok(operator, "md.repair", path=CRITIC)


def test_a_repair_sent_again_is_replayed(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    first = ok(operator, "md.repair", path=CRITIC, idempotencyKey="k")
    again = ok(operator, "md.repair", path=CRITIC, idempotencyKey="k")
    assert again["result"] == first["result"]
    assert again["meta"]["replayed"] is True
    refused(operator, "md.repair", "idempotency_conflict", path=CRITIC, idempotencyKey="k", rationale="x")


def test_a_repair_checks_if_match(garden: Garden, operator: Session) -> None:
    known = result(operator, "fs.hash", path=CRITIC)
    edit_outside(garden, CRITIC, ANCHOR, "")
    refused(operator, "md.repair", "precondition_failed", path=CRITIC, ifMatch=known)
    ok(operator, "md.repair", path=CRITIC, ifMatch=result(operator, "fs.hash", path=CRITIC))


@pytest.mark.parametrize("role", ["agent", "reviewer"])
def test_only_a_maintainer_may_repair(garden: Garden, operator: Session, role: str) -> None:
    other = garden.session("ada", "companion", role=role)
    refused(other, "md.repair", "permission_denied", path=CRITIC)
    refused(operator, "md.repair", "path_not_allowed", path="users/ben/notes.md")


def test_a_cap_exceeded_before_does_not_refuse_a_restoration(garden: Garden, operator: Session) -> None:
    items = [f'"word {number}" (ev:s1-m{number})' for number in range(9)]
    said = {
        "path": CRITIC,
        "sectionAnchor": "evidence",
        "ops": "append",
        "items": items,
        "reason": "It fits.",
    }
    ok(operator, "md.curate_list", **said, overrideRationale="All of it counts.")
    edit_outside(garden, CRITIC, "<!-- @anchor: evidence v1 -->\n", "")
    envelope = ok(operator, "md.repair", path=CRITIC)
    assert "evidence" in str(envelope["meta"]["warnings"]).lower()


def test_line_ends_and_the_byte_order_mark_stay(garden: Garden, operator: Session) -> None:
    file = file_of(garden, NOTES)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    ok(operator, "fs.append", path=NOTES, text="woke")
    edit_outside(garden, NOTES, "<!-- @anchor: inbox v1 -->\r\n", "")
    ok(operator, "md.repair", path=NOTES)
    assert b"## Inbox\r\n<!-- @anchor: inbox v1 -->\r\n" in file.read_bytes()
    assert file.read_bytes().startswith(b"\xef\xbb\xbf---\r\n")
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")


def test_an_empty_file_leaves_no_copy(garden: Garden, operator: Session) -> None:
    file_of(garden, CRITIC).write_bytes(b"")
    ok(operator, "md.repair", path=CRITIC)
    assert broken_promises(garden) == []
