"""The mount below `/mcp`: its calls are counted and bounded like those of the other routes."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import httpx2

from garden.events.records import Caller
from garden.home.folder import Home
from tests.support.served import Person, Service, served
from tests.support.waiting import until_a_lock_is_awaited
from tests.surfaces.web.test_tool_routes import refused

_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "a client", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def called(person: Person, tool: str, /, **arguments: Any) -> httpx2.Response:
    """Call a tool by the newer protocol."""
    params = {"name": tool, "arguments": arguments, "_meta": _META}
    headers = {
        "accept": "application/json, text/event-stream", "mcp-protocol-version": _VERSION,
        "mcp-method": "tools/call", "mcp-name": tool,
    }  # fmt: skip
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return person.client.post("/mcp", json=message, headers=headers)


def test_mcp_calls_are_counted_by_tool_and_code(ada: Person) -> None:
    def count(tool: str, code: str) -> float:
        page = ada.client.get("/metrics").text
        line = f'garden_tool_call_seconds_count{{code="{code}",tool="{tool}"}}'
        found = re.search(rf"^{re.escape(line)} ([0-9.]+)$", page, re.MULTILINE)
        return float(found[1]) if found else 0.0

    expected = {("fs.read", "ok"), ("fs.read", "not_found"), ("unknown", "unknown_tool")}
    before = {each: count(*each) for each in expected}
    for tool, path in (("fs_read", ada.notes), ("fs_read", ada.profile), ("no_such_tool", ada.notes)):
        assert called(ada, tool, path=path).status_code == 200
    assert {each: count(*each) - before[each] for each in expected} == dict.fromkeys(expected, 1)


def test_mcp_calls_count_against_a_users_limit(ready_home: Home, database: str) -> None:
    with served(ready_home, env={"GARDEN_SERVE_USER_CALLS": "1"}) as service, service.person() as ada:
        ada.ok("md.plant", path=ada.notes)
        with ThreadPoolExecutor(1) as thread, held(service, ada):
            waiting = thread.submit(called, ada, "fs_append", path=ada.notes, text="At last.")
            until_a_lock_is_awaited(database)
            refused(ada.call("tools.list"), 429, "rate_limited")
            assert "rate_limited" in called(ada, "tools_list").text
            with service.person() as ben:
                ben.ok("tools.list")
        assert waiting.result().status_code == 200
        assert "At last." in ada.client.get(f"/v1/documents/{ada.notes}").text
        assert 'garden_calls_refused_total{code="rate_limited"} 2.0' in ada.client.get("/metrics").text


def held(service: Service, person: Person) -> AbstractContextManager[object]:
    """Hold the lock of a person's notes."""
    return service.garden.services.store.document(Caller(person.user_id, "holder"), person.notes)
