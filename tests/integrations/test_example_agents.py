"""The examples of three frameworks, each with the model that its framework has for tests."""

import asyncio
import runpy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agents.testing import ScriptedModel, assistant_message, function_call
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from garden.home.folder import Home
from tests.docs.pages import REPOSITORY
from tests.integrations.test_google_adk import ScriptedLlm

TEA = "I like mint tea."


@pytest.fixture
def example(ready_home: Home, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Callable[..., Any]]:
    """Load the main function of an example that uses this home."""
    monkeypatch.setenv("GARDEN_HOME", str(ready_home.path))
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")

    def main_of(name: str) -> Callable[..., Any]:
        main: Callable[..., Any] = runpy.run_path(str(REPOSITORY / "examples" / name))["main"]
        return main

    return main_of


@pytest.fixture
def _closed_loop() -> Iterator[None]:
    """The event loop that `run_sync` leaves open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.usefixtures("_closed_loop")
def test_a_session_goes_on_in_the_next_run(example: Any, ready_home: Home, capsys: Any) -> None:
    main = example("openai_agents_session.py")
    store = function_call("memory_store", {"content": "Likes mint tea."}, call_id="call-1")
    main(TEA, ScriptedModel([[store], [assistant_message("Noted.")]]))
    later = ScriptedModel([[assistant_message("Mint.")]])
    main("Which tea do I like?", later)
    assert capsys.readouterr().out == "Noted.\nMint.\n"
    assert later.last_call is not None
    assert next(each.get("content") for each in later.last_call.input) == TEA  # type: ignore[union-attr]
    assert "Likes mint tea." in (ready_home.path / "users/me/notes.md").read_text()
    assert f"- user: {TEA}" in (ready_home.path / "users/me/memories/sessions/kitchen-table.md").read_text()


def test_an_agent_stores_and_recalls_with_the_tools(example: Any, capsys: Any) -> None:
    calls = iter(
        [ToolCallPart("memory_store", {"content": TEA}), ToolCallPart("memory_recall", {"query": "tea"})]
    )

    def model(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        last: Any = messages[-1].parts[-1]
        return ModelResponse(parts=[next(calls, None) or TextPart(str(last.content))])

    asyncio.run(example("pydantic_ai_agent.py")("What do I like?", FunctionModel(model)))
    assert TEA in capsys.readouterr().out


def test_an_agent_remembers_an_earlier_session(example: Any, capsys: Any) -> None:
    main = example("google_adk_memory.py")
    asyncio.run(main("The lamp was lit late.", ScriptedLlm(model="scripted")))
    assert "The lamp was lit late." not in capsys.readouterr().out
    asyncio.run(main("When was the lamp lit?", ScriptedLlm(model="scripted")))
    assert "The lamp was lit late." in capsys.readouterr().out
