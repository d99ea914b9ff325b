"""Pydantic AI: its agent with a scripted model calls the garden's tools."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from garden.application import Garden
from garden.home.folder import Home
from garden.integrations.pydantic_ai import GardenToolset
from tests.integrations.conformance import USER, Conformance, Driver, waited


def called(toolset: GardenToolset, tool: str, **args: Any) -> str:
    """Have a scripted model call a tool once; returns what it was answered."""
    answers: list[str] = []

    def model(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart(tool, args)])
        part: Any = messages[-1].parts[0]
        is_refused = isinstance(part, RetryPromptPart)
        answers.append(part.model_response() if is_refused else json.dumps(part.content))
        return ModelResponse(parts=[TextPart("Done.")])

    waited(Agent(FunctionModel(model), toolsets=[toolset]).run("Go on."))
    [answer] = answers
    return answer


class ToolsetDriver(Driver):
    """The toolset, in an agent."""

    actor = "pydantic-ai"

    def __init__(self, home: Path, user: str = USER) -> None:
        self.toolset = GardenToolset(user, home=home)
        self.notes = f"users/{user}/notes.md"

    def remember(self, text: str) -> None:
        called(self.toolset, "memory_store", content=text)

    def recalled(self, query: str) -> str:
        return called(self.toolset, "memory_recall", query=query)

    def replace(self, old: str, new: str) -> None:
        called(self.toolset, "fs_edit", path=self.notes, find=old, replace=new)

    def refused(self) -> str:
        return called(self.toolset, "fs_edit", path=self.notes, find="Never said.", replace="")

    def resend(self, text: str) -> None:
        for _ in range(2):
            called(self.toolset, "memory_store", content=text, idempotencyKey="one-request")

    def close(self) -> None:
        self.toolset.close()


class TestToolset(Conformance):
    driver = ToolsetDriver


def test_every_tool_of_the_garden_is_listed_with_its_schema(garden: Garden) -> None:
    model = TestModel(call_tools=[])
    waited(Agent(model, toolsets=[GardenToolset("ada", garden=garden, id="garden")]).run("Hello."))
    assert model.last_model_request_parameters is not None
    shown = model.last_model_request_parameters.function_tools
    listed = garden.session("ada").tool_list("mcp")
    assert {each.name: each.parameters_json_schema for each in shown} == {
        each["name"]: each["inputSchema"] for each in listed
    }


def test_a_write_names_the_call_that_it_came_from(garden: Garden) -> None:
    called(GardenToolset("ada", garden=garden), "memory_store", content="She likes tea.")
    [row] = garden.session("ada").call("events.query", {"limit": 1})["result"]["rows"]
    assert row["toolCallId"].startswith("pyd_ai_")


def test_a_model_is_asked_again_and_gives_up_after_its_retries(garden: Garden) -> None:
    def stubborn(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart("fs_read", {"path": "users/ben/notes.md"})])

    agent = Agent(FunctionModel(stubborn), toolsets=[GardenToolset("ada", garden=garden)], retries=1)
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries"):
        waited(agent.run("Go on."))


def test_what_only_a_person_can_allow_uses_up_no_retry(ready_home: Home) -> None:
    with (ready_home.path / "garden.toml").open("a") as settings:
        settings.write('\n[gateway.permissions]\n"memory.store" = "ask"\n')
    call = ToolCallPart("memory_store", {"content": "She likes tea."})
    script: Any = iter([call, call, call, TextPart("I can't.")])

    def model(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[next(script)])

    with GardenToolset("ada", home=ready_home.path) as toolset:
        run = waited(Agent(FunctionModel(model), toolsets=[toolset], retries=1).run("Go on."))
    assert run.output == "I can't."
    assert "permission_required" in str(run.all_messages())
