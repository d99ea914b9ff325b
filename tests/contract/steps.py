"""The steps of the contract: every tool with good and with bad input, in this order.

In every text `ADA` stands for the user, because each surface has its own garden.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from garden.tools.registry import REGISTRY

NOTES = "users/ADA/notes.md"
OVERVIEW = "users/ADA/overview.md"
CRITIC = "users/ADA/parts/critic/profile.md"
CHILD = "users/ADA/parts/child/notes.md"
MOVED = "users/ADA/parts/inner-child/notes.md"
PAIR = "users/ADA/relationships/critic-and-child/profile.md"
TEA = "users/ADA/memories/tea.md"
DIARY = "users/ADA/diary/tea.md"
ELSEWHERE = "users/ben/notes.md"
TEXT = (
    "---\nid: child\nuser_id: ADA\nschema: 1\nmood: 日記 \u201cquiet\u201d\n---\n\n# Child\n\n## Inbox\n"
    "<!-- @anchor: inbox v1 -->\n\n- hid under the table\n\n## Summaries\n<!-- @anchor: summaries v1 -->\n"
)
STALE = "sha256:" + "0" * 64
UNKNOWN_EVENT = "019a0000-0000-7000-8000-000000000000"

Envelope = dict[str, Any]
Args = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One call and its expected code."""

    name: str
    tool: str
    args: Args | Callable[[Mapping[str, Envelope]], Args]
    code: str = "ok"
    role: str = "agent"


def _result(before: Mapping[str, Envelope], name: str) -> Any:
    return before[name]["result"]


def _curated(ops: object, items: list[object], **said: object) -> Args:
    return {
        "path": CRITIC, "sectionAnchor": "evidence", "ops": ops, "items": items, "reason": "It fits.", **said
    }  # fmt: skip


def _patched(change: object, **said: object) -> Args:
    return {"path": CRITIC, "sectionAnchor": "concerns v1", "change": change, **said}


