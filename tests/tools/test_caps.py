from collections.abc import Iterator

import pytest

from garden.application import Garden, open_garden
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import (
    CRITIC,
    NOTES,
    edit_outside,
    events_of,
    file_of,
    ok,
    plant,
    refused,
    result,
    rows,
)


def _evidence(count: int) -> list[str]:
    return [f'"it is {number}" (ev:s1-m{number})' for number in range(1, count + 1)]


EIGHTH = {
    "path": CRITIC,
    "sectionAnchor": "evidence v1",
    "ops": "append",
    "items": ['"one more" (ev:s2-m1)'],
    "reason": "It shows it.",
}


@pytest.fixture
def full(ada: Session) -> Session:
    plant(ada, CRITIC)
    ok(ada, "md.curate_list", **{**EIGHTH, "items": _evidence(7)})
    return ada


def test_seven_items_are_within_the_cap(full: Session) -> None:
    assert result(full, "md.lint", path=CRITIC) == {"warnings": [], "blocked": False}


def test_an_eighth_item_needs_a_reason_and_nothing_is_written_without(garden: Garden, full: Session) -> None:
    before = file_of(garden, CRITIC).read_bytes()
    error = refused(full, "md.curate_list", "override_required", **EIGHTH)
    assert "evidence" in error["details"]["findings"][0]
    assert "overrideRationale" in error["hint"]
    assert file_of(garden, CRITIC).read_bytes() == before
    assert events_of(full, CRITIC) == ["plant committed", "append_item committed"]


def test_an_override_succeeds_and_is_recorded_everywhere(full: Session) -> None:
    envelope = ok(full, "md.curate_list", **EIGHTH, opts={"overrideRationale": "It is the clearest one."})
    assert any("evidence v1" in warning for warning in envelope["meta"]["warnings"])
    event = rows(full, path=CRITIC)[0]
    assert event["overrideRationale"] == "It is the clearest one."
    assert event["lint"]["counts"]["cap"] == 1
    assert len(event["lint"]["exceeded"]) == 1
    assert "· override: It is the clearest one." in result(full, "fs.read", path=CRITIC)


def test_exceeding_further_needs_a_reason_each_time(full: Session) -> None:
    ok(full, "md.curate_list", **EIGHTH, overrideRationale="Once.")
    ninth = {**EIGHTH, "items": ['"and one more" (ev:s2-m2)']}
    refused(full, "md.curate_list", "override_required", **ninth)


