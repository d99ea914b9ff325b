"""Wrong arguments of every form to every tool: each is the caller's error and has no effect."""

import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel, to_snake

from garden.gateway.dispatcher import Envelope
from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.tools.wire import WriteRequest
from tests.files.traversal_corpus import ADA, DOCUMENT
from tests.support.examples import FREE
from tests.support.gardens import out_of_step
from tests.tools.attacked import NOTES, PATHS, Scene, session_for, words_of

# `GARDEN_TEST_REQUESTS` asks for more of them.
REQUESTS = int(os.environ.get("GARDEN_TEST_REQUESTS", "200"))
MILLION = 1_000_000
TOLD_CHARACTERS_MAX = 8_000
TOOLS = tuple(REGISTRY.values())
# What some tools can be asked in this garden, where their examples need something that is not there.
GOOD: dict[str, dict[str, Any]] = {
    "fs.edit": {"find": "# Notes", "replace": "# My Notes"},
    "fs.patch": {"diffText": "@@ -7,1 +7,1 @@\n-# Notes\n+# My Notes\n"},
    "fs.move": {"path": NOTES, "newPath": f"users/{ADA}/parts/critic/notes.md"},
    "md.plant": {"path": f"users/{ADA}/overview.md"},
}
WORDS = ("", "x", "\ud800", "\0", "a\x07b", "\x1b[2J", "x" * MILLION)
WRONG: tuple[Any, ...] = (
    *WORDS,
    *(None, True, 0, -1, 1.5, 10**30, -(10**30), [], [1], {}, {"x": 1}, [[]], [None], math.nan, math.inf),
)


@pytest.fixture
def untouched(scene: Scene) -> Iterator[Scene]:
    """A scene in which nothing has changed in the end."""
    files, records = scene.files(), scene.records()
    yield scene
    assert scene.files() == files
    assert scene.records() == records


def good(tool: Tool[Any]) -> dict[str, Any]:
    return {**tool.example, **GOOD.get(tool.name, {})}


def fields(tool: Tool[Any]) -> dict[str, dict[str, Any]]:
    return dict(tool.request_schema.get("properties", {}))


def call(scene: Scene, tool: Tool[Any], args: Any) -> Envelope:
    session = session_for(scene.garden, tool)
    if tool.name == "memory.forget":
        found = session.memory.list(limit=1).result.memories
        args = standing(args, tool.example["id"], found[0].id if found else tool.example["id"])
    elif tool.name == "md.undo":
        args = standing(
            args, tool.example["event"], session.events.query(op="append_file").result.rows[0].event_id
        )
    return session.call(tool.name, args)


def standing(args: Any, example: str, real: object) -> Any:
    """The arguments with the id of a memory or an event that there is, in the place of the example's."""
    if not isinstance(args, dict):
        return args
    replaced = {name: str(real) if value == example else value for name, value in args.items()}
    nested = {name: standing(args[name], example, real) for name in ("opts", "meta") if name in args}
    return {**replaced, **nested}


def assert_told(scene: Scene, envelope: Envelope, what: object) -> None:
    """Every answer is JSON; a refusal is short, has a hint, and is not an internal error."""
    told = scene.told(envelope)
    if not envelope["ok"]:
        assert len(told) < TOLD_CHARACTERS_MAX, (what, told[:TOLD_CHARACTERS_MAX])
        assert envelope["error"]["code"] != "internal", what
        assert envelope["error"]["hint"], what


def assert_invalid(scene: Scene, tool: Tool[Any], args: Any, says: str = "") -> None:
    envelope = call(scene, tool, args)
    what = (tool.name, says, [str(name)[:20] for name in args] if isinstance(args, dict) else args)
    scene.assert_refused(envelope, what, "invalid_input")
    assert_told(scene, envelope, what)
    assert says in envelope["error"]["message"], what


def test_a_field_of_the_wrong_kind_is_the_callers_mistake_and_changes_nothing(untouched: Scene) -> None:
    for tool, field, value in itertools.chain.from_iterable(map(wrong_fields, TOOLS)):
        envelope = call(untouched, tool, {**good(tool), field: value})
        what = (tool.name, field, repr(value)[:40])
        assert_told(untouched, envelope, what)
        assert not envelope["ok"], what
        expected = "path_not_allowed" if field in PATHS and isinstance(value, str) else "invalid_input"
        assert envelope["error"]["code"] == expected, (what, envelope)


def wrong_fields(tool: Tool[Any]) -> Iterator[tuple[Tool[Any], str, Any]]:
    for field, schema in fields(tool).items():
        for value in WRONG:
            if not fits(tool, field, schema, value):
                yield tool, field, value


