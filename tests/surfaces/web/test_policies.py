"""Policies over HTTP and MCP: those of the settings, and those that a token brings."""

import json
import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from garden.home.settings import TokenPolicy
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.processes import garden as run_garden
from tests.support.served import Person, Service, home_of_its_own, served
from tests.support.waiting import until
from tests.surfaces.web.test_robustness import LISTENING, SPOKEN
from tests.surfaces.web.test_tool_routes import refused

OPTIONS = (
    "--phase",
    "observe",
    "--remove",
    "fs.list",
    "--ask",
    "events.query",
    "--deny",
    "memory.*",
    "--preset",
    "strict",
)


@pytest.fixture
def limited(server: TestServer) -> Iterator[Service]:
    """A service of two processes in a home whose agents may call three times a minute."""
    with home_of_its_own(server, run_folder()) as home:
        with (home.path / "garden.toml").open("a") as settings:
            settings.write("[gateway.actors.agent.limits]\nactor_minute = 3\n")
        with served(home, "--processes", "2") as service:
            yield service


def ask_mcp(
    client: httpx2.Client,
    method: str,
    params: dict[str, Any],
    part: str = "result",
    at: str = "/mcp",
) -> Any:
    meta = LISTENING["params"]["_meta"]
    body = {**LISTENING, "method": method, "params": {"_meta": meta, **params}}
    headers = {**SPOKEN, "mcp-protocol-version": "2026-07-28", "mcp-method": method}
    if name := params.get("name", params.get("uri")):
        headers["mcp-name"] = name
    answer = client.post(at, json=body, headers=headers)
    text = answer.text.partition("data: ")[2] if "data: " in answer.text else answer.text
    return json.loads(text)[part]


def test_a_token_with_a_policy_narrows_what_its_calls_may_do(ada: Person, service: Service) -> None:
    home = service.garden.home.path
    made = run_garden(
        *("token", "create", "--user", ada.user_id, "--role", "agent", "--actor", "guest", *OPTIONS),
        home=home,
    )
    permissions = {"events.query": "ask", "memory.*": "deny"}
    policy = {"phase": "observe", "preset": "strict", "remove": ["fs.list"], "permissions": permissions}
    listed = json.loads(run_garden("token", "list", "--user", ada.user_id, "--json", home=home).stdout)
    assert [each["policy"] for each in listed] == [None, policy]
    with service.client(made.stdout.strip()) as guest:
        append = {"path": ada.notes, "text": "Slept well."}
        error = refused(guest.post("/v1/tools/fs.append", json=append), 403, "permission_denied")
        assert error["details"] == {"tool": "fs.append", "phase": "tend"}
        refused(guest.post("/v1/tools/fs.list", json={"path": "users"}), 403, "permission_denied")
        listed = ask_mcp(guest, "tools/list", {}, at="/mcp?profile=full")["tools"]
        assert {"fs_read", "tools_list"} <= {tool["name"] for tool in listed}
        assert not {"fs_append", "fs_list", "md_plant"} & {tool["name"] for tool in listed}
        answer = ask_mcp(guest, "tools/call", {"name": "fs_append", "arguments": append})
        assert answer["structuredContent"]["error"]["code"] == "permission_denied"
        reads = [guest.post("/v1/tools/fs.read", json={"path": ada.notes}) for _ in range(9)]
        assert [each.status_code for each in reads] == [200] * 8 + [429]
    # The same garden through a token without a policy.
    ada.ok("fs.append", **append)


def test_what_is_no_tool_obeys_the_rules_of_the_tool_that_shows_the_same(
    ada: Person, service: Service
) -> None:
    event_id = ada.ok("fs.append", path=ada.notes, text="Slept well.")["meta"]["eventId"]
    tools = ("fs.read", "fs.list", "history.show", "events.query")
    policy = TokenPolicy(permissions=dict.fromkeys(tools, "deny"))
    issued = service.garden.tokens.create(
        ada.user_id, role="agent", actor="guest", expires_at=None, policy=policy
    )
    with service.client(issued.secret) as guest:
        for route in (
            f"documents/{ada.notes}",
            f"documents/{ada.notes}?lines=1-2",
            "documents",
            f"history/{ada.notes}",
            f"history/{ada.notes}?version=1",
            f"events/{event_id}",
            "events/stream",
        ):
            refused(guest.get(f"/v1/{route}"), 403, "permission_denied")
        uri = f"garden://{ada.notes}"
        for method, params in (
            ("resources/list", {}),
            ("resources/read", {"uri": uri}),
            ("resources/read", {"uri": f"{uri}?version=1"}),
        ):
            answer = ask_mcp(guest, method, params, part="error")
            assert answer["data"]["code"] == "permission_denied"
    calls = service.garden.services.calls
    until(lambda: calls.stats(ada.user_id, timedelta(1), "guest")["refusals"] == {"permission_denied": 10})


def test_processes_share_a_limit_and_a_refusal_says_when_to_come_back(limited: Service) -> None:
    issued = limited.garden.tokens.create("ada", role="agent", actor="agent", expires_at=None)
    answers = []
    for _ in range(8):
        with limited.client(issued.secret) as client:
            answers.append(client.get("/v1/tools"))
    assert [each.status_code for each in answers] == [200] * 3 + [429] * 5
    error = refused(answers[-1], 429, "rate_limited")
    assert error["details"]["limit"] == "actor_minute"
    assert answers[-1].headers["retry-after"] == str(math.ceil(error["details"]["retryAfterMs"] / 1000))


def test_a_policy_that_names_no_tool_makes_no_token(service: Service, ada: Person) -> None:
    words = ("token", "create", "--user", ada.user_id, "--role", "agent", "--deny", "fs.raed")
    made = run_garden(*words, home=service.garden.home.path)
    assert (made.returncode, made.stdout) == (1, "")
    assert "permissions names 'fs.raed', which does not exist; did you mean 'fs.read'?" in made.stderr
    assert service.garden.tokens.list(ada.user_id) == (ada.token,)
