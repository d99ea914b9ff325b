from typing import Any

import pytest

from garden.application import Garden
from garden.grammar.diffs import unified_diff
from garden.session import Session
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    events_of,
    file_of,
    ok,
    plant,
    refused,
    result,
    rows,
    without_names,
)

ITEM = {"path": CRITIC, "sectionAnchor": "evidence v1", "ops": "append", "reason": "It shows it."}
EDITS: list[tuple[str, dict[str, Any]]] = [
    ("md.patch_section", {"path": CRITIC, "sectionAnchor": "needs v1", "change": {"replace": "- Rest"}}),
    ("md.patch_section", {"path": NOTES, "sectionAnchor": "inbox v1", "change": {"append": "日記"}}),
    ("md.curate_list", {**ITEM, "items": ['"late again" (ev:s1-m1)']}),
    ("md.plant", {"path": OVERVIEW, "title": "Ada"}),
    ("fs.append", {"path": NOTES, "text": "slept well"}),
    ("fs.append", {"path": CRITIC, "text": "## Sleep\n\nslept well"}),
    ("fs.patch", {"path": NOTES, "diffText": "@@ -7,1 +7,1 @@\n-# Notes\n+# Mine\n"}),
    ("fs.edit", {"path": NOTES, "find": "# Notes\n", "replace": "# Mine\n"}),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("fs.append", {"path": OVERVIEW, "text": "a"}, "not_found"),
    ("fs.append", {"path": "users/ben/notes.md", "text": "a"}, "path_not_allowed"),
    ("fs.append", {"path": NOTES, "txt": "a"}, "invalid_input"),
    ("fs.append", {"path": NOTES, "text": "a", "ifMatch": "sha256:0"}, "precondition_failed"),
    ("fs.write", {"path": NOTES, "content": "# Notes\n"}, "identity_changed"),
    ("fs.patch", {"path": NOTES, "diffText": "@@ -1,1 +1,1 @@\n-nowhere\n+a\n"}, "patch_conflict"),
    ("md.plant", {"path": NOTES, "title": "Anew"}, "already_exists"),
    (
        "md.patch_section",
        {"path": NOTES, "sectionAnchor": "x", "change": {"append": "a"}},
        "anchor_not_found",
    ),
    (
        "md.patch_section",
        {"path": NOTES, "sectionAnchor": "inbox", "change": {"append": "## a"}},
        "heading_in_section",
    ),
    ("fs.delete", {"path": NOTES}, "delete_not_allowed"),
    ("fs.wriet", {"path": NOTES}, "unknown_tool"),
]


def test_a_proposal_is_a_diff_a_report_and_no_request_for_approval(ada: Session) -> None:
    plant(ada, NOTES)
    proposal = result(ada, "propose_change", tool="fs.append", args={"path": NOTES, "text": "one"})
    assert set(proposal) == {"diff", "safetyReport", "requiresApproval"}
    assert proposal["requiresApproval"] is False
    assert proposal["safetyReport"]
    assert proposal["diff"].startswith(f"--- a/{NOTES}\n+++ b/{NOTES}\n@@ ")


@pytest.mark.parametrize(("tool", "args"), EDITS)
def test_a_proposal_shows_the_diff_of_the_real_call(
    garden: Garden, ada: Session, tool: str, args: dict[str, Any]
) -> None:
    plant(ada, NOTES, CRITIC)
    path = args["path"]
    before = file_of(garden, path).read_bytes().decode() if path != OVERVIEW else ""
    proposed = result(ada, "propose_change", tool=tool, args=args)["diff"]
    dry = ok(ada, tool, **args, dryRun=True)
    assert len(rows(ada)) == 2
    real = ok(ada, tool, **args)
    after = file_of(garden, path).read_bytes().decode()
    assert without_names(proposed) == without_names(unified_diff(before, after, path).text)
    assert without_names(dry["meta"]["diff"]) == without_names(proposed)
    if path != CRITIC:
        assert dry["result"] == real["result"]
        assert dry["meta"]["documentHash"] == real["meta"]["documentHash"]