def test_an_edit_that_does_not_exceed_further_needs_no_reason(full: Session) -> None:
    ok(full, "md.curate_list", **{**EIGHTH, "items": _evidence(9)[7:]}, overrideRationale="Two.")
    ok(full, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"})
    prune = {"ops": "prune", "items": [{"match": "ev:s1-m1"}]}
    ok(full, "md.curate_list", **{**EIGHTH, **prune})


def test_an_excess_from_an_outside_edit_does_not_block_later_edits(garden: Garden, full: Session) -> None:
    edit_outside(garden, CRITIC, "(ev:s1-m7)\n", '(ev:s1-m7)\n- "more" (ev:s3-m1)\n')
    ok(full, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"})


@pytest.mark.parametrize("tool", ["fs.write", "fs.edit", "fs.patch", "md.patch_section"])
def test_no_other_tool_is_a_way_around_the_cap(full: Session, tool: str) -> None:
    text = result(full, "fs.read", path=CRITIC)
    eight = text.replace("(ev:s1-m7)\n", '(ev:s1-m7)\n- "more" (ev:s3-m1)\n')
    last = '- "it is 7" (ev:s1-m7)'
    args = {
        "fs.write": {"content": eight},
        "fs.edit": {"find": last, "replace": f'{last}\n- "more" (ev:s3-m1)'},
        "fs.patch": {"diffText": f'@@ -1,1 +1,2 @@\n {last}\n+- "more" (ev:s3-m1)\n'},
        "md.patch_section": {"sectionAnchor": "evidence v1", "change": {"append": '- "more" (ev:s3-m1)'}},
    }[tool]
    refused(full, tool, "override_required", path=CRITIC, **args)
    ok(full, tool, path=CRITIC, **args, overrideRationale="It matters.")


@pytest.mark.parametrize(("words", "warned"), [(200, False), (201, True), (400, True)])
def test_a_long_narrative_is_warned_about_and_written(ada: Session, words: int, warned: bool) -> None:
    plant(ada, CRITIC)
    change = {"replace": " ".join(["calm"] * words)}
    envelope = ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="summary v1", change=change)
    assert bool(envelope["meta"]["warnings"]) is warned


def test_more_than_400_words_need_a_reason(ada: Session) -> None:
    plant(ada, CRITIC)
    args = {"path": CRITIC, "sectionAnchor": "summary v1", "change": {"replace": " ".join(["calm"] * 401)}}
    refused(ada, "md.patch_section", "override_required", **args)
    ok(ada, "md.patch_section", **args, overrideRationale="It is a long story.")


def test_a_reason_is_one_line_and_not_blank(ada: Session) -> None:
    plant(ada, CRITIC)
    for reason in ("two\nlines", " ", "", "a\u2028b", "x" * 501):
        refused(ada, "md.curate_list", "invalid_input", **EIGHTH, overrideRationale=reason)


def test_other_warnings_never_stop_a_write(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    edit_outside(garden, CRITIC, "## Needs", "## What it needs  ")
    change = {"replace": "- Rest \t\n- Play"}
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change=change)
    warnings = result(ada, "md.lint", path=CRITIC)["warnings"]
    assert any("Needs" in warning for warning in warnings)


def test_a_dry_run_needs_a_reason_as_the_real_call_does(full: Session) -> None:
    refused(full, "md.curate_list", "override_required", **EIGHTH, dryRun=True)


@pytest.fixture
def lenient(home: Home, full: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session where caps only warn, with one edit that exceeded a cap."""
    monkeypatch.setenv("GARDEN_LIMITS_CAPS", "warn")
    with open_garden(home.path) as opened:
        session = opened.session(full.caller.user_id, "companion")
        report = result(session, "propose_change", tool="md.curate_list", args=EIGHTH)["safetyReport"]
        assert report.startswith("Allowed")
        assert "owed" in ok(session, "md.curate_list", **EIGHTH)["meta"]["warnings"][-1]
        yield session


def _owed(session: Session) -> list[str]:
    owed = [line for line in result(session, "md.lint", path=CRITIC)["warnings"] if "owed" in line]
    objects = result(session, "lint.check", path=CRITIC)["warnings"]
    assert len([each for each in objects if each["message"].startswith("override owed: ")]) == len(owed)
    return owed


def test_a_setting_lets_the_override_come_later_and_until_then_it_is_owed(lenient: Session) -> None:
    event = rows(lenient, path=CRITIC)[0]
    (owed,) = _owed(lenient)
    assert owed.startswith("override owed: ")
    assert owed.endswith(f"(evt:{event['eventId']})")
    about = {
        "type": "profile_update",
        "op": "append_item",
        "filePath": CRITIC,
        "sectionAnchor": "evidence v1",
    }
    ok(lenient, "events.log", **about, rationale="It shows it.")
    assert _owed(lenient) == [owed]
    ok(lenient, "events.log", **about, overrideRationale="It is the clearest one.")
    assert _owed(lenient) == []
    assert "override: It is the clearest one." in result(lenient, "fs.read", path=CRITIC)


def test_an_override_is_no_longer_owed_once_the_cap_is_kept(lenient: Session) -> None:
    ok(lenient, "md.curate_list", **{**EIGHTH, "ops": "prune", "items": [{"match": "ev:s2-m1"}]})
    assert _owed(lenient) == []


def test_a_reason_given_with_the_write_is_not_owed(lenient: Session) -> None:
    ninth = {**EIGHTH, "items": ['"and one more" (ev:s2-m2)']}
    ok(lenient, "md.curate_list", **ninth, overrideRationale="All of it.")
    assert len(_owed(lenient)) == 1