def fits(tool: Tool[Any], field: str, schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a value is of the field's kind, so that what comes of it is another matter."""
    kinds = schema.get("anyOf", [schema])
    names = {kind.get("type", "reference") for kind in kinds}
    if value is None:
        return "null" in names
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, str) and field in words_of(tool):
        return field not in PATHS
    if isinstance(value, list | dict):
        return (not value and bool({"array", "object"} & names)) or (value != [1] and "object" in names)
    # A time may be given as the seconds since 1970, and a count is a whole number.
    is_time = any(kind.get("format") == "date-time" for kind in kinds)
    if "number" in names and isinstance(value, int | float):
        return (-1 <= value <= 1) if field == "minSimilarity" else (0 <= value <= 100)
    return is_time or ("integer" in names and isinstance(value, int) and 0 <= value <= 1)


def test_words_of_every_unlikely_sort_are_taken_or_refused_and_never_a_fault(scene: Scene) -> None:
    shared: set[str] = set()
    for tool in TOOLS:
        of_all_writes = set(map(to_camel, WriteRequest.model_fields)) & set(fields(tool))
        for field in sorted(words_of(tool) & set(fields(tool)) - shared):
            for value in WORDS:
                envelope = call(scene, tool, {**good(tool), field: value})
                assert_told(scene, envelope, (tool.name, field, repr(value)[:40]))
        # One tool shows what the fields do that all writes share.
        shared |= of_all_writes


def test_a_field_that_is_missing_is_named(untouched: Scene) -> None:
    for tool in TOOLS:
        for field in tool.request_schema.get("required", []):
            args = {name: value for name, value in good(tool).items() if name != field}
            assert_invalid(untouched, tool, args, f"{field}: it is missing")


def test_text_in_place_of_an_object_is_refused_by_type(untouched: Scene) -> None:
    tool = REGISTRY["md.patch_section"]
    assert_invalid(untouched, tool, {**good(tool), "change": "- x"}, "change: it should be an object")


def test_list_problems_are_described_in_json_terms(untouched: Scene) -> None:
    append, curate = REGISTRY["fs.append"], REGISTRY["md.curate_list"]
    for value, says in (("ev:1", "a list"), (["ev:1"] * 51, "it should have at most 50 items")):
        assert_invalid(untouched, append, {**good(append), "evidenceRefs": value}, says)
    assert_invalid(untouched, curate, {**good(curate), "items": []}, "items: it should have at least 1 item")
    for tool in TOOLS:
        for field in fields(tool):
            for value in ("x", [], ["x"] * 60):
                envelope = call(untouched, tool, {**good(tool), "nonsense": 1, field: value})
                assert "tuple" not in envelope["error"]["message"], (tool.name, field)
                assert "dictionary" not in envelope["error"]["message"], (tool.name, field)


def test_a_field_given_twice_is_named_in_either_spelling(untouched: Scene) -> None:
    for tool in TOOLS:
        for field in fields(tool):
            right, says = {**good(tool), field: "x"}, f"{field} is given twice"
            assert_invalid(untouched, tool, {**right, "opts": {field: "x"}}, says)
            assert_invalid(untouched, tool, {**right, "opts": {to_snake(field): "x"}}, says)
            if to_snake(field) != field:
                assert_invalid(untouched, tool, {**right, to_snake(field): "x"}, says)


NO_FIELDS = ("nonsense", "PATHZ", "path ", "\ud800", "\0", "x" * 1_000, "user_id", "__class__", "")


def test_an_unknown_field_is_refused(untouched: Scene) -> None:
    long = {"x" * MILLION: 1, **{f"extra-{number}": 1 for number in range(5_000)}}
    assert_invalid(untouched, TOOLS[0], {**good(TOOLS[0]), **long}, "no such field")
    for tool in TOOLS:
        for extra in NO_FIELDS:
            says = "" if extra == "\ud800" else "no such field"
            assert_invalid(untouched, tool, {**good(tool), extra: "x"}, says)
            assert_invalid(untouched, tool, {**good(tool), "opts": {extra: "x"}}, says)


NO_OBJECTS: tuple[Any, ...] = (
    [],
    [1],
    "x",
    1,
    1.5,
    True,
    {"opts": []},
    {"opts": "x"},
    {"opts": 1},
    {"meta": 1},
)


def test_arguments_that_are_not_an_object_are_refused(untouched: Scene) -> None:
    for tool in TOOLS:
        for args in NO_OBJECTS:
            assert_invalid(untouched, tool, args)


def test_the_right_fields_are_taken_in_either_spelling_and_in_opts(scene: Scene) -> None:
    scene.garden.session(ADA).fs.write(**FREE)
    for tool in TOOLS:
        right = {**good(tool), **({"dryRun": True} if "dryRun" in fields(tool) else {})}
        snake = {to_snake(name): value for name, value in right.items()}
        for args in (right, snake, {"opts": right}, {"meta": snake}, {**right, "opts": None}):
            assert call(scene, tool, args)["ok"], (tool.name, args)


