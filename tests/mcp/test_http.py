"""The way in over HTTP: sessions that belong to somebody, bounds, and what no server should fall for."""

from collections.abc import Iterator

import httpx2
import pytest

from garden.application import Garden
from tests.support.mcp_lines import INITIALIZE
from tests.support.mcp_service import Service, served

ACCEPTED = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
GREETING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}


@pytest.fixture
def http(service: Service) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=service.url, headers=ACCEPTED, timeout=60) as client:
        yield client


def opened(http: httpx2.Client, who: str = "ada.agent") -> dict[str, str]:
    """Open a session; gives the headers that its requests bear."""
    answer = http.post("", json=GREETING, headers={"authorization": f"Bearer {who}"})
    assert answer.status_code == 200, answer.text
    return {"authorization": f"Bearer {who}", "mcp-session-id": answer.headers["mcp-session-id"]}


def test_a_session_is_there_for_whoever_opened_it_and_for_nobody_else(http: httpx2.Client) -> None:
    session = opened(http)
    assert http.post("", json=PING, headers=session).status_code == 200
    for other in ("ben.agent", "ada.reviewer"):
        stolen = {**session, "authorization": f"Bearer {other}"}
        for method in ("POST", "GET", "DELETE"):
            json = PING if method == "POST" else None
            assert http.request(method, "", json=json, headers=stolen).status_code == 404, (other, method)
    assert http.post("", json=PING, headers=session).status_code == 200


def test_a_session_that_was_ended_is_gone(http: httpx2.Client) -> None:
    session = opened(http)
    assert http.delete("", headers=session).status_code == 200
    assert http.post("", json=PING, headers=session).status_code == 404


def test_no_more_sessions_are_opened_than_there_is_room_for(garden: Garden) -> None:
    with (
        served(garden, sessions_max=2) as service,
        httpx2.Client(base_url=service.url, headers=ACCEPTED, timeout=60) as http,
    ):
        first, _ = opened(http), opened(http)
        bearer = {"authorization": "Bearer ada.agent"}
        assert http.post("", json=GREETING, headers=bearer).status_code == 503
        assert http.post("", json=PING, headers=first).status_code == 200
        http.delete("", headers=first)
        opened(http)


def test_a_page_from_elsewhere_is_not_answered(http: httpx2.Client) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://["):
        headers = {"authorization": "Bearer ada.agent", "origin": origin}
        assert http.post("", json=GREETING, headers=headers).status_code == 403, origin


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "1999-01-01"])
def test_a_body_that_is_no_message_is_refused(http: httpx2.Client, version: str) -> None:
    session = opened(http)
    for body in BODIES:
        answer = http.post("", content=body, headers={**session, "mcp-protocol-version": version})
        assert 400 <= answer.status_code < 500, (body[:20], answer.text)
        assert "Traceback" not in answer.text
    assert http.post("", json=PING, headers=session).status_code == 200


BODIES = (
    b"", b"no json", b"[]", b"{}", b'{"jsonrpc": "2.0", "id": 1}', b"[" * 100_000, b"\xff", b'"x"',
)  # fmt: skip


def test_a_body_that_is_too_large_is_refused(http: httpx2.Client) -> None:
    session = opened(http)
    assert http.post("", content=b" " * (5 * 1024 * 1024), headers=session).status_code == 413
    assert http.post("", json=PING, headers=session).status_code == 200
