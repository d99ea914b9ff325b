"""The protocol over HTTP: sessions and their owners, bounds, and hostile requests."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product

import httpx2
import pytest

from garden.application import Garden
from tests.support.mcp_lines import INITIALIZE
from tests.support.mcp_service import Service, served
from tests.support.served import NO_AUTHORITIES
from tests.support.waiting import until

ACCEPTED = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
ADA = {"authorization": "Bearer ada.agent"}
GREETING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}


@pytest.fixture
def http(service: Service) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=service.url, headers=ACCEPTED, timeout=60, verify=NO_AUTHORITIES) as client:
        yield client


def open_session(http: httpx2.Client, who: str = "ada.agent") -> dict[str, str]:
    """Open a session; returns the headers of its requests."""
    answer = http.post("", json=GREETING, headers={"authorization": f"Bearer {who}"})
    assert answer.status_code == 200, answer.text
    return {"authorization": f"Bearer {who}", "mcp-session-id": answer.headers["mcp-session-id"]}


def test_a_session_exists_only_for_the_caller_who_opened_it(http: httpx2.Client) -> None:
    session = open_session(http)
    assert http.post("", json=PING, headers=session).status_code == 200
    for other in ("ben.agent", "ada.reviewer"):
        stolen = {**session, "authorization": f"Bearer {other}"}
        for method in ("POST", "GET", "DELETE"):
            json = PING if method == "POST" else None
            assert http.request(method, "", json=json, headers=stolen).status_code == 404, (other, method)
    assert http.post("", json=PING, headers=session).status_code == 200


def test_an_ended_session_is_gone(http: httpx2.Client) -> None:
    session = open_session(http)
    assert http.delete("", headers=session).status_code == 200
    assert http.post("", json=PING, headers=session).status_code == 404


def test_the_number_of_sessions_is_bounded(garden: Garden) -> None:
    with (
        served(garden, sessions_max=2) as service,
        httpx2.Client(base_url=service.url, headers=ACCEPTED, timeout=60, verify=NO_AUTHORITIES) as http,
    ):
        first, _ = open_session(http), open_session(http)
        assert http.post("", json=GREETING, headers=ADA).status_code == 503
        assert http.post("", json=PING, headers=first).status_code == 200
        http.delete("", headers=first)
        open_session(http)


@pytest.fixture
def narrow(garden: Garden) -> Iterator[httpx2.Client]:
    """Room for two sessions of each caller."""
    with (
        served(garden, sessions_of_caller_max=2) as service,
        httpx2.Client(base_url=service.url, headers=ACCEPTED, timeout=60, verify=NO_AUTHORITIES) as client,
    ):
        yield client


def test_a_caller_with_too_many_sessions_loses_older_ones(narrow: httpx2.Client) -> None:
    def live(session: dict[str, str]) -> bool:
        return narrow.post("", json=PING, headers=session).status_code == 200

    others, sessions = open_session(narrow, "ben.agent"), [open_session(narrow), open_session(narrow)]
    for _ in range(5):
        # For a moment after its answer a session counts as one in use.
        until(lambda: narrow.post("", json=GREETING, headers=ADA).status_code == 200)
    assert live(others)
    assert not any(map(live, sessions))


def test_sessions_in_use_are_kept_and_one_more_is_refused(narrow: httpx2.Client) -> None:
    sessions = [open_session(narrow), open_session(narrow)]
    with ExitStack() as streams:
        for each in sessions:
            assert streams.enter_context(narrow.stream("GET", "", headers=each)).status_code == 200
        answer = narrow.post("", json=GREETING, headers=ADA)
        assert answer.status_code == 429
        assert "sessions of this caller are in use" in answer.json()["error"]["message"]
        assert answer.json()["error"]["data"]["code"] == "rate_limited"
        open_session(narrow, "ben.agent")
        assert narrow.delete("", headers=sessions[0]).status_code == 200
        open_session(narrow)


def test_a_refused_end_makes_no_room(narrow: httpx2.Client) -> None:
    sessions = [open_session(narrow), open_session(narrow)]
    with ExitStack() as streams:
        for each in sessions:
            streams.enter_context(narrow.stream("GET", "", headers=each))
            odd, stolen = {"mcp-protocol-version": "1999-01-01"}, {"authorization": "Bearer ben.agent"}
            assert narrow.delete("", headers={**each, **odd}).status_code == 405
            assert narrow.delete("", headers={**each, **stolen}).status_code == 404
        assert narrow.post("", json=GREETING, headers=ADA).status_code == 429


def test_a_web_page_of_another_origin_is_refused(http: httpx2.Client) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://["):
        headers = {"authorization": "Bearer ada.agent", "origin": origin}
        assert http.post("", json=GREETING, headers=headers).status_code == 403, origin


def test_a_body_without_a_message_is_refused(http: httpx2.Client) -> None:
    session = open_session(http)
    for version, body in product(("2025-11-25", "2026-07-28", "1999-01-01"), BODIES):
        answer = http.post("", content=body, headers={**session, "mcp-protocol-version": version})
        assert 400 <= answer.status_code < 500, (body[:20], answer.text)
        assert "Traceback" not in answer.text
    assert http.post("", json=PING, headers=session).status_code == 200


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_several_messages_in_one_body_are_refused_with_a_reason(http: httpx2.Client, version: str) -> None:
    headers = {**open_session(http), "mcp-protocol-version": version}
    answer = http.post("", json=[PING, PING], headers=headers)
    assert answer.status_code == 400
    error = {"code": -32600, "message": "Send one message at a time: this protocol has no batches."}
    assert answer.json() == {"jsonrpc": "2.0", "id": None, "error": error}


BODIES = (
    b"", b"no json", b"[]", b"{}", b'{"jsonrpc": "2.0", "id": 1}', b"[" * 100_000, b"\xff", b'"x"',
)  # fmt: skip


def test_a_body_over_the_limit_is_refused(http: httpx2.Client) -> None:
    session = open_session(http)
    assert http.post("", content=b" " * (5 * 1024 * 1024), headers=session).status_code == 413
    assert http.post("", json=PING, headers=session).status_code == 200


@pytest.mark.parametrize("padding", [0, 100_000])
def test_the_same_name_twice_in_an_object_is_refused_and_does_nothing(
    http: httpx2.Client, garden: Garden, padding: int
) -> None:
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"md_plant","arguments":{%s}}}'
    paths = ",".join(f'"path":"users/ada/{name}.md"' for name in ("notes", "overview"))
    answer = http.post("", content=call % paths + " " * padding, headers=open_session(http))
    assert answer.status_code == 400
    assert "the same name twice" in answer.json()["error"]["message"]
    assert garden.session("ada").fs.list("users/ada").result == []
