"""The OpenAI Agents SDK: its runner with a scripted model, a session and the garden's tools."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from agents import Agent, RunConfig, Runner, SessionSettings
from agents.memory import Session
from agents.testing import ScriptedModel, assistant_message, function_call

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.integrations.openai_agents import GardenSession, function_tools
from tests.integrations.conformance import LAMP, USER, Conformance, Driver, waited
from tests.support.gardens import events_of

_QUIET = RunConfig(tracing_disabled=True)
PATH = "users/ada/memories/sessions/chat-7.md"


class SessionDriver(Driver):
    """Messages of a session; all of it comes back, whatever the question."""

    actor = "openai-agents"
    # Items have no ids, and the SDK's own sessions keep what is added twice; so does this one.
    copies_of_resent = 2

    def __init__(self, home: Path, user: str = USER) -> None:
        self.session = GardenSession("chat-7", user, home=home)

    def remember(self, text: str) -> None:
        waited(self.session.add_items([{"role": "user", "content": text}]))

    def recalled(self, query: str) -> str:  # noqa: ARG002
        return json.dumps(waited(self.session.get_items()))

    def refused(self) -> str:
        with pytest.raises(GardenError) as refusal:
            self.remember("too long " * 200_000)
        return f"{refusal.value} {refusal.value.hint}"

    def resend(self, text: str) -> None:
        for _ in range(2):
            self.remember(text)

    def close(self) -> None:
        self.session.close()


class ToolDriver(Driver):
    """Function tools that the SDK's runner calls for a scripted model."""

    actor = "openai-agents"

    def __init__(self, home: Path, user: str = USER) -> None:
        self.tools = function_tools(user, home=home)
        self.user = user

    def call(self, tool: str, **args: Any) -> str:
        steps = [[function_call(tool, args, call_id=uuid4().hex)], [assistant_message("Done.")]]
        model = ScriptedModel(steps)
        waited(Runner.run(Agent("Companion", tools=[*self.tools], model=model), "Go on.", run_config=_QUIET))
        assert model.last_call is not None
        [*_, answer] = model.last_call.input
        return str(answer["output"])  # type: ignore[index]

    def remember(self, text: str) -> None:
        self.call("memory_store", content=text)

    def recalled(self, query: str) -> str:
        return self.call("memory_recall", query=query)

    def replace(self, old: str, new: str) -> None:
        self.call("fs_edit", path=f"users/{self.user}/notes.md", find=old, replace=new)

    def refused(self) -> str:
        return self.call("fs_edit", path=f"users/{self.user}/notes.md", find="Never said.", replace="")

    def resend(self, text: str) -> None:
        for _ in range(2):
            self.call("memory_store", content=text, idempotencyKey="one-request")

    def close(self) -> None:
        """The list of tools has no end of its own; the garden is closed with it."""
        self.tools.clear()


class TestSession(Conformance):
    driver = SessionDriver


class TestFunctionTools(Conformance):
    driver = ToolDriver


@pytest.fixture
def session(garden: Garden) -> GardenSession:
    return GardenSession("chat-7", "ada", garden=garden)


ITEMS: list[Any] = [
    {"content": "I sleep better with the window open.", "role": "user"},
    assistant_message("Noted.\n\n- open window").model_dump(),
    {"type": "function_call", "name": "x", "arguments": '{"a": "`b`"}', "call_id": "c1"},
    {"role": "user", "content": "# Heading\n<!-- @anchor: x v1 -->\n\u200b```"},
    {"role": "user", "content": ""},
]


def test_a_run_continues_what_the_session_holds(garden: Garden, session: GardenSession) -> None:
    assert isinstance(session, Session)
    model = ScriptedModel([[assistant_message("Noted.")], [assistant_message("Open.")]])
    agent = Agent("Companion", model=model)

    async def two_runs() -> None:
        for said in ("I like the window open.", "How do I like it?"):
            await Runner.run(agent, said, session=session, run_config=_QUIET)

    asyncio.run(two_runs())
    assert model.last_call is not None
    assert [each.get("role") for each in model.last_call.input] == ["user", "assistant", "user"]  # type: ignore[union-attr]
    text = str(garden.session("ada").fs.read(PATH).result)
    assert text.startswith("# chat-7\n\n- user: I like the window open.\n\n- assistant: Noted.\n<!-- {")


