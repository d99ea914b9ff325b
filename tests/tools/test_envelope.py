import json
from typing import Any

import pytest

from garden.application import Garden
from garden.events.reader import EventReader
from garden.grammar.errors import GardenError
from garden.session import Session
from garden.surfaces.python.answers import Answer
from garden.tools.declaration import Tool
from garden.tools.read_files import Slices
from garden.tools.registry import REGISTRY
from tests.support.gardens import CRITIC, NOTES, events_of, file_of, ok, plant, refused, result, rows

SPEC = {
    "fs": {"list", "read", "search", "hash", "ensure_dir", "write", "append", "patch", "move"},
    "md": {
        "list_sections",
        "patch_section",
        "curate_list",
        "snapshot_history",
        "lint",
        "plant",
        "repair",
        "restore",
    },
    "lint": {"check"},
    "events": {"log", "query"},
    "": {"propose_change"},
    "tools": {"list", "help"},
}
MUTATING = [
    tool
    for tool in REGISTRY.values()
    if tool.traits.writes and tool.name not in {"events.log", "garden.erase"}
]


def test_the_tools_are_those_that_were_promised() -> None:
    assert set(REGISTRY) >= {
        f"{family}.{name}".strip(".") for family, names in SPEC.items() for name in names
    }


def test_an_answer_holds_result_and_meta(ada: Session) -> None:
    plant(ada, NOTES)
    envelope = ok(ada, "fs.append", path=NOTES, text="slept well")
    assert envelope["meta"]["warnings"] == []
    assert envelope["meta"]["tookMs"] > 0
    assert envelope["meta"]["eventId"] == rows(ada)[0]["eventId"]
    assert not {"replayed", "unchanged", "dryRun"} & set(envelope["meta"])


def test_a_refusal_tells_code_message_hint_and_details(ada: Session) -> None:
    error = refused(ada, "fs.read", "not_found", path=NOTES)
    assert error["message"]
    assert error["hint"]


def test_asking_for_a_delete_is_answered_as_that(ada: Session) -> None:
    for name in ("fs.delete", "fs_remove", "fs.rm", "md.delete_section", "unlink", "rmdir"):
        assert "history" in refused(ada, name, "delete_not_allowed", path=NOTES)["hint"]


def test_an_unknown_tool_is_refused_with_the_nearest_name(ada: Session) -> None:
    error = refused(ada, "md.patch_sections", "unknown_tool")
    assert error["hint"] == "Did you mean md.patch_section?"
    assert error["details"] == {"nearest": "md.patch_section"}
    assert refused(ada, "xyzzy", "unknown_tool")["details"] == {}


def test_a_dot_may_be_an_underscore(ada: Session) -> None:
    for name in REGISTRY:
        assert result(ada, "tools_help", tool=name.replace(".", "_"))["name"] == name


def test_a_field_that_no_tool_knows_is_refused_by_its_name(garden: Garden) -> None:
    operator = garden.session("ada", "operator", role="maintainer")
    for tool in REGISTRY.values():
        error = refused(operator, tool.name, "invalid_input", **tool.example, surplus=1)
        assert "surplus" in error["message"]


@pytest.mark.parametrize("tool", MUTATING, ids=lambda tool: tool.name)
def test_every_tool_that_changes_a_document_takes_the_shared_fields(tool: Tool[Any]) -> None:
    shared = {
        "rationale", "overrideRationale", "evidenceRefs", "ifMatch", "idempotencyKey",
        "toolCallId", "transactionId", "agentActionId", "dryRun",
    }  # fmt: skip
    assert shared <= set(tool.request_schema["properties"])
    # Nothing is forgotten without a reason.
    own = {"rationale"} if tool.name == "memory.forget" else set[str]()
    assert shared & set(tool.request_schema["required"]) == own


def test_opts_are_taken_as_fields_beside_the_others(ada: Session) -> None:
    plant(ada, NOTES)
    known = result(ada, "fs.hash", path=NOTES)
    ok(ada, "fs.append", path=NOTES, text="one", opts={"ifMatch": known})
    refused(ada, "fs.append", "precondition_failed", path=NOTES, text="two", opts={"ifMatch": known})
    assert len(result(ada, "fs.search", root=NOTES, pattern="inbox", opts={"ignoreCase": True})) == 2


