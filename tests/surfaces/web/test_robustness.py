"""Malformed, huge and slow requests, and too many of them."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from typing import Any

import httpx2
import pytest

from garden.events.records import Caller
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.mcp_lines import INITIALIZE
from tests.support.served import Person, Service, head_and_body, home_of_its_own, served
from tests.support.visitors import visiting
from tests.support.waiting import until
from tests.surfaces.web.test_event_routes import following
from tests.surfaces.web.test_tool_routes import refused

STRICT = {
    "GARDEN_SERVE_BODY_BYTES": "100000", "GARDEN_SERVE_BODY_SECONDS": "1", "GARDEN_SERVE_IDLE_SECONDS": "1",
    "GARDEN_SERVE_CONNECTIONS": "20", "GARDEN_SERVE_THREADS": "1", "GARDEN_SERVE_WAITING_CALLS": "2",
    "GARDEN_SERVE_STREAMS": "3", "GARDEN_SERVE_STREAM_SECONDS": "1",
}  # fmt: skip
# For tests of limits other than time.
PATIENT = {**STRICT, "GARDEN_SERVE_BODY_SECONDS": "30", "GARDEN_SERVE_IDLE_SECONDS": "30"}


@pytest.fixture(scope="module")
def strict(server: TestServer) -> Iterator[Service]:
    """A service with small limits and short waits."""
    root = run_folder()
    with home_of_its_own(server, root) as home, served(home, env=STRICT) as service:
        # The service closes idle connections; a kept one could close just as the next request is sent.
        yield replace(service, connections_kept=0)


@pytest.fixture(scope="module")
def patient(server: TestServer) -> Iterator[Service]:
    """A service with small limits that waits longer than any test."""
    root = run_folder()
    with home_of_its_own(server, root) as home, served(home, env=PATIENT) as service:
        yield replace(service, connections_kept=0)


@pytest.fixture
def cyd(patient: Service) -> Iterator[Person]:
    with patient.writer() as person:
        yield person


@pytest.fixture
def ada(strict: Service) -> Iterator[Person]:
    with strict.writer() as person:
        yield person


def head(person: Person, *lines: str, path: str = "/v1/tools/tools.list") -> bytes:
    fixed = ("Host: localhost", f"Authorization: Bearer {person.secret}", "Content-Type: application/json")
    return "\r\n".join((f"POST {path} HTTP/1.1", *fixed, *lines, "", "")).encode()


def everything(connection: socket.socket) -> bytes:
    """Read until the other side closes."""
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


def test_a_body_declared_too_large_is_refused_before_it_is_sent(strict: Service, ada: Person) -> None:
    with strict.connected() as connection:
        connection.sendall(head(ada, "Content-Length: 100001", "Expect: 100-continue"))
        status, body = head_and_body(everything(connection))
    assert (status, json.loads(body)["error"]["code"]) == (413, "too_large")


def test_a_body_without_a_length_is_cut_off_where_it_becomes_too_large(strict: Service, ada: Person) -> None:
    with strict.connected() as connection:
        connection.sendall(head(ada, "Transfer-Encoding: chunked"))
        piece = b"2710\r\n" + b" " * 10_000 + b"\r\n"
        try:
            for _ in range(1000):
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        else:
            raise AssertionError("it took everything")
    ada.ok("tools.list")


def test_a_body_up_to_the_limit_is_accepted(cyd: Person) -> None:
    padded = b"{}" + b" " * 99_998
    answer = cyd.client.post(
        "/v1/tools/tools.list", content=padded, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200
    refused(
        cyd.client.post(
            "/v1/tools/tools.list", content=padded + b" ", headers={"Content-Type": "application/json"}
        ),
        413,
        "too_large",
    )


def test_a_body_that_trickles_in_is_not_waited_for(strict: Service, ada: Person) -> None:
    with strict.connected() as connection:
        connection.sendall(head(ada, "Content-Length: 1000") + b'{"pa')
        status, body = head_and_body(everything(connection))
    assert (status, json.loads(body)["error"]["code"]) == (408, "invalid_input")


BEGUN = (b"", b"POST /v1/tools", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"\r\n\r\n")


def test_an_unfinished_head_is_not_waited_for(strict: Service) -> None:
    with ExitStack() as stack:
        connections = [stack.enter_context(strict.connected()) for _ in BEGUN]
        for connection, begun in zip(connections, BEGUN, strict=True):
            connection.sendall(begun)
        for connection in connections:
            answer = everything(connection)
            assert answer == b"" or head_and_body(answer)[0] == 408


def check_refusal(answer: bytes, status: int, code: str) -> str:
    """Check an answer given below the application; returns the request's id."""
    lines, _, body = answer.decode().partition("\r\n\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines.splitlines()[1:])
    assert lines.startswith(f"HTTP/1.1 {status} ")
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert int(headers["content-length"]) == len(body.encode())
    said = json.loads(body)
    assert (said["status"], said["ok"], said["error"]["code"]) == (status, False, code)
    assert said["detail"] == said["error"]["message"]
    return headers["x-request-id"]


def test_a_request_that_never_reaches_the_application_is_answered_as_a_problem(strict: Service) -> None:
    never_ending = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X-Long: %b\r\n" % (b"x" * 60_000) * 2
    ids = set()
    refusals = (
        (GARBAGE["a name with a blank"], 400, "invalid_input"),
        (GARBAGE["a chunk of no size"], 400, "invalid_input"),
        (never_ending[: 64 * 1024 + 1], 431, "too_large"),
        (b"GET /healthz HTTP/1.1\r\n", 408, "invalid_input"),
        (b"", 408, "invalid_input"),
    )
    with ExitStack() as stack:
        connections = [stack.enter_context(strict.connected()) for _ in refusals]
        for connection, (sent, _, _) in zip(connections, refusals, strict=True):
            connection.sendall(sent)
        for connection, (_, status, code) in zip(connections, refusals, strict=True):
            ids.add(check_refusal(everything(connection), status, code))
    assert len(ids) == 5


def test_noise_behind_a_request_is_not_answered_in_its_place(strict: Service, ada: Person) -> None:
    body = json.dumps({"path": ada.notes, "text": "said before the noise"}).encode()
    whole = head(ada, f"Content-Length: {len(body)}", path="/v1/tools/fs.append") + body
    with strict.connected() as connection:
        connection.sendall(whole + b"\x00\x01\x02")
        answer = everything(connection)
    assert not answer.startswith(b"HTTP/1.1 400")


def test_a_head_that_trickles_in_is_not_waited_for(strict: Service) -> None:
    with strict.connected() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        answer = b""
        connection.settimeout(0.05)
        for number in range(1000):
            try:
                connection.sendall(b"X-%d: y\r\n" % number)
                answer += connection.recv(4096)
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
            if not answer or b"408" in answer:
                break
        else:
            raise AssertionError("it waited")
    assert answer.startswith(b"HTTP/1.1 408") or not answer


def test_a_kept_connection_that_falls_silent_is_closed(strict: Service) -> None:
    with strict.connected() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert everything(connection).startswith(b"HTTP/1.1 200")


def test_a_head_without_end_is_refused(strict: Service) -> None:
    with strict.connected() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        try:
            for _ in range(1000):
                connection.sendall(b"x" * 10_000)
        except (BrokenPipeError, ConnectionResetError):
            return
    raise AssertionError("it took everything")


def test_a_head_without_end_behind_a_request_that_lasts_is_refused(strict: Service, ada: Person) -> None:
    lasting = (
        f"GET /v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ada.secret}\r\n\r\n"
    )
    with strict.connected() as connection:
        connection.sendall(lasting.encode())
        assert b"200 OK" in connection.recv(4096)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for _ in range(1000):
                connection.sendall(b"X: " + b"x" * 10_000 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            return
    raise AssertionError("it took everything")


_FIRST = b"POST /v1/tools/tools.list HTTP/1.1\r\nHost: localhost\r\n"
GARBAGE = {
    "noise": bytes(range(256)) * 4,
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100,
    "another protocol": b"SSH-2.0-OpenSSH_9.0\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "two lengths": _FIRST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "length and chunks": _FIRST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a negative length": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "a name with a blank": b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
    "a chunk of no size": _FIRST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "a websocket": _FIRST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "a proxy's request": b"CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "many at once, then noise": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50 + b"\x00\x01\x02",
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=list(GARBAGE))
def test_garbage_harms_no_other_request(strict: Service, ada: Person, garbage: bytes) -> None:
    with strict.connected() as connection:
        connection.sendall(garbage)
        answer = everything(connection)
    assert b"500" not in answer.partition(b"\r\n")[0]
    ada.ok("tools.list")


def test_requests_one_after_the_other_on_one_connection_are_answered_in_order(
    strict: Service, ada: Person
) -> None:
    ids = [f"number-{number}" for number in range(20)]
    with strict.connected() as connection:
        connection.sendall(b"".join(head(ada, f"X-Request-Id: {each}", "Content-Length: 0") for each in ids))
        answers = everything(connection).decode()
    told = [line.partition(": ")[2] for line in answers.splitlines() if line.startswith("x-request-id")]
    assert told == ids


def test_a_client_that_leaves_in_the_middle_changes_nothing_or_everything(
    strict: Service, ada: Person
) -> None:
    body = json.dumps({"path": ada.notes, "text": "said and gone"}).encode()
    whole = head(ada, f"Content-Length: {len(body)}", path="/v1/tools/fs.append") + body
    for cut in (len(whole) - len(body) - 1, len(whole) - 1, len(whole)):
        with strict.connected() as connection:
            connection.sendall(whole[:cut])
            connection.shutdown(socket.SHUT_WR)
            everything(connection)
    ada.ok("fs.append", path=ada.notes, text="said and gone")
    assert ada.ok("fs.read", path=ada.notes)["result"].count("said and gone") == 1


def test_more_calls_than_may_wait_are_refused(patient: Service, cyd: Person) -> None:
    """One call runs and two wait; every further one is refused."""
    answers: list[httpx2.Response] = []

    def call(number: int) -> None:
        with patient.client(cyd.secret) as client:
            said = {"path": cyd.notes, "text": f"entry {number}"}
            answers.append(client.post("/v1/tools/fs.append", json=said))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(12)]
    with patient.garden.services.store.document(Caller(cyd.user_id, "holder"), cyd.notes):
        for each in threads:
            each.start()
        until(lambda: len(answers) == 9)
    for each in threads:
        each.join()
    for answer in answers[:9]:
        refused(answer, 503, "unavailable")
        assert int(answer.headers["retry-after"]) >= 1
    assert [answer.status_code for answer in answers[9:]] == [200] * 3


def test_the_number_of_connections_is_bounded(patient: Service, cyd: Person) -> None:
    with ExitStack() as stack:
        first, *_ = [stack.enter_context(patient.connected()) for _ in range(30)]
        check_refusal(everything(first), 503, "unavailable")
        cyd.ok("tools.list")


def test_the_number_of_streams_is_bounded(cyd: Person) -> None:
    with following(cyd) as one, following(cyd) as two, following(cyd) as three:
        for entries in (one, two, three):
            next(entries)
        answer = cyd.client.get("/v1/events/stream")
        refused(answer, 503, "unavailable")


def test_a_stream_without_news_shows_a_sign_of_life(ada: Person) -> None:
    with ada.client.stream("GET", "/v1/events/stream") as answer:
        assert any(line == ": still here" for line in answer.iter_lines())


def test_a_request_for_another_protocol_leaves_nothing_in_the_log(strict: Service, ada: Person) -> None:
    with strict.connected() as connection:
        connection.sendall(head(ada, "Connection: Upgrade", "Upgrade: websocket", "Content-Length: 0"))
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert "uvicorn" not in (strict.garden.home.path / "serve.log").read_text()


def test_a_stream_ends_when_its_token_is_revoked(strict: Service, ada: Person) -> None:
    with following(ada) as entries:
        next(entries)
        strict.garden.tokens.revoke(ada.token.token_id, ada.user_id)
        assert list(entries) == []


SPOKEN = {"Accept": "application/json, text/event-stream"}
LISTENING: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "subscriptions/listen",
    "params": {
        "notifications": {"resourcesListChanged": True},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "a client", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


def _older(ada: Person) -> dict[str, Any]:
    """Open a session; returns the request that listens in it."""
    greeting = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    answer = ada.client.post("/mcp", json=greeting, headers=SPOKEN)
    session = {**SPOKEN, "mcp-session-id": answer.headers["mcp-session-id"]}
    return {"method": "GET", "headers": session}


def newer(_ada: Person) -> dict[str, Any]:
    told = {**SPOKEN, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    return {"method": "POST", "headers": told, "json": LISTENING}


@pytest.mark.parametrize("listening", [_older, newer])
def test_an_mcp_stream_is_cut_when_its_token_is_revoked(
    strict: Service, ada: Person, listening: Callable[[Person], dict[str, Any]]
) -> None:
    with ada.client.stream(url="/mcp", **listening(ada)) as answer:
        assert answer.status_code == 200
        strict.garden.tokens.revoke(ada.token.token_id, ada.user_id)
        with pytest.raises((httpx2.RemoteProtocolError, httpx2.ReadError)):
            # Without end it sends a sign of life every 15 seconds.
            list(islice(answer.iter_lines(), 12))


def test_one_users_large_bodies_leave_room_for_others(patient: Service, cyd: Person) -> None:
    large = {**LISTENING, "params": {**LISTENING["params"], "more": "x" * 99_000}}
    request = {**newer(cyd), "json": large}
    with ExitStack() as streams:
        answers = [streams.enter_context(cyd.client.stream(url="/mcp", **request)) for _ in range(16)]
        assert [answer.status_code for answer in answers] == [200] * 8 + [429] * 8
        with patient.person() as ben:
            ben.ok("md.plant", path=ben.notes, rationale="a reason " * 200)


def test_one_users_forms_leave_room_for_others(patient: Service, cyd: Person) -> None:
    with patient.person() as ben, visiting(patient, cyd) as busy, visiting(patient, ben) as other:
        token, others_token = busy.form_token(), other.form_token()
        [(name, cookie)] = busy.client.cookies.items()
        form = {"Cookie": f"{name}={cookie}", "Content-Type": "application/x-www-form-urlencoded"}
        start = head(cyd, "Content-Length: 100000", *map(": ".join, form.items()), path="/console/sign-out")
        start = start.replace(b"Content-Type: application/json\r\n", b"")
        with ExitStack() as held:
            for _ in range(8):
                held.enter_context(patient.connected()).sendall(start + b"x" * 99_999)
            until(lambda: busy.post("/export/verify", form_token=token).status_code == 429)
            assert other.post("/export/verify", form_token=others_token).status_code == 200