def test_a_proposal_is_refused_as_the_real_call_is(ada: Session) -> None:
    plant(ada, NOTES)
    for tool, args, code in REFUSED:
        proposed = refused(ada, "propose_change", code, tool=tool, args=args)
        assert proposed == refused(ada, tool, code, **args), tool
    assert events_of(ada, NOTES) == ["plant committed"]


def test_a_proposal_changes_and_records_nothing(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    before = file_of(garden, NOTES).read_bytes(), file_of(garden, NOTES).stat().st_mtime_ns
    args = {"path": NOTES, "text": "one", "idempotencyKey": "mine"}
    ok(ada, "propose_change", tool="fs.append", args=args)
    ok(ada, "fs.append", **args, dryRun=True)
    assert (file_of(garden, NOTES).read_bytes(), file_of(garden, NOTES).stat().st_mtime_ns) == before
    assert len(rows(ada)) == 1
    assert "replayed" not in ok(ada, "fs.append", **args)["meta"]


def test_the_report_names_an_exceeded_cap(ada: Session) -> None:
    plant(ada, CRITIC)
    args = {**ITEM, "items": [f'"it is {n}" (ev:s1-m{n})' for n in range(8)]}
    report = result(ada, "propose_change", tool="md.curate_list", args=args)["safetyReport"]
    assert "overrideRationale" in report
    assert "evidence v1" in report
    reasoned = {**args, "overrideRationale": "All matter."}
    report = result(ada, "propose_change", tool="md.curate_list", args=reasoned)["safetyReport"]
    assert "overrideRationale" not in report
    assert "evidence v1" in report


def test_a_proposal_that_changes_nothing_says_so(ada: Session) -> None:
    plant(ada, NOTES)
    args = {"path": NOTES, "content": result(ada, "fs.read", path=NOTES)}
    proposal = result(ada, "propose_change", tool="fs.write", args=args)
    assert proposal["diff"] == ""
    assert "nothing would change" in proposal["safetyReport"]
    assert ok(ada, "fs.write", **args, dryRun=True)["meta"]["unchanged"]


@pytest.mark.parametrize("tool", ["fs.read", "events.log", "propose_change", "fs.ensure_dir"])
def test_only_edits_of_one_document_can_be_proposed(ada: Session, tool: str) -> None:
    error = refused(ada, "propose_change", "invalid_input", tool=tool, args={"path": NOTES})
    assert "md.patch_section" in error["hint"]


def test_opts_are_taken_in_a_proposal_too(ada: Session) -> None:
    plant(ada, NOTES)
    args = {"path": NOTES, "text": "one", "opts": {"ifMatch": result(ada, "fs.hash", path=NOTES)}}
    ok(ada, "propose_change", tool="fs.append", args=args)


def test_a_reviewer_proposes_nothing(garden: Garden) -> None:
    reviewer = garden.session("ada", "auditor", role="reviewer")
    refused(reviewer, "propose_change", "permission_denied", tool="fs.append", args={})


def test_a_key_of_another_request_is_refused_in_a_preview_too(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="one", idempotencyKey="mine")
    other = {"path": NOTES, "text": "two", "idempotencyKey": "mine"}
    refused(ada, "propose_change", "idempotency_conflict", tool="fs.append", args=other)
    refused(ada, "fs.append", "idempotency_conflict", **other, dryRun=True)
    wrong = {**other, "idempotencyKey": ""}
    refused(ada, "propose_change", "invalid_input", tool="fs.append", args=wrong)


def test_a_preview_says_where_the_real_call_would_only_be_answered_again(ada: Session) -> None:
    plant(ada, NOTES)
    first = {"path": NOTES, "sectionAnchor": "inbox v1", "change": {"replace": "a"}, "toolCallId": "call-1"}
    ok(ada, "md.patch_section", **first)
    ok(ada, "md.patch_section", **{**first, "change": {"replace": "b"}})
    report = result(ada, "propose_change", tool="md.patch_section", args=first)["safetyReport"]
    assert "carried out before" in report
    assert "carried out before" in ok(ada, "md.patch_section", **first, dryRun=True)["meta"]["warnings"][0]
    anew = {**first, "toolCallId": "call-2"}
    report = result(ada, "propose_change", tool="md.patch_section", args=anew)["safetyReport"]
    assert "carried out before" not in report
