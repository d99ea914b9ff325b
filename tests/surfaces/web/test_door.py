"""Who gets in: floods of connections, names of the service, and the accounts of this machine."""

import json
import os
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPResponse
from pathlib import Path

import httpx2
import pytest

from garden.home.folder import Home
from garden.serving import Address, _names
from garden.surfaces.web.server import CannotListenError, listen_on_socket, remove_socket
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.served import Person, Service, head_and_body, home_of_its_own, served
from tests.support.waiting import until
from tests.surfaces.cli.conftest import Command
from tests.surfaces.web.test_robustness import check_refusal, everything, head
from tests.surfaces.web.test_tool_routes import refused

FEW = {
    "GARDEN_SERVE_CONNECTIONS": "12", "GARDEN_SERVE_ADDRESS_CONNECTIONS": "6",
    "GARDEN_SERVE_HEAD_SECONDS": "1", "GARDEN_SERVE_HOSTS": '["Garden.example"]',
}  # fmt: skip
FOLLOWING = "GET /v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n"
FLOOD = 1100


@pytest.fixture(scope="module")
def narrow(server: TestServer) -> Iterator[Service]:
    """A service for a few connections."""
    with home_of_its_own(server, run_folder()) as home, served(home, env=FEW) as service:
        yield service


@contextmanager
def flood(service: Service, count: int, addresses: int = 1) -> Iterator[list[socket.socket]]:
    """Open connections from several addresses that send one byte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * FLOOD)), hard))
    with ExitStack() as stack:
        connections = []
        for number in range(count):
            place = (f"127.0.0.{2 + number % addresses}", 0)
            connection = socket.create_connection(service.address, timeout=60, source_address=place)
            connections.append(stack.enter_context(connection))
            connection.sendall(b"G")
        yield connections


@pytest.mark.parametrize("addresses", [1, 200])
def test_a_flood_of_silent_connections_shuts_out_no_valid_token(service: Service, addresses: int) -> None:
    with service.person() as ada, flood(service, FLOOD, addresses) as connections:
        for _ in range(20):
            # A new connection for each call.
            with service.client(ada.secret) as client:
                assert client.get("/v1/tools").status_code == 200
        check_refusal(everything(connections[0]), 503, "unavailable")


def test_a_flood_shuts_no_valid_token_out_of_two_processes(server: TestServer) -> None:
    with (
        home_of_its_own(server, run_folder()) as home,
        served(home, "--processes", "2", env=FEW) as service,
        service.person() as ada,
        flood(service, 200, 100),
    ):
        for _ in range(20):
            with service.client(ada.secret) as client:
                assert client.get("/v1/tools").status_code == 200


def status_of(connection: socket.socket) -> int:
    with HTTPResponse(connection) as answer:
        answer.begin()
        answer.read()
        return answer.status


def test_a_flood_does_not_close_the_connections_of_callers(narrow: Service) -> None:
    with narrow.person() as ada, narrow.connected() as kept:
        kept.sendall(head(ada, "Content-Length: 0"))
        assert status_of(kept) == 200
        with flood(narrow, 40, 20):
            kept.sendall(head(ada, "Content-Length: 0"))
            assert status_of(kept) == 200


def test_one_address_can_not_take_all_places(narrow: Service) -> None:
    with narrow.person() as ada, narrow.person() as ben, flood(narrow, 6) as busy:
        for connection in busy:
            connection.sendall(b"ET" + FOLLOWING.format(ada.secret).encode()[3:])
            assert b"200 OK" in connection.recv(4096)
        with socket.create_connection(
            narrow.address, timeout=60, source_address=("127.0.0.2", 0)
        ) as one_more:
            check_refusal(everything(one_more), 503, "unavailable")
        ben.ok("tools.list")


def test_a_stranger_is_not_waited_for_long(narrow: Service) -> None:
    with narrow.connected() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        status, body = head_and_body(everything(connection))
    assert (status, "within 1 seconds" in body) == (408, True)


def _is_in_metrics(maintainer: Person, line: str) -> bool:
    return line in maintainer.client.get("/metrics").text


def test_a_client_that_leaves_amid_its_body_is_counted_as_gone(narrow: Service) -> None:
    with narrow.person("maintainer") as ada:
        for path in ("/v1/tools/tools.list", "/mcp"):
            with narrow.connected() as connection:
                connection.sendall(head(ada, "Content-Length: 100", path=path) + b'{"a')
            counted = f'garden_http_request_seconds_count{{method="POST",route="{path}",status="499"}} 1.0'
            until(partial(_is_in_metrics, ada, counted))
    assert "ClientDisconnect" not in (narrow.garden.home.path / "serve.log").read_text()


def test_a_service_on_this_machine_answers_under_its_own_names_alone(narrow: Service) -> None:
    with narrow.person() as ada:
        for host in ("localhost", "127.0.0.1:1", "[::1]", "garden.example", "GARDEN.example:8620"):
            assert ada.client.get("/healthz", headers={"Host": host}).status_code == 200
        for host in ("rebound.example", "garden.example.rebound.example", "x", ""):
            for path in ("/healthz", "/metrics", "/openapi.json", "/v1/tools", "/mcp"):
                refused(ada.client.get(path, headers={"Host": host}), 403, "permission_denied")


def test_names_are_checked_where_they_can_be_known() -> None:
    here, everywhere = Address("127.0.0.1", 1), Address("192.0.2.1", 1)
    assert _names(here, ()) == {"127.0.0.1"}
    assert _names(everywhere, ()) is None
    assert _names(everywhere, ("A.example",)) == {"192.0.2.1", "a.example"}
    assert _names(here, ("*",)) is None


def lines_of(service: Service) -> str:
    assert service.process.stdout is not None
    return service.process.stdout.readline().strip()


def as_nobody(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, capture_output=True, check=False, user=65534, group=65534, extra_groups=[])


def test_a_service_without_tokens_names_both_ways_in(ready_home: Home) -> None:
    with served(ready_home):
        log = ready_home.path / "serve.log"
        until(lambda: "'garden token create' makes a token. For people: 'garden console'." in log.read_text())


def test_the_one_user_needs_the_token_that_was_made_at_the_start(ready_home: Home) -> None:
    secrets = set()
    for _ in range(2):
        with served(ready_home, "--user", "ada") as service:
            file = Path(lines_of(service).removeprefix("The token is in "))
            # A second service of the user does not replace it.
            assert file.name == f"ada-{service.address[1]}.token"
            secret = file.read_text().strip()
            assert (file.parent, stat.S_IMODE(file.stat().st_mode)) == (ready_home.state, 0o600)
            for given in (None, "wrong", f"{secret}x", secret[:-1]):
                with service.client(given) as stranger:
                    refused(stranger.get("/v1/tools"), 401, "permission_denied")
                    refused(stranger.post("/mcp", json={}), 401, "permission_denied")
            with service.client(secret) as client:
                assert client.get("/v1/tools").status_code == 200
                refused(client.get("/v1/tools", headers={"Host": "x.example"}), 403, "permission_denied")
            for user_id, status in (("ada", 200), ("ben", 303)):
                sign_ins = service.garden.sign_ins
                cookie = sign_ins.open_by_link(sign_ins.make_link(user_id, role="agent", actor="bot"))
                with service.client(None) as client:
                    client.cookies.set(f"garden_{service.address[1]}", cookie)
                    assert client.get("/console/documents").status_code == status
            assert secret not in (ready_home.path / "serve.log").read_text()
            if os.geteuid() == 0:
                assert as_nobody("cat", file).returncode != 0
            secrets.add(secret)
    assert len(secrets) == 2


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_one_user_reaches_a_socket_without_a_token(
    ready_home: Home, folder: Path, processes: str
) -> None:
    path = folder / "door.sock"
    folder.chmod(0o755)
    # A killed service leaves its socket.
    listen_on_socket(path).close()
    words = ["--user", "ada", "--socket", str(path), "--processes", processes]
    with served(ready_home, *words, port=False) as service:
        assert service.url == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path))) as client:
            assert client.get("http://localhost/v1/tools").status_code == 200
            refused(client.get("http://x.example/v1/tools"), 403, "permission_denied")
        if os.geteuid() == 0:
            connecting = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
            assert b"Permission denied" in as_nobody("/usr/bin/env", "python3", "-c", connecting, path).stderr
        with pytest.raises(CannotListenError):
            listen_on_socket(path)
        assert service.stop() == 0
    assert not path.exists()


def test_an_impossible_socket_is_an_error_with_a_hint(folder: Path) -> None:
    for path in (folder / "missing" / "x.sock", folder / ("x" * 200), folder):
        with pytest.raises(CannotListenError) as refusal:
            listen_on_socket(path)
        assert "--socket" in refusal.value.hint


@pytest.mark.parametrize(
    "words", [["--open"], ["--socket", "a", "--port", "0"], ["--socket", "a", "--host", "b"]]
)
def test_options_that_do_not_go_together_are_refused(
    home: Home, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    assert Command(home.path, monkeypatch)("serve", *words).code == 2


def test_no_answer_is_to_be_taken_for_another_type(narrow: Service) -> None:
    with narrow.person() as ada, narrow.client(None) as stranger:
        answers = [
            *(stranger.get(path) for path in ("/healthz", "/openapi.json", "/v1/tools", "/nowhere", "/mcp")),
            ada.client.post("/mcp", content=json.dumps([]), headers={"Accept": "application/json"}),
        ]
        for answer in answers:
            assert answer.headers.get_list("x-content-type-options") == ["nosniff"], answer.url
        with narrow.connected() as connection:
            connection.sendall(b"SSH-2.0\r\n")
            assert b"x-content-type-options: nosniff" in everything(connection)


def test_streams_that_are_refused_leave_no_connection(service: Service, ada: Person) -> None:
    with ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(ada.client.stream("GET", "/v1/events/stream"))
        with service.connected() as one_more:
            one_more.sendall(FOLLOWING.format(ada.secret).encode())
            check_refusal(everything(one_more), 429, "rate_limited")


@pytest.mark.parametrize(("limit", "soft", "connections"), [("1000", "256", 244), ("100", "100", 1)])
def test_a_service_takes_no_more_connections_than_it_may_open_files(
    limit: str, soft: str, connections: int
) -> None:
    program = "import sys; from garden.surfaces.web.server import make_room; import resource as r\n"
    program += "print(make_room(1024), r.getrlimit(r.RLIMIT_NOFILE))"
    words = (
        "bash",
        "-c",
        f'ulimit -Sn {soft} && ulimit -Hn {limit} && exec "$@"',
        "bash",
        sys.executable,
        "-c",
    )
    done = subprocess.run([*words, program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{connections} ({limit}, {limit})"


def test_a_socket_that_another_service_took_over_stays(folder: Path) -> None:
    path = folder / "door.sock"
    listen_on_socket(path).close()
    with listen_on_socket(path):
        remove_socket(path)
        assert path.is_socket()
    remove_socket(path)
    assert not path.exists()
