"""Whole flows, as a companion goes through them."""

from garden.application import Garden, open_garden
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, events_of, file_of, ok, plant, refused, result, rows


def test_a_companion_updates_a_section_and_says_why(ada: Session) -> None:
    plant(ada, CRITIC)
    assert "## Concerns" in result(ada, "fs.read", path=CRITIC)
    anchors = [each["anchor"] for each in result(ada, "md.list_sections", path=CRITIC)]
    assert "concerns v1" in anchors
    changed = result(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1",
        change={"replace": "- Says yes before looking at the week"},
    )  # fmt: skip
    copy = result(ada, "md.snapshot_history", path=CRITIC)["historyPath"]
    assert result(ada, "fs.read", path=copy) == result(ada, "fs.read", path=CRITIC)
    assert result(ada, "md.lint", path=CRITIC) == {"warnings": [], "blocked": False}
    logged = result(
        ada, "events.log", type="profile_update", op="replace_section", section_anchor="concerns v1",
        rationale="She named it herself.", evidence_refs=["ev:s12-m40"], before_hash=changed["beforeHash"],
        after_hash=changed["afterHash"], file_path=CRITIC,
    )  # fmt: skip
    updated, _planted = rows(ada, path=CRITIC, type="profile_update")
    assert (updated["eventId"], updated["status"]) == (logged["eventId"], "committed")
    assert [note["rationale"] for note in updated["annotations"]] == ["She named it herself."]
    log = str(result(ada, "fs.read", path=CRITIC)).splitlines()
    assert log[-1].endswith(f"replace_section · She named it herself. (evt:{logged['eventId']})")


def test_a_companion_adds_an_evidence_item(ada: Session) -> None:
    plant(ada, CRITIC)
    added = result(
        ada, "md.curate_list", path=CRITIC, section_anchor="evidence v1", op="append",
        item='"I can\'t relax until it\'s done" (ev:s12-m40)', reason="It shows the fear.",
    )  # fmt: skip
    assert result(ada, "lint.check", path=CRITIC) == {"warnings": [], "blocked": False}
    logged = result(
        ada, "events.log", type="profile_update", op="append_item", section_anchor="evidence v1",
        file_path=CRITIC, before_hash=added["beforeHash"], after_hash=added["afterHash"],
        rationale="It shows the fear.", evidence_refs=["ev:s12-m40"],
    )  # fmt: skip
    (event,) = rows(ada, type="profile_update", op="append_item")
    assert (event["sectionAnchor"], event["eventId"]) == ("evidence v1", logged["eventId"])
    assert events_of(ada, CRITIC) == ["plant committed", "append_item committed"]


def test_a_companion_greps_and_captures_a_note(ada: Session) -> None:
    plant(ada, CRITIC, NOTES)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- No deadline"})
    found = result(ada, "fs.search", root="users/ada", pattern="deadline")
    assert [each["path"] for each in found] == [CRITIC]
    written = ok(ada, "fs.append", path=NOTES, text="Deadlines again.")
    said = {"type": "observation", "op": "append_section", "rationale": "captured theme in notes"}
    own = result(ada, "events.log", **said)
    about_it = result(ada, "events.log", **said, file_path=NOTES)
    assert own["eventId"] == rows(ada)[0]["eventId"]
    assert about_it["eventId"] == written["meta"]["eventId"]


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