def test_items_come_back_exactly_and_the_last_first_when_popped(session: GardenSession) -> None:
    async def back_and_forth() -> None:
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS
        assert await session.get_items(limit=2) == ITEMS[-2:]
        assert await session.get_items(limit=0) == []
        session.session_settings = SessionSettings(limit=1)
        assert await session.get_items() == ITEMS[-1:]
        assert [await session.pop_item() for _ in range(6)] == [*reversed(ITEMS), None]

    asyncio.run(back_and_forth())


def test_a_long_session_is_read_whole(session: GardenSession) -> None:
    items: list[Any] = [{"role": "user", "content": f"line {number}\nand more"} for number in range(600)]
    waited(session.add_items(items))
    assert waited(session.get_items()) == items
    assert waited(session.pop_item()) == items[-1]


def test_a_cleared_session_is_archived_and_can_be_used_again(garden: Garden, session: GardenSession) -> None:
    async def cleared() -> None:
        assert await session.pop_item() is None
        await session.clear_session()
        await session.add_items(ITEMS)
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS[:1]

    asyncio.run(cleared())
    assert events_of(garden.session("ada"), PATH) == [
        "write_file committed", "append_file committed", "archive committed", "append_file committed",
    ]  # fmt: skip


def test_what_a_person_writes_between_items_stays_and_is_no_item(
    garden: Garden, session: GardenSession
) -> None:
    waited(session.add_items(ITEMS[:2]))
    garden.session("ada").fs.append(PATH, "A remark.\n\n- a list of hers")
    garden.session("ada").fs.edit(PATH, "sleep better", "sleep well")
    said, answered = waited(session.get_items())
    assert said == {"content": "I sleep well with the window open.", "role": "user"}
    assert waited(session.pop_item()) == answered == ITEMS[1]
    assert "A remark." in str(garden.session("ada").fs.read(PATH).result)


def test_arguments_that_are_no_object_are_answered(ready_home: Home) -> None:
    driver = ToolDriver(ready_home.path)
    tool = next(each for each in driver.tools if each.name == "fs_read")
    context: Any = SimpleNamespace(tool_call_id="call-1")

    async def answer(arguments: str) -> str:
        return str(await tool.on_invoke_tool(context, arguments))

    for arguments in ("{", "[]"):
        assert waited(answer(arguments)).startswith("invalid_input:")
    driver.close()


@pytest.mark.parametrize("session_id", ["Chat 7", "../../notes", "ÄÖ", "a" * 200, "", "x\ny"])
def test_any_session_id_has_a_document_of_its_own(garden: Garden, session_id: str) -> None:
    session = GardenSession(session_id, "ada", garden=garden)
    waited(session.add_items(ITEMS[:1]))
    assert waited(session.get_items()) == ITEMS[:1]
    assert session.path.startswith("users/ada/memories/sessions/")
    assert LAMP not in session.path


def test_two_programs_that_take_items_back_at_once_never_take_the_same_one(garden: Garden) -> None:
    sessions = [GardenSession("chat-7", USER, garden=garden) for _ in range(2)]
    items: list[Any] = [{"role": "user", "content": str(number)} for number in range(8)]

    async def pop_all() -> list[Any]:
        await sessions[0].add_items(items)
        return await asyncio.gather(*(each.pop_item() for each in sessions * 4))

    popped = waited(pop_all())
    assert sorted(popped, key=lambda each: str(each["content"])) == items
    assert waited(sessions[0].get_items()) == []


@pytest.mark.parametrize("session_id", ["a\x07b", "\ud800", "<!-- open", "```", "\u2028"])
def test_a_session_may_have_any_id(garden: Garden, session_id: str) -> None:
    session = GardenSession(session_id, USER, garden=garden)
    item: Any = {"role": "user", "content": "Hello."}
    waited(session.add_items([item]))
    assert waited(session.get_items()) == [item]
    [found] = session.opening.ask("memory.list", {"kinds": ["memories"]}).memories
    assert found.text == "user: Hello."
