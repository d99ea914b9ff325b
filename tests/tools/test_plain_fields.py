"""Reasons, ids and other fields hold no character that hides or reorders what a reviewer sees."""

from typing import Any

import pytest

from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, ok, plant, refused

BAD = ("\0", "\x07", "\x1b", "\x9b", "\u202e", "\u2066", "\u200f")
FIELDS = ("rationale", "overrideRationale", "toolCallId", "transactionId", "agentActionId", "idempotencyKey")


@pytest.mark.parametrize("bad", BAD)
def test_no_shared_field_hides_or_reorders_text(ada: Session, bad: str) -> None:
    plant(ada, NOTES)
    for field in FIELDS:
        refused(ada, "fs.append", "invalid_input", path=NOTES, text="x", **{field: f"a{bad}b"})
    refused(ada, "fs.append", "invalid_input", path=NOTES, text="x", evidenceRefs=[f"ev:{bad}1"])
    ok(ada, "memory.recall", query="a\u200fb")


@pytest.mark.parametrize("bad", BAD[:4])
def test_no_tool_writes_a_control_character(ada: Session, bad: str) -> None:
    plant(ada, NOTES, CRITIC)
    words, needs = f"a{bad}b", {"path": CRITIC, "sectionAnchor": "needs"}
    diff = f"@@ -12,2 +12,4 @@\n ## Inbox\n <!-- @anchor: inbox v1 -->\n+\n+- {words}\n"
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("fs.append", "not_text", {"path": NOTES, "text": words}),
        (
            "fs.write",
            "not_text",
            {"path": NOTES, "content": str(ok(ada, "fs.read", path=NOTES)["result"]) + words},
        ),
        ("fs.patch", "not_text", {"path": NOTES, "diffText": diff}),
        ("md.patch_section", "not_text", {**needs, "change": {"append": words}}),
        ("md.curate_list", "not_text", {**needs, "ops": "append", "items": words, "reason": "So."}),
        ("memory.store", "not_text", {"content": words, "category": "fact"}),
        ("events.log", "invalid_input", {"type": "observation", "details": {"x": [{words: 1}]}}),
    )
    for tool, code, args in calls:
        refused(ada, tool, code, **args)