@pytest.mark.parametrize("spelling", ["ifMatch", "if_match"])
@pytest.mark.parametrize("nested", ["opts", "meta"])
def test_a_field_given_beside_opts_or_meta_and_in_them_is_refused(
    ada: Session, nested: str, spelling: str
) -> None:
    plant(ada, NOTES)
    known = result(ada, "fs.hash", path=NOTES)
    fields = {"path": NOTES, "text": "one", "ifMatch": known}
    error = refused(ada, "fs.append", "invalid_input", **fields, **{nested: {spelling: known}})
    assert "ifMatch is given twice" in error["message"]


def test_a_field_in_opts_and_in_meta_is_refused(ada: Session) -> None:
    given = {"opts": {"rationale": "x"}, "meta": {"rationale": "x"}}
    error = refused(ada, "fs.append", "invalid_input", path=NOTES, text="one", **given)
    assert "rationale is given twice" in error["message"]


def test_an_object_or_a_list_given_as_text_is_understood_where_no_text_fits(ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    section: dict[str, Any] = {"path": CRITIC, "sectionAnchor": "concerns v1"}
    ok(ada, "md.patch_section", **section, change=' {"append": "- [1]"}', meta='{"rationale": "Why."}')
    assert len(result(ada, "events.query", status='["committed"]', text="why")) == 1
    ok(ada, "fs.append", path=NOTES, text='{"append": "x"}')
    assert '{"append": "x"}' in result(ada, "fs.read", path=NOTES)


@pytest.mark.parametrize("change", ['{"append": "x"', '["x"]', '{"append": "x", "append": "y"}', "7", '"x"'])
def test_a_text_that_is_no_such_object_is_refused(ada: Session, change: str) -> None:
    plant(ada, CRITIC)
    section = {"path": CRITIC, "sectionAnchor": "concerns v1"}
    error = refused(ada, "md.patch_section", "invalid_input", **section, change=change)
    assert "change: it should be an object" in error["message"]


def test_arguments_that_are_not_an_object_are_refused(ada: Session) -> None:
    given: list[Any] = [[], "path", 7]
    for args in given:
        assert ada.call("fs.read", args)["error"]["code"] == "invalid_input"


def test_opts_that_are_not_an_object_are_refused(ada: Session) -> None:
    refused(ada, "fs.read", "invalid_input", path=NOTES, opts="quickly")


def test_a_missing_field_is_named(ada: Session) -> None:
    error = refused(ada, "md.patch_section", "invalid_input", path=CRITIC)
    assert {each["field"] for each in error["details"]["problems"]} == {"sectionAnchor", "change"}


def test_a_reviewer_changes_nothing(garden: Garden) -> None:
    reviewer = garden.session("ada", "auditor", role="reviewer")
    for tool in MUTATING:
        refused(reviewer, tool.name, "permission_denied", **tool.example)
    assert not file_of(garden, "users/ada").exists()


def test_an_agent_moves_nothing(ada: Session) -> None:
    refused(ada, "fs.move", "permission_denied", path=NOTES, newPath="users/ada/parts/critic/notes.md")


@pytest.mark.parametrize(
    "path",
    [
        "users/ben/notes.md", "users/ada/diary.md", "users/ada/../ben/notes.md", "/users/ada/notes.md",
        "users/ada/parts/critic/overview.md", "users//notes.md", "users/ada/parts/Critic/notes.md", "",
    ],
)  # fmt: skip
def test_a_path_beside_the_allowed_ones_is_refused(garden: Garden, path: str) -> None:
    operator = garden.session("ada", "operator", role="maintainer")
    for tool in REGISTRY.values():
        if "path" in tool.example:
            refused(operator, tool.name, "path_not_allowed", **{**tool.example, "path": path})


def test_history_is_written_by_no_tool(garden: Garden) -> None:
    operator = garden.session("ada", "operator", role="maintainer")
    for tool in MUTATING:
        if "path" in tool.fields:
            refused(operator, tool.name, "path_not_allowed", **{**tool.example, "path": "history/ada/notes"})


def test_a_bug_is_reported_as_internal_without_details(ada: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(EventReader, "views", broken)
    error = refused(ada, "events.query", "internal")
    assert "secret" not in json.dumps(error)


def _typed(ada: Session) -> dict[str, Answer[Any]]:
    return {
        "fs.list": ada.fs.list("users/ada", glob="*.md"),
        "fs.read": ada.fs.read(NOTES),
        "fs.search": ada.fs.search("users/ada", "Inbox", context=1),
        "fs.hash": ada.fs.hash(NOTES, section_anchor="inbox v1"),
        "md.list_sections": ada.md.list_sections(NOTES),
        "md.lint": ada.md.lint(NOTES),
        "lint.check": ada.lint.check(NOTES),
        "events.query": ada.events.query(path=NOTES),
        "tools.list": ada.tools.list(),
        "tools.help": ada.tools.help("fs.read"),
        "propose_change": ada.propose_change("fs.append", {"path": NOTES, "text": "one"}),
    }


_AS_SENT: dict[str, dict[str, Any]] = {
    "fs.list": {"path": "users/ada", "glob": "*.md"},
    "fs.search": {"root": "users/ada", "pattern": "Inbox", "context": 1},
    "fs.hash": {"path": NOTES, "sectionAnchor": "inbox v1"},
    "tools.list": {},
    "tools.help": {"tool": "fs.read"},
    "propose_change": {"tool": "fs.append", "args": {"path": NOTES, "text": "one"}},
}


def test_typed_methods_and_call_give_the_same_result(ada: Session) -> None:
    plant(ada, NOTES)
    for name, answer in _typed(ada).items():
        sent = result(ada, name, **_AS_SENT.get(name, {"path": NOTES}))
        assert REGISTRY[name].dump_result(answer.result) == sent, name


def test_a_typed_edit_equals_the_same_call_by_name(ada: Session) -> None:
    plant(ada, CRITIC)
    typed = ada.md.patch_section(
        CRITIC, "needs v1", {"replace": "- Rest"}, rationale="She said so.", evidence_refs=["ev:s1-m1"]
    )
    sent = ok(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"},
        rationale="She said so.", evidenceRefs=["ev:s1-m1"],
    )  # fmt: skip
    assert sent["meta"]["replayed"]
    assert sent["meta"]["eventId"] == typed.meta["eventId"]
    assert (typed.result.before_hash, typed.result.after_hash) == tuple(sent["result"].values())
    assert events_of(ada, CRITIC) == ["plant committed", "replace_section committed"]


def test_typed_methods_take_options_by_position_as_the_spec_writes_them(ada: Session) -> None:
    plant(ada, NOTES)
    read = ada.fs.read(NOTES)
    known, text = read.meta["documentHash"], str(read.result)
    ada.fs.write(NOTES, f"{text}\nLate.\n", {"ifMatch": known, "rationale": "She said so."})
    assert rows(ada)[0]["rationale"] == "She said so."
    assert len(ada.fs.search(NOTES, "LATE", {"ignoreCase": True}).result) == 1
    for change in (
        lambda: ada.fs.write(NOTES, text, {"ifMatch": known}),
        lambda: ada.md.patch_section(NOTES, "inbox v1", {"append": "More."}, {"if_match": known}),
    ):
        with pytest.raises(GardenError, match="changed since"):
            change()
    with pytest.raises(GardenError, match="ifMatch is given twice"):
        ada.fs.write(NOTES, text, {"ifMatch": known}, if_match=known)
    assert ada.fs.list("users/ada", "*.md").result == [NOTES]
    assert isinstance(ada.fs.read(NOTES, [{"startLine": 1, "endLine": 1}]).result, Slices)
    assert ada.fs.hash(NOTES, "inbox v1").result != ada.fs.hash(NOTES).result


def test_a_typed_method_raises_what_call_answers(ada: Session) -> None:
    with pytest.raises(GardenError) as raised:
        ada.fs.read(NOTES)
    assert raised.value.code == refused(ada, "fs.read", "not_found", path=NOTES)["code"]


@pytest.mark.parametrize("name", [None, 5, b"fs.read", ["fs.read"]])
def test_a_tool_name_that_is_not_text_is_unknown(ada: Session, name: Any) -> None:
    assert ada.call(name, {})["error"]["code"] == "unknown_tool"


def test_a_misspelt_path_or_section_is_refused_with_the_nearest_name(ada: Session) -> None:
    plant(ada, CRITIC)
    missing = {"path": CRITIC.replace("critic", "critik")}
    append = {"sectionAnchor": "concerns v1", "change": {"append": "- x"}}
    for tool, more in (("fs.read", {}), ("md.patch_section", append)):
        assert f"Did you mean {CRITIC}?" in refused(ada, tool, "not_found", **missing, **more)["hint"]
    for near, meant in (
        ("concern", "concerns v1"),
        ("what help", "what_helps v1"),
        ("sumary v1", "summary v1"),
    ):
        section = {"path": CRITIC, **append, "sectionAnchor": near}
        assert (
            refused(ada, "md.patch_section", "anchor_not_found", **section)["hint"]
            == f"Did you mean {meant!r}?"
        )
    far = refused(
        ada, "md.patch_section", "anchor_not_found", path=CRITIC, **{**append, "sectionAnchor": "sailing"}
    )
    assert "There are: " in far["hint"]
