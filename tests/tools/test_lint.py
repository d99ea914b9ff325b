from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, edit_outside, ok, plant, put, refused, result, rows


def test_a_clean_document_is_answered_with_two_fields(ada: Session) -> None:
    plant(ada, CRITIC)
    clean = {"warnings": [], "blocked": False}
    assert result(ada, "md.lint", path=CRITIC) == clean
    assert result(ada, "lint.check", path=CRITIC) == clean


def test_warnings_are_sentences_in_one_and_objects_in_the_other(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "## Needs", "## What it needs")
    ok(ada, "md.snapshot_history", path=CRITIC)
    (sentence,) = result(ada, "md.lint", path=CRITIC)["warnings"]
    (finding,) = result(ada, "lint.check", path=CRITIC)["warnings"]
    assert set(finding) == {"rule", "name", "severity", "message", "anchor", "line", "column", "fixable"}
    assert (finding["severity"], finding["anchor"], finding["line"]) == ("style", "needs v1", 15)
    assert finding["message"] in sentence


def test_blocked_reasons_come_where_something_is_blocked(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"# Notes\n")
    words = result(ada, "md.lint", path=NOTES)
    objects = result(ada, "lint.check", path=NOTES)
    assert set(words) == set(objects) == {"warnings", "blocked", "blockedReasons"}
    assert words["blocked"]
    assert objects["blocked"]
    assert {each["severity"] for each in objects["blockedReasons"]} == {"block"}
    for reason, finding in zip(words["blockedReasons"], objects["blockedReasons"], strict=True):
        assert finding["message"] in reason


def test_a_blocking_finding_is_the_reason_of_the_refusal(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"# Notes\n")
    error = refused(ada, "fs.append", "document_damaged", path=NOTES, text="a")
    assert error["details"]["reasons"] == result(ada, "md.lint", path=NOTES)["blockedReasons"]


def test_events_hold_the_counts_that_the_diagnostics_give(ada: Session) -> None:
    plant(ada, CRITIC)
    change = {"replace": "\n".join(f"- quote {number}" for number in range(8))}
    args = {"path": CRITIC, "sectionAnchor": "evidence v1", "change": change}
    ok(ada, "md.patch_section", **args, overrideRationale="All of them.")
    found = result(ada, "lint.check", path=CRITIC)["warnings"]
    counts = {
        severity: sum(each["severity"] == severity for each in found)
        for severity in ("block", "cap", "style")
    }
    assert counts["cap"] == 1
    assert counts["style"] > 0
    assert rows(ada, path=CRITIC)[0]["lint"]["counts"] == counts


def test_a_copy_in_the_history_can_be_linted(ada: Session) -> None:
    plant(ada, NOTES)
    copy = result(ada, "md.snapshot_history", path=NOTES)["historyPath"]
    assert not result(ada, "md.lint", path=copy)["blocked"]


def test_linting_nothing_is_refused(ada: Session) -> None:
    refused(ada, "md.lint", "not_found", path=NOTES)
    refused(ada, "lint.check", "not_found", path=NOTES)
