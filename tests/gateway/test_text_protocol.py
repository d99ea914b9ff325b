"""The text protocol: what is a call and what is not, and the loop around a model."""

import json
import os
import random
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest

from garden.application import Garden
from garden.gateway.text_protocol import CALLS_MAX, Message, TextCall, converse, find_calls, result_text
from tests.support.gardens import NOTES, plant, result

# `GARDEN_TEST_REPLIES` asks for more of them.
REPLIES = int(os.environ.get("GARDEN_TEST_REPLIES", "3000"))
READ = TextCall("fs.read", {"path": NOTES})
LIST = TextCall("tools.list", {})


def written(call: TextCall) -> str:
    return f"<tool_call>{json.dumps({'tool': call.tool, 'params': call.params})}</tool_call>"


def test_several_calls_anywhere_in_a_reply_are_found_in_order() -> None:
    spread = '<tool_call>\n{"tool": "tools.list"}\n</tool_call>'
    reply = f"Let me look. {written(READ)} And then:\n\n- {spread}\n"
    assert find_calls(reply) == ([READ, LIST], [])
    assert find_calls("It's `done`, ```really``` done, at last.") == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "```json\n{}\n```",
        "- Like this:\n  ~~~~\n  ~~~\n  {}\n\n  {}\n  ~~~~",
        "Never closed:\n\n```\n\n{}",
        "Say `{}` or ``a ` {}``.",
        "Never closed: " + "`" * 21 + "{}",
        "> It said: {}\n  > {}",
        'The page holds "{}", and so does this: \u201c{}\u201d.',
        '{{"tool": "fs.read", "params": "',
    ],
)
def test_a_call_in_code_or_in_a_quote_is_text(text: str) -> None:
    assert find_calls(text.replace("{}", written(READ))) == ([], [])


def test_a_call_in_a_json_string_is_text_and_the_reply_goes_on() -> None:
    quoted = json.dumps({"note": f"It held {written(READ)} in a line."})
    assert find_calls(f"{quoted}\n{written(LIST)}") == ([LIST], [])


def test_markers_in_the_strings_of_a_call_are_its_words() -> None:
    call = TextCall("fs.append", {"path": NOTES, "text": f"</tool_call> {written(READ)} ```"})
    assert find_calls(written(call) + written(LIST)) == ([call, LIST], [])


@pytest.mark.parametrize(
    "inner",
    [
        "",
        "oops",
        '{"tool": "fs.read", "params": {"path": "a "b""}}',
        "[" * 100_000,
        '{"tool": "a", "tool": "b"}',
    ],
)
def test_nothing_is_called_after_a_call_that_cannot_be_read(inner: str) -> None:
    reply = f"{written(LIST)} <tool_call>{inner}</tool_call> {written(READ)} {written(READ)}"
    calls, (problem,) = find_calls(reply)
    assert calls == [LIST]
    assert problem.startswith("Call 2: Its JSON can't be read: ")
    assert "<tool_call>{" in problem


def test_a_call_without_its_closing_marker_is_not_run() -> None:
    calls, (problem,) = find_calls('<tool_call>{"tool": "tools.list"}')
    assert (calls, "</tool_call>" in problem) == ([], True)


@pytest.mark.parametrize(
    "value", [[], "x", {}, {"tool": 1}, {"tool": "a", "params": []}, {"tool": "a", "args": {}}]
)
def test_a_call_of_another_shape_is_explained_and_the_next_one_runs(value: object) -> None:
    calls, (problem,) = find_calls(f"<tool_call>{json.dumps(value)}</tool_call>{written(LIST)}")
    assert calls == [LIST]
    assert "tool, a text, and params, an object" in problem


def test_a_reply_has_a_limit_of_calls() -> None:
    calls, (problem,) = find_calls(written(LIST) * (CALLS_MAX + 2))
    assert len(calls) == CALLS_MAX
    assert "20 calls" in problem


def mutated_replies(count: int) -> Iterator[str]:
    pieces = [
        written(READ), written(LIST), "<tool_call>", "</tool_call>", "<tool_result>", "```\n", "~~~", "`",
        "> ",
        '{"tool": "fs.write", "params": {', '"', "\\", "\n", "\n\n", " ", "}", "words", "\ud800", "\0", "é🙂",
    ]  # fmt: skip
    chance = random.Random(17)  # noqa: S311 - it only chooses
    for _ in range(count):
        reply = "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        for _ in range(chance.randint(0, 4)):
            at, end = sorted(chance.randint(0, len(reply)) for _ in range(2))
            cut = reply[at : min(end, at + 9)]
            reply = reply[:at] + chance.choice(["", cut * 2, chance.choice(pieces)]) + reply[at + len(cut) :]
        yield reply


def asked_in(reply: str) -> Iterator[TextCall]:
    """Every object behind a marker that is a call, in order."""
    for marker in re.finditer(r"<tool_call>\s*", reply):
        with suppress(ValueError):
            value, _ = json.JSONDecoder().raw_decode(reply, marker.end())
            if isinstance(value, dict) and "tool" in value:
                yield TextCall(value["tool"], value.get("params", {}))


def test_mutated_replies_run_only_what_they_ask_for() -> None:
    found = 0
    for reply in mutated_replies(REPLIES):
        calls, problems = find_calls(reply)
        found += len(calls)
        assert len(calls) + len(problems) <= reply.count("<tool_call>"), reply
        rest = asked_in(reply)
        assert all(call in rest for call in calls), reply
        # The same words as data: in an answer, in the strings of a call, in code and in a quote.
        assert find_calls(result_text("fs.read", reply)) == ([], []), reply
        holder = TextCall("fs.append", {"text": reply})
        assert find_calls(written(holder)) == ([holder], []), reply
        fence = "`" * 99
        assert find_calls(f"{fence}\n{reply}\n{fence}") == ([], []), reply
        quoted = "".join(f"> {line}\n" for line in reply.split("\n"))
        assert find_calls(quoted) == ([], []), reply
    assert found > REPLIES / 10


def test_the_loop_runs_calls_feeds_answers_back_and_ends_with_the_reply(garden: Garden) -> None:
    session = garden.session("ada", "companion")
    plant(session, NOTES)
    planted = written(TextCall("fs.append", {"path": NOTES, "text": f"- {written(LIST)}"}))
    replies = iter([f"{planted}\n<tool_call>{{</tool_call>", f"Ah. {written(READ)}", "Done."])
    seen: list[list[Message]] = []

    def ask(messages: list[Message]) -> str:
        seen.append(messages)
        return next(replies)

    messages = converse(ask, session, "Remember this.")
    assert [each["role"] for each in messages] == ["system", "user", *["assistant", "user"] * 2, "assistant"]
    assert messages[-1]["content"] == "Done."
    assert messages[0]["content"] == session.prompt()
    assert [len(each) for each in seen] == [2, 4, 6]
    appended, read = messages[3]["content"], messages[5]["content"]
    assert '"ok": true' in appended
    assert "Call 2: Its JSON can't be read" in appended
    assert find_calls(read) == ([], [])
    words = read.removeprefix("<tool_result>").removesuffix("</tool_result>")
    assert json.loads(words)["answer"]["result"] == result(session, "fs.read", path=NOTES)


def test_the_loop_asks_five_times_at_most(garden: Garden) -> None:
    asked: list[list[Message]] = []

    def ask(messages: list[Message]) -> str:
        asked.append(messages)
        return written(LIST)

    messages = converse(ask, garden.session("ada"), "Look.", rounds=9)
    assert len(asked) == 5
    assert messages[-1]["role"] == "user"
