"""The text protocol: calls that a model without native tool calls writes into its reply.

    <tool_call>{"tool": "fs.read", "params": {"path": "users/ada/notes.md"}}</tool_call>

A marker in code, in a quote or in the strings of a call is text and calls nothing.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from garden.gateway.dispatcher import Envelope
from garden.tools.strict_json import DECODER

ROUNDS_MAX = 5
CALLS_MAX = 20
_TICKS_MAX = 20
# A code fence, a line of a quote, a run of backticks, or a call: the first of them.
_NEXT = re.compile(
    r"^(?P<indent>[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|^[ \t]*>.*"
    r"|(?P<ticks>`+)|(?<![\"'\u201c\u2018\\])(?P<call><tool_call>\s*)",
    re.MULTILINE,
)
# Text that shows a call in a JSON string has its quotes escaped.
_IN_STRING = re.compile(r"\{\s*\\")
_CLOSE = re.compile(r"\s*</tool_call>")
_MARKER = re.compile("<(?=/?tool_)")
_FORM = 'Write `<tool_call>{"tool": "fs.read", "params": {"path": "..."}}</tool_call>`.'
_REST = "Nothing from there on was called; write it again."

Message = dict[str, str]
"""A message of a conversation: its `role` (system, user, assistant) and its `content`."""


class Tools(Protocol):
    """Where the calls go: a session."""

    def call(self, tool: str, args: Mapping[str, Any] | None = None) -> Envelope:
        """Call a tool by name."""

    def prompt(self) -> str:
        """Describe the tools for a system prompt."""


class TextCall(NamedTuple):
    """A call that a reply asks for."""

    tool: str
    params: Mapping[str, Any]


def find_calls(reply: str) -> tuple[list[TextCall], list[str]]:
    """Find the calls in a reply, and say in sentences what is wrong with others; never raises.

    After a call that can't be read nothing is called: what follows could be words that it quotes.
    """
    read: list[TextCall | str] = []
    place = 0
    while found := _NEXT.search(reply, place):
        if found["call"] is None or _IN_STRING.match(reply, found.end()):
            place = _end_of_text(reply, found)
        elif len(read) < CALLS_MAX:
            each, place = _read_call(reply, found.end())
            read.append(each)
        else:
            read.append(f"A reply may hold {CALLS_MAX} calls. {_REST}")
            break
    problems = [f"Call {n}: {each}" for n, each in enumerate(read, 1) if isinstance(each, str)]
    return [each for each in read if isinstance(each, TextCall)], problems


def _end_of_text(reply: str, opened: re.Match[str]) -> int:
    """Where code ends; an open fence ends with the reply, and open backticks are text unless very many."""
    start = opened.end()
    if fence := opened["fence"]:
        close = rf"^[ \t]{{0,{len(opened['indent']) + 3}}}{fence[0]}{{{len(fence)},}}[ \t]*$"
        found = re.compile(close, re.MULTILINE).search(reply, start)
        return found.end() if found else len(reply)
    if ticks := opened["ticks"]:
        if len(ticks) > _TICKS_MAX:
            return len(reply)
        found = re.compile(rf"(?<!`){ticks}(?!`)|\n[ \t]*\n").search(reply, start)
        return found.end() if found and "`" in found[0] else start
    return start


def _read_call(reply: str, place: int) -> tuple[TextCall | str, int]:
    """A call, or what is wrong with it, and where it ends: with the reply, if that is unclear."""
    try:
        value, end = DECODER.raw_decode(reply, place)
    except (ValueError, RecursionError) as error:
        return f"Its JSON can't be read: {error}. {_FORM} {_REST}", len(reply)
    closed = _CLOSE.match(reply, end)
    if closed is None:
        return f"`</tool_call>` must follow its JSON. {_REST}", len(reply)
    if isinstance(value, dict) and value.keys() <= {"tool", "params"}:
        tool, params = value.get("tool"), value.get("params", {})
        if isinstance(tool, str) and isinstance(params, dict):
            return TextCall(tool, params), closed.end()
    return f"It must be an object with tool, a text, and params, an object. {_FORM}", closed.end()


def result_text(tool: str, answer: object) -> str:
    """Write an answer for the model; no marker of a call or a result can stand in it."""
    words = json.dumps({"tool": tool, "answer": answer}, ensure_ascii=False)
    escaped = _MARKER.sub(r"\\u003c", words)
    return f"<tool_result>{escaped}</tool_result>"


def converse(
    ask: Callable[[list[Message]], str], session: Tools, prompt: str, rounds: int = ROUNDS_MAX
) -> list[Message]:
    """Ask a model, run the calls of its reply and hand it the answers, until it calls nothing.

    It is asked at most five times. Returns every message. The last is the model's reply, or, if the rounds
    ended first, the answers that it has not seen.
    """
    messages = [{"role": "system", "content": session.prompt()}, {"role": "user", "content": prompt}]
    for _ in range(min(rounds, ROUNDS_MAX)):
        reply = ask(list(messages))
        messages.append({"role": "assistant", "content": reply})
        answers = "\n".join(_answers(session, reply))
        if not answers:
            break
        messages.append({"role": "user", "content": answers})
    return messages


def _answers(session: Tools, reply: str) -> Iterator[str]:
    calls, problems = find_calls(reply)
    for call in calls:
        yield result_text(call.tool, session.call(call.tool, call.params))
    yield from problems
