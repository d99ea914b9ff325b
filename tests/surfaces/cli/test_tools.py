"""`tools`, and the options of `call`."""

import json
from typing import Any, get_args

import pytest

from garden.session import Session
from garden.surfaces.cli.tools import ListFormat, RoleName
from garden.tools import descriptions
from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.writing.callers import Role
from tests.support.gardens import result
from tests.surfaces.cli.conftest import Command


def test_every_tool_is_listed_in_a_line(run: Command) -> None:
    head, *lines = run.well("tools").splitlines()
    assert head.split()[0] == "tool"
    assert [line.split()[0] for line in lines] == list(REGISTRY)
    assert [each["name"] for each in run("tools", "--json").json] == list(REGISTRY)


@pytest.mark.parametrize("tool", REGISTRY.values(), ids=lambda tool: tool.name)
def test_a_tool_is_explained_with_every_parameter_and_an_example(run: Command, tool: Tool[Any]) -> None:
    shown = run.well("tools", tool.name)
    assert tool.summary in shown
    words = {line.split()[0] for line in shown.splitlines() if line.strip()}
    assert set(tool.request_schema["properties"]) <= words
    assert shown.splitlines()[-1].startswith(f"Example: garden call {tool.name} '")
    schemas = run("tools", tool.name, "--schema").json
    assert schemas == {"request": tool.request_schema, "result": tool.result_schema}
    assert run("tools", tool.name, "--json").json["example"] == dict(tool.example)


def test_an_unknown_tool_is_refused_with_a_suggestion(run: Command) -> None:
    assert "Did you mean fs.read" in run.fails("tools", "fs.raed")
    assert "'garden tools' names every tool." in run.fails("tools", "nope")
    assert "--schema needs the name of a tool." in run.fails("tools", "--schema", code=2)
    assert run("tools", "fs.raed", "--json").json["error"]["code"] == "unknown_tool"


def test_tools_need_no_home(run: Command) -> None:
    nowhere = run.home.parent / "elsewhere"
    run.well("--home", nowhere, "tools")
    assert not nowhere.exists()


def test_the_roles_of_the_command_are_those_of_the_tools() -> None:
    assert set(get_args(RoleName)) == set(Role)
    assert ListFormat == descriptions.ListFormat


def test_the_prompt_and_the_lists_are_those_of_the_session(run: Command, ada: Session) -> None:
    assert run.well("tools", "prompt") == ada.prompt() + "\n"
    assert "### fs.append" not in run.well("tools", "prompt", "--user", "ada", "--role", "reviewer")
    for name in get_args(ListFormat):
        assert run("tools", "export", "--format", name).json == ada.tool_list(name)
    assert "'anthropic', 'openai', 'mcp', 'gemini'" in run.fails("tools", "export", "--format", "x", code=2)


def test_an_archon_request_comes_from_a_file_or_from_stdin(run: Command, ada: Session) -> None:
    calls = [{"name": "archon.fs.list", "args": {"path": "users/ada"}}, {"name": "archon.fs.delete"}]
    request = {"phase": "EXECUTE", "intent": "tool_call", "summary": "Look.", "tools": calls[:1]}
    file = run.home / "request.json"
    file.write_text(json.dumps(request))
    done = run("call", "--archon", file)
    listed = result(ada, "fs.list", path="users/ada")
    assert (done.code, done.json["results"][0]["result"]["result"]) == (0, listed)
    refused = run("call", "--archon", "-", given=json.dumps({**request, "tools": calls}).encode())
    assert (refused.code, refused.json["denied"]) == (1, ["archon.fs.delete"])
    wrong = run("call", "--archon", "-", given=b"{}")
    assert (wrong.code, wrong.json["error"]["code"]) == (1, "invalid_input")
    assert "Name a tool" in run.fails("call", code=2)
    assert "Name a tool" in run.fails("call", "fs.list", "--archon", "-", code=2)
    assert "can't be read" in run.fails("call", "--archon", "nowhere.json", code=2)


@pytest.mark.usefixtures("ada")
def test_a_call_may_be_printed_over_several_lines(run: Command) -> None:
    words = ["call", "fs.list", '{"path": "users/ada"}']
    assert len(run.well(*words).splitlines()) == 1
    pretty = run.well(*words, "--pretty")
    assert len(pretty.splitlines()) > 1
    assert json.loads(pretty)["result"] == run(*words, "--json").json["result"]


@pytest.mark.usefixtures("ada")
def test_an_unknown_role_is_wrong_usage(run: Command) -> None:
    message = run.fails("call", "tools.list", "--role", "king", code=2)
    assert "'agent', 'reviewer', 'maintainer'" in message