DEEP = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = sorted({field for tool in TOOLS for field in fields(tool)} | {"opts", "x"})
LIKELY = [f"users/{ADA}", NOTES, DOCUMENT, f"history/{ADA}", "concerns v1", "append", "fs.append"]
VALUES = (
    DEEP
    | st.sampled_from(LIKELY)
    | st.dictionaries(st.sampled_from(["replace", "append", "match", "into", "from", "path", "text"]), DEEP)
)


@settings(max_examples=REQUESTS, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_arguments_at_all_make_a_tool_fail(scene: Scene, data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(TOOLS))
    args = data.draw(st.dictionaries(st.sampled_from([*fields(tool), *FIELDS]), VALUES, max_size=6))
    some = {name: good(tool)[name] for name in good(tool) if data.draw(st.booleans())}
    for each in ({**some, **args}, {**args, **some}):
        assert_told(scene, call(scene, tool, each), each)


EARLY = ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z")
LATE = ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59+14:00")


def test_a_time_before_or_after_all_others_narrows_the_search_as_any_other_does(untouched: Scene) -> None:
    ada = untouched.garden.session(ADA)
    everything = len(ada.events.query().result.rows)
    for time in (*EARLY, *LATE):
        found = [ada.call("events.query", {name: time})["result"]["rows"] for name in ("since", "until")]
        expected = [everything, 0] if time in EARLY else [0, everything]
        assert [len(rows) for rows in found] == expected, time
        for name, tool in itertools.product(("from", "to", "asOf"), ("memory.list", "memory.recall")):
            more = {"query": "notes"} if tool == "memory.recall" else {}
            assert ada.call(tool, {name: time, **more})["ok"], (tool, name, time)


def test_an_invalid_time_is_refused(untouched: Scene) -> None:
    query = REGISTRY["events.query"]
    for time in (0, 10**30, -(10**30), math.inf, math.nan, "tomorrow", "2026-11-18T28:25:00", ""):
        for name in ("since", "until"):
            assert_invalid(untouched, query, {name: time})


NO_DETAILS: tuple[dict[Any, Any], ...] = (
    *({"a": math.nan}, {"a": [math.inf]}, {"a": "\ud800"}, {"a": "\0"}, {"\0": 1}, {"a": object()}),
    *({("a",): 1}, {"a": 10**5000}, {"a": "x" * MILLION}, {"a": {1, 2}}, {str(n): n for n in range(9_999)}),
)


def test_details_that_are_not_json_are_refused(untouched: Scene) -> None:
    for number, details in enumerate(NO_DETAILS):
        args = {"type": "observation", "rationale": "so", "details": details}
        envelope = untouched.garden.session(ADA).call("events.log", args)
        untouched.assert_refused(envelope, number, "invalid_input")
        assert_told(untouched, envelope, number)


def test_details_that_are_nested_too_deep_are_refused(untouched: Scene) -> None:
    for depth, kind in itertools.product([33, 300, 5_000], [dict, list]):
        nested: Any = 1
        for _ in range(depth):
            nested = {"a": nested} if kind is dict else [nested]
        args = {"type": "decision", "details": {"a": nested}}
        assert_invalid(untouched, REGISTRY["events.log"], args, "nested at most 32 deep")


def test_details_of_a_reasonable_depth_are_kept(scene: Scene) -> None:
    ada = scene.garden.session(ADA)
    details = {"a": [{"b": [1.5, None, True, "ü"]}]}
    assert ada.events.log("decision", details=details).meta["eventId"]
    assert ada.events.query(type="decision").result.rows[0].edit == {"kind": "note", "details": details}


def test_details_are_sealed_as_the_database_returns_them(scene: Scene) -> None:
    ada = scene.garden.session(ADA)
    ada.events.log("decision", details={"a": {10: "x", 2: "y", True: 1.0, None: ()}})
    [row] = ada.events.query(type="decision").result.rows
    assert row.edit == {"kind": "note", "details": {"a": {"10": "x", "2": "y", "true": 1.0, "null": []}}}
    assert out_of_step(scene.garden) == []


def test_control_characters_beside_an_edit_are_refused(untouched: Scene) -> None:
    beside = ["rationale", "overrideRationale", "toolCallId", "transactionId", "agentActionId"]
    for field, value in itertools.product([*beside, "idempotencyKey"], ["\0", "\x1b", "\ud800"]):
        args = {"path": NOTES, "text": "slept well", field: f"because{value}"}
        assert_invalid(untouched, REGISTRY["fs.append"], args)


def test_a_bug_is_logged_without_the_words_of_the_call(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(type(scene.garden.services.reader), "views", broken)
    told = scene.garden.session(ADA).call("events.query", {"text": "the words that I looked for"})
    assert json.dumps(told["error"]["details"]) == "{}"
    assert told["error"]["code"] == "internal"
    written = capsys.readouterr()
    assert "ZeroDivisionError" in written.out + written.err
    assert "looked for" not in written.out + written.err
