"""Whole flows, as a companion goes through them."""

from garden.application import Garden, open_garden
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, events_of, file_of, ok, plant, refused, result, rows


def test_a_companion_updates_a_section_and_says_why(ada: Session) -> None:
    plant(ada, CRITIC)
    turn = {"transactionId": "turn-1", "toolCallId": "call-1"}
    assert "## Concerns" in result(ada, "fs.read", path=CRITIC)
    anchors = [each["anchor"] for each in result(ada, "md.list_sections", path=CRITIC)]
    assert "concerns v1" in anchors
    changed = result(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1",
        change={"replace": "- Says yes before looking at the week"}, rationale="She named it.", **turn,
    )  # fmt: skip
    copy = result(ada, "md.snapshot_history", path=CRITIC)["historyPath"]
    assert result(ada, "fs.read", path=copy) == result(ada, "fs.read", path=CRITIC)
    assert result(ada, "md.lint", path=CRITIC) == {"warnings": [], "blocked": False}
    logged = result(
        ada, "events.log", type="profile_update", op="replace_section", section_anchor="concerns v1",
        rationale="It came up twice.", evidence_refs=["ev:s12-m40"], before_hash=changed["beforeHash"],
        after_hash=changed["afterHash"], file_path=CRITIC, **turn,
    )  # fmt: skip
    (event,) = rows(ada, path=CRITIC, op="replace_section")
    assert event["eventId"] == logged["eventId"]
    assert event["status"] == "committed"
    assert event["annotations"][0]["rationale"] == "It came up twice."
    assert "She named it. (evt:" in result(ada, "fs.read", path=CRITIC)


def test_a_companion_adds_evidence(ada: Session) -> None:
    plant(ada, CRITIC)
    ok(
        ada, "md.curate_list", path=CRITIC, sectionAnchor="evidence v1", ops="append",
        items=['"I can\'t relax until it\'s done" (ev:s12-m40)'], reason="It shows the fear.",
    )  # fmt: skip
    assert result(ada, "lint.check", path=CRITIC) == {"warnings": [], "blocked": False}
    (event,) = rows(ada, type="profile_update", op="append_item")
    assert event["sectionAnchor"] == "evidence v1"


def test_a_companion_greps_and_captures_a_note(ada: Session) -> None:
    plant(ada, CRITIC, NOTES)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- No deadline"})
    found = result(ada, "fs.search", root="users/ada", pattern="deadline")
    assert [each["path"] for each in found] == [CRITIC]
    ok(ada, "fs.append", path=NOTES, text="Deadlines again.", toolCallId="call-1")
    ok(
        ada, "events.log", type="observation", op="append_section", rationale="captured theme in notes",
        filePath=NOTES, toolCallId="call-1",
    )  # fmt: skip
    newest = rows(ada, path=NOTES)[0]
    assert newest["annotations"][0]["rationale"] == "captured theme in notes"


def test_every_version_can_be_rebuilt_from_events(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    texts = [file_of(garden, CRITIC).read_text()]
    for words in ("- Rest", "- Rest\n- Play", ""):
        change = {"replace": words} if words else {"append": "- More"}
        ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change=change)
        texts.append(file_of(garden, CRITIC).read_text())
    reader = garden.services.reader
    assert [reader.text_at("ada", CRITIC, version) for version in (1, 2, 3, 4)] == texts
    copies = result(ada, "fs.list", path="history/ada/parts/critic/profile")
    assert [result(ada, "fs.read", path=copy) for copy in copies] == texts[:-1]


def test_an_operator_may_set_another_cap(garden: Garden, home: Home) -> None:
    (home.path / "kinds").mkdir()
    (home.path / "kinds" / "part_profile.toml").write_text(
        'kind = "part_profile"\nextends = "part_profile"\n\n'
        '[[sections]]\nheading = "Evidence"\nanchor = "evidence v1"\nshape = "list"\ncap_items = 1\n'
    )
    plant(garden.session("ada"), CRITIC)
    with open_garden(home.path) as other:
        ada = other.session("ada")
        item = {"path": CRITIC, "sectionAnchor": "evidence v1", "ops": "append", "reason": "r"}
        ok(ada, "md.curate_list", **item, items=['"one" (ev:s1-m1)'])
        refused(ada, "md.curate_list", "override_required", **item, items=['"two" (ev:s1-m2)'])
    assert events_of(garden.session("ada"), CRITIC) == ["plant committed", "append_item committed"]