_PLANTING = (
    Step("plant notes", "md.plant", {"path": NOTES}),
    Step("plant an overview", "md.plant", {"path": OVERVIEW, "title": "Ada", "rationale": "She came."}),
    Step("plant a profile", "md.plant", {"path": CRITIC, "title": "The Critic"}),
    Step(
        "plant a relationship",
        "md.plant",
        {
            "path": PAIR,
            "participants": ["critic", "child"],
            "toolCallId": "call-1",
            "transactionId": "turn-1",
        },
    ),
    Step(
        "plant a relationship without participants",
        "md.plant",
        {"path": PAIR.replace("critic-", "x-")},
        "invalid_input",
    ),
    Step("plant over what is there", "md.plant", {"path": NOTES, "title": "Again"}, "already_exists"),
    Step("plant beside the paths", "md.plant", {"path": "users/ADA/diary.md"}, "path_not_allowed"),
    Step("plant as a reviewer", "md.plant", {"path": NOTES}, "permission_denied", "reviewer"),
    Step("ensure a folder", "fs.ensure_dir", {"path": "users/ADA/parts/child"}),
    Step("ensure a folder above", "fs.ensure_dir", {"path": "users/ADA/../ben"}, "path_not_allowed"),
)
_WRITING = (
    Step("write", "fs.write", {"path": CHILD, "content": TEXT, "evidenceRefs": ["ev:s1-m2"]}),
    Step("write no text", "fs.write", {"path": CHILD}, "invalid_input"),
    Step("write an identity away", "fs.write", {"path": CHILD, "content": "# Child\n"}, "identity_changed"),
    Step(
        "write an anchor away",
        "fs.write",
        {"path": CHILD, "content": TEXT.replace("<!-- @anchor: inbox v1 -->\n", "")},
        "anchor_changed",
    ),
    Step("write too much", "fs.write", {"path": CHILD, "content": TEXT + "x" * 1_100_000}, "too_large"),
    Step("write for another", "fs.write", {"path": ELSEWHERE, "content": TEXT}, "path_not_allowed"),
    Step("append", "fs.append", {"path": NOTES, "text": "slept well 😴", "idempotencyKey": "night-1"}),
    Step("append again", "fs.append", {"path": NOTES, "text": "slept well 😴", "idempotencyKey": "night-1"}),
    Step(
        "append other words under its key",
        "fs.append",
        {"path": NOTES, "text": "slept badly", "idempotencyKey": "night-1"},
        "idempotency_conflict",
    ),
    Step("append to be seen only", "fs.append", {"path": NOTES, "text": "dreamt", "dryRun": True}),
    Step("append with opts", "fs.append", {"path": NOTES, "text": "woke", "opts": {"toolCallId": "c9"}}),
    Step(
        "append to what it was",
        "fs.append",
        {"path": NOTES, "text": "x", "ifMatch": STALE},
        "precondition_failed",
    ),
    Step("append a control character", "fs.append", {"path": NOTES, "text": "a\x00b"}, "not_text"),
    Step("append to nothing", "fs.append", {"path": MOVED, "text": "x"}, "not_found"),
    Step(
        "patch",
        "fs.patch",
        {"path": CHILD, "diffText": "@@ -12,1 +12,2 @@\n - hid under the table\n+- came out again\n"},
    ),
    Step(
        "patch nothing of it",
        "fs.patch",
        {"path": CHILD, "diffText": "@@ -1 +1 @@\n-none\n+x\n"},
        "patch_conflict",
    ),
    Step("edit", "fs.edit", {"path": CHILD, "find": "came out", "replace": "came\nout"}),
    Step(
        "edit what is not there",
        "fs.edit",
        {"path": CHILD, "find": "no such", "replace": ""},
        "patch_conflict",
    ),
    Step(
        "edit what is there twice", "fs.edit", {"path": CHILD, "find": "i", "replace": ""}, "patch_conflict"
    ),
    Step(
        "edit an anchor away",
        "fs.edit",
        {"path": CHILD, "find": "<!-- @anchor: inbox v1 -->", "replace": ""},
        "anchor_changed",
    ),
    Step(
        "edit an identity", "fs.edit", {"path": CHILD, "find": "id: child", "replace": ""}, "identity_changed"
    ),
    Step("edit nothing", "fs.edit", {"path": CHILD, "find": "", "replace": "x"}, "invalid_input"),
    Step("patch with no diff", "fs.patch", {"path": CHILD, "diffText": "hello"}, "invalid_input"),
)
_SECTIONS = (
    Step("list sections", "md.list_sections", {"path": CRITIC}),
    Step("list sections of nothing", "md.list_sections", {"path": MOVED}, "not_found"),
    Step(
        "patch a section", "md.patch_section", _patched({"replace": "- Says yes too soon"}, rationale="Said.")
    ),
    Step(
        "patch it alike",
        "md.patch_section",
        _patched({"replace": "- Says yes too soon"}, idempotencyKey="k2"),
    ),
    Step(
        "patch what it is now",
        "md.patch_section",
        lambda before: _patched(
            {"append": "- Says no too late"}, ifMatch=_result(before, "patch a section")["afterHash"]
        ),
    ),
    Step(
        "patch what it was",
        "md.patch_section",
        lambda before: _patched(
            {"append": "- Says maybe"}, ifMatch=_result(before, "patch a section")["afterHash"]
        ),
        "precondition_failed",
    ),
    Step("patch both ways", "md.patch_section", _patched({"replace": "a", "append": "b"}), "invalid_input"),
    Step("patch a heading in", "md.patch_section", _patched({"append": "## Needs"}), "heading_in_section"),
    Step(
        "patch an anchor in",
        "md.patch_section",
        _patched({"append": "<!-- @anchor: x v1 -->"}),
        "anchor_in_text",
    ),
    Step(
        "patch no section",
        "md.patch_section",
        {"path": CRITIC, "sectionAnchor": "dreams", "change": {"append": "x"}},
        "anchor_not_found",
    ),
    Step(
        "patch the Change Log away",
        "md.patch_section",
        {"path": CRITIC, "sectionAnchor": "change_log", "change": {"replace": "x"}},
        "permission_denied",
    ),
    Step(
        "curate: append seven",
        "md.curate_list",
        _curated("append", [f'"word {n}" (ev:s1-m{n})' for n in range(7)]),
    ),
    Step(
        "curate: one more", "md.curate_list", _curated("append", ['"more" (ev:s2-m1)']), "override_required"
    ),
    Step(
        "curate: one more, and why",
        "md.curate_list",
        _curated("append", ['"more" (ev:s2-m1)'], overrideRationale="It says most of all."),
    ),
    Step(
        "curate: in other words",
        "md.curate_list",
        {
            "path": CRITIC,
            "section_anchor": "What helps",
            "op": ["append"],
            "item": "A walk",
            "reason": "It fits.",
        },
    ),
    Step("curate: in both words", "md.curate_list", _curated("append", ["x"], op="append"), "invalid_input"),
    Step(
        "curate: a secret",
        "md.curate_list",
        _curated("append", ["ghp_" + "a1B2c3" * 6]),
        "invalid_input",
    ),
    Step("curate: prune", "md.curate_list", _curated("prune", [{"match": "ev:s1-m3"}])),
    Step(
        "curate: merge",
        "md.curate_list",
        _curated("merge", [{"into": "ev:s1-m1", "from": ["ev:s1-m2"], "text": '"both" (ev:s1-m1)'}]),
    ),
    Step(
        "curate: prune what is not there",
        "md.curate_list",
        _curated("prune", [{"match": "ev:none"}]),
        "not_found",
    ),
    Step(
        "curate: without a reason",
        "md.curate_list",
        {**_curated("append", ["x"]), "reason": ""},
        "invalid_input",
    ),
    Step("snapshot", "md.snapshot_history", {"path": CRITIC}),
    Step("snapshot of nothing", "md.snapshot_history", {"path": MOVED}, "not_found"),
    Step("lint", "md.lint", {"path": CRITIC}),
    Step("lint nothing", "md.lint", {"path": MOVED}, "not_found"),
    Step("check", "lint.check", {"path": CRITIC}),
    Step("fix", "md.fix", {"path": CRITIC}),
    Step("fix nothing", "md.fix", {"path": MOVED}, "not_found"),
    Step("check a number", "lint.check", {"path": 7}, "invalid_input"),
)
_MEMORIES = (
    Step(
        "store a life goal",
        "memory.store",
        {"content": "Wants to sail", "category": "life-goal", "tags": ["sea"], "pursuingPriority": 80},
    ),
    Step("store it again", "memory.store", {"content": "She wants to sail.", "category": "life-goal"}),
    Step("store an entry", "memory.store", {"content": "laughed about the deadline", "dryRun": True}),
    Step(
        "store a summary",
        "memory.store",
        {"content": "A good week.", "summaryType": "weekly", "periodKey": "2026-W47", "rationale": "Sunday."},
    ),
    Step(
        "store another of that week",
        "memory.store",
        {"content": "A bad week.", "summaryType": "weekly", "periodKey": "2026-W47"},
        "already_exists",
    ),
    Step(
        "store one of a day as a week's",
        "memory.store",
        {"content": "x", "summaryType": "weekly", "periodKey": "2026-11-19"},
        "invalid_input",
    ),
    Step("list memories", "memory.list", {"categories": ["life-goal"], "from": "yesterday"}),
    Step("list memories as a reviewer", "memory.list", {"kinds": ["notes"]}, role="reviewer"),
    Step("list another's memories", "memory.list", {"paths": [ELSEWHERE]}, "path_not_allowed"),
    Step("recall", "memory.recall", {"query": "sailing", "categories": ["life-goal"], "limit": 3}),
    Step("recall of another day", "memory.recall", {"query": "a good week", "to": "2020-01-01"}),
    Step("recall nothing", "memory.recall", {"query": ""}, "invalid_input"),
    Step("write a free-form document", "fs.write", {"path": TEA, "content": "She drinks oolong.\n"}),
    Step("write where no kind is", "fs.write", {"path": DIARY, "content": "x"}, "path_not_allowed"),
    Step("archive it", "fs.archive", {"path": TEA, "rationale": "She stopped."}),
    Step("archive notes", "fs.archive", {"path": NOTES}, "delete_not_allowed"),
    Step("list what is archived", "fs.list", {"path": "users/ADA/memories", "archived": True}),
    Step(
        "forget",
        "memory.forget",
        lambda before: {"id": _result(before, "store a life goal")["id"], "rationale": "No more."},
    ),
    Step(
        "forget it again",
        "memory.forget",
        lambda before: {"id": _result(before, "store a life goal")["id"], "rationale": "No more."},
        "not_found",
    ),
)
_READING = (
    Step("list", "fs.list", {"path": "users/ADA", "glob": "**/*.md"}),
    Step("list another's", "fs.list", {"path": "users/ben"}, "path_not_allowed"),
    Step("read", "fs.read", {"path": NOTES}),
    Step("read lines", "fs.read", {"path": CRITIC, "ranges": [{"startLine": 1, "endLine": 4}]}),
    Step("read other words", "fs.read", {"path": CHILD}, role="reviewer"),
    Step(
        "read backwards",
        "fs.read",
        {"path": NOTES, "ranges": [{"startLine": 4, "endLine": 1}]},
        "invalid_input",
    ),
    Step("read another's", "fs.read", {"path": ELSEWHERE}, "path_not_allowed"),
    Step("read through a trick", "fs.read", {"path": "users/ADA/%2e%2e/ben/notes.md"}, "path_not_allowed"),
    Step("read a surplus", "fs.read", {"path": NOTES, "quickly": True}, "invalid_input"),
    Step(
        "search",
        "fs.search",
        {"root": "users/ADA", "pattern": "SLEPT|says", "ignoreCase": True, "context": 1},
    ),
    Step("search with opts", "fs.search", {"root": NOTES, "pattern": "SLEPT", "opts": {"ignoreCase": True}}),
    Step("search for a broken pattern", "fs.search", {"root": "users/ADA", "pattern": "("}, "invalid_input"),
    Step("hash", "fs.hash", {"path": NOTES}),
    Step("hash a section", "fs.hash", {"path": CRITIC, "sectionAnchor": "concerns"}),
    Step("hash no section", "fs.hash", {"path": CRITIC, "sectionAnchor": "x"}, "anchor_not_found"),
)
_ACCOUNT = (
    Step(
        "log",
        "events.log",
        {"type": "observation", "rationale": "She laughed.", "details": {"n": [1.5, None]}},
    ),
    Step(
        "log of a write",
        "events.log",
        {"type": "note", "rationale": "As she asked.", "filePath": PAIR, "transactionId": "turn-1"},
    ),
    Step(
        "log of a section",
        "events.log",
        lambda before: {
            "type": "profile_update",
            "op": "replace_section",
            "section_anchor": "concerns v1",
            "rationale": "She said it twice.",
            "evidence_refs": ["ev:s12-m40"],
            "before_hash": _result(before, "patch a section")["beforeHash"],
            "after_hash": _result(before, "patch a section")["afterHash"],
            "file_path": CRITIC,
        },
    ),
    Step(
        "log what did not happen",
        "events.log",
        {"type": "profile_update", "filePath": CRITIC, "afterHash": STALE},
        "invalid_input",
    ),
    Step("log no type", "events.log", {"rationale": "x"}, "invalid_input"),
    Step("log as a reviewer", "events.log", {"type": "observation"}, "permission_denied", "reviewer"),
    Step("log the versions", "history.log", {"path": CRITIC, "anchor": "concerns", "limit": 2}),
    Step("log a garden", "history.log", {"from": "yesterday", "limit": 100}, role="reviewer"),
    Step("log an unknown actor", "history.log", {"actor": "compagnion"}, "invalid_input"),
    Step("show a version", "history.show", {"path": CRITIC, "at": "v1", "anchor": "summary v1"}),
    Step("show no version", "history.show", {"path": CRITIC, "at": "999"}, "not_found"),
    Step("compare versions", "history.diff", {"path": CRITIC, "from": "1", "to": "head~1", "words": True}),
    Step("compare with no version", "history.diff", {"path": CRITIC, "from": "some day"}, "invalid_input"),
    Step("blame", "history.blame", {"path": CRITIC}),
    Step("blame no section", "history.blame", {"path": CRITIC, "anchor": "feelings"}, "anchor_not_found"),
    Step("search the versions", "history.search", {"text": "perfect"}),
    Step("search for nothing", "history.search", {"text": ""}, "invalid_input"),
    Step("query", "events.query", {"limit": 50}),
    Step("query as a reviewer", "events.query", {"path": CRITIC, "status": "committed"}, role="reviewer"),
    Step("query a page", "events.query", {"limit": 2}),
    Step(
        "query the next",
        "events.query",
        lambda before: {"limit": 2, "cursor": before["query a page"]["meta"]["cursor"]},
    ),
    Step(
        "query in many ways",
        "events.query",
        {
            "file_path": CRITIC,
            "section_anchor": "CONCERNS",
            "status": ["committed", "failed"],
            "since": "yesterday",
            "evidence_ref": "ev:s12-m40",
        },
    ),
    Step("query no status", "events.query", {"status": "done"}, "invalid_input"),
    Step("query a wrong cursor", "events.query", {"cursor": "x"}, "invalid_input"),
    Step("propose", "propose_change", {"tool": "fs.append", "args": {"path": NOTES, "text": "slept late"}}),
    Step(
        "propose what is refused",
        "propose_change",
        {"tool": "md.patch_section", "args": _patched({"append": "# No"})},
        "heading_in_section",
    ),
    Step("propose a read", "propose_change", {"tool": "fs.read", "args": {"path": NOTES}}, "invalid_input"),
    Step("context", "memory.context", {"tokens": 2000, "sections": ["Facts"]}),
    Step("context as a reviewer", "memory.context", {"tokens": 500, "query": "slept"}, role="reviewer"),
    Step("context of too few tokens", "memory.context", {"tokens": 99}, "invalid_input"),
    Step(
        "context of no section",
        "memory.context",
        {"tokens": 500, "sections": ["hobbies"]},
        "anchor_not_found",
    ),
    Step("repair as an agent", "md.repair", {"path": CRITIC}, "permission_denied"),
    Step("repair what is whole", "md.repair", {"path": CRITIC, "dryRun": True}, role="maintainer"),
    Step("repair nothing", "md.repair", {"path": MOVED}, "not_found", "maintainer"),
    Step("repair another's", "md.repair", {"path": ELSEWHERE}, "path_not_allowed", "maintainer"),
    Step("restore as an agent", "md.restore", {"path": CRITIC, "version": 1}, "permission_denied"),
    Step(
        "restore", "md.restore", {"path": CRITIC, "version": 2, "rationale": "Too much."}, role="maintainer"
    ),
    Step(
        "restore by an event",
        "md.restore",
        lambda before: {"path": CRITIC, "event": before["plant a profile"]["meta"]["eventId"]},
        role="maintainer",
    ),
    Step(
        "restore what was before all",
        "md.restore",
        {"path": CRITIC, "at": "2020-01-01T00:00:00Z"},
        "not_found",
        "maintainer",
    ),
    Step("restore nothing", "md.restore", {"path": CRITIC, "version": 99}, "not_found", "maintainer"),
    Step(
        "restore two at once",
        "md.restore",
        {"path": CRITIC, "version": 1, "event": UNKNOWN_EVENT},
        "invalid_input",
        "maintainer",
    ),
    Step("undo as an agent", "md.undo", {"event": UNKNOWN_EVENT}, "permission_denied"),
    Step("undo nothing", "md.undo", {"event": UNKNOWN_EVENT}, "not_found", "maintainer"),
    Step(
        "undo the beginning",
        "md.undo",
        lambda before: {"event": before["plant a profile"]["meta"]["eventId"]},
        "delete_not_allowed",
        "maintainer",
    ),
    Step(
        "undo",
        "md.undo",
        lambda before: {"event": before["restore by an event"]["meta"]["eventId"], "rationale": "Too early."},
        role="maintainer",
    ),
    Step("erase as an agent", "garden.erase", {"path": CRITIC, "reason": "so"}, "permission_denied"),
    Step("erase nothing", "garden.erase", {"reason": "so"}, "invalid_input", "maintainer"),
    Step(
        "see what an erasure would reach",
        "garden.erase",
        {"path": CRITIC, "reason": "so", "preview": True},
        role="maintainer",
    ),
    Step("move as an agent", "fs.move", {"path": CHILD, "newPath": MOVED}, "permission_denied"),
    Step("move", "fs.move", {"path": CHILD, "newPath": MOVED}, role="maintainer"),
    Step("move over another", "fs.move", {"path": MOVED, "newPath": NOTES}, "already_exists", "maintainer"),
)
_HELPING = (
    Step("list tools", "tools.list", {}),
    Step("list tools for a maintainer", "tools.list", {}, role="maintainer"),
    Step("list tools with a surplus", "tools.list", {"all": 1}, "invalid_input"),
    Step("help", "tools.help", {"tool": "md.curate_list"}),
    Step("help with nothing known", "tools.help", {"tool": "md.curate"}, "unknown_tool"),
    Step("delete", "fs.delete", {"path": NOTES}, "delete_not_allowed"),
    Step("an unknown tool", "fs.reed", {"path": NOTES}, "unknown_tool"),
)


def _from_examples(written: tuple[Step, ...]) -> Iterator[Step]:
    """Steps for the reading tools that have none above: their example, and the same with a wrong field."""
    for name in sorted(set(REGISTRY) - {step.tool for step in written}):
        if not REGISTRY[name].traits.writes:
            text = json.dumps(dict(REGISTRY[name].example))
            args = json.loads(text.replace("users/ada", "users/ADA").replace("history/ada", "history/ADA"))
            yield Step(f"{name} as in its example", name, args)
            yield Step(f"{name} with a surplus", name, {**args, "surplus": 1}, "invalid_input")


_WRITTEN = _PLANTING + _WRITING + _SECTIONS + _MEMORIES + _READING + _ACCOUNT + _HELPING
STEPS = (*_WRITTEN, *_from_examples(_WRITTEN))
