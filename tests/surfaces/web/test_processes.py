"""Several processes of one service: one socket, one account of calls, and none missed when it dies."""

import multiprocessing
import os
import re
import select
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx2
import psutil
import pytest

from garden.gateway.processes import ServiceProcess
from garden.home.folder import Home
from garden.serving import start_jobs
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.mcp_lines import INITIALIZE
from tests.support.processes import garden as run_garden
from tests.support.served import NO_AUTHORITIES, Person, Service, home_of_its_own, served
from tests.support.waiting import until
from tests.surfaces.web.test_event_routes import following
from tests.surfaces.web.test_robustness import SPOKEN
from tests.surfaces.web.test_server import WRITERS, Writers, check_settled

if TYPE_CHECKING:
    from garden.upkeep.tasks import Timer


@pytest.fixture(scope="module")
def service(server: TestServer) -> Iterator[Service]:
    # So long that only a revocation can end a silent stream.
    env = {"GARDEN_SERVE_STREAM_SECONDS": "3600"}
    with home_of_its_own(server, run_folder()) as home, served(home, "--processes", "2", env=env) as service:
        yield service


@pytest.fixture
def two(ready_home: Home) -> Iterator[Service]:
    """A service to be damaged."""
    with served(ready_home, "--processes", "2") as service:
        yield service


@pytest.fixture
def ada(service: Service) -> Iterator[Person]:
    until(lambda: len(processes_of(service)) == 2)
    with service.person() as person:
        person.ok("md.plant", path=person.notes)
        yield person


def processes_of(service: Service) -> list[psutil.Process]:
    return psutil.Process(service.process.pid).children()


@contextmanager
def each_process(service: Service, person: Person) -> Iterator[list[Person]]:
    """Yield the person as seen by each process: with a connection that it has accepted."""
    with ExitStack() as stack:
        people = []
        for process in processes_of(service):
            client = stack.enter_context(
                httpx2.Client(
                    base_url=service.url,
                    headers=person.client.headers,
                    timeout=60,
                    limits=httpx2.Limits(max_connections=1, keepalive_expiry=None),
                    verify=NO_AUTHORITIES,
                )
            )
            others = [each for each in processes_of(service) if each != process]
            for each in others:
                each.suspend()
            assert client.get("/healthz").status_code == 200
            for each in others:
                each.resume()
            people.append(Person(person.user_id, person.secret, person.token, client))
        yield people


def test_the_metrics_of_one_process_count_the_calls_of_all(service: Service, ada: Person) -> None:
    def count(page: str) -> int:
        line = r'^garden_tool_call_seconds_count\{code="ok",tool="fs.hash"\} (\d+)'
        found = re.search(line, page, re.MULTILINE)
        return int(found[1]) if found else 0

    with each_process(service, ada) as people:
        for person in people:
            person.ok("fs.hash", path=person.notes)
        assert [count(person.client.get("/metrics").text) for person in people] == [2, 2]


def test_a_killed_process_is_replaced_and_no_acknowledged_edit_is_lost(two: Service) -> None:
    with two.person() as ada:
        ada.ok("md.plant", path=ada.notes)
        with Writers(two, ada) as writers:
            writers.wait_for(10)
            killed = processes_of(two)[0]
            killed.kill()
            until(lambda: len(set(processes_of(two)) - {killed}) == 2)
            writers.wait_for(10)
        assert two.stop() == 0
        check_settled(two.garden.home, ada, writers.acknowledged)


def test_no_process_outlives_the_parent(two: Service) -> None:
    left = processes_of(two)
    two.process.kill()
    assert psutil.wait_procs(left, timeout=60)[1] == []


def test_a_hang_up_brings_new_settings_and_no_request_fails(two: Service) -> None:
    def listed() -> int:
        with two.client(person.secret) as client:
            answer = client.post("/v1/tools/fs.list", json={"path": f"users/{person.user_id}"})
            return len(answer.json()["result"])

    def asked_last() -> bool:
        """Ask on an open connection; whether its process retires and closes it after this answer."""
        silent.request("GET", "/readyz")
        with silent.getresponse() as answer:
            assert answer.read() == b'{"status":"ready"}'
            return answer.getheader("connection") == "close"

    settings = two.garden.home.path / "garden.toml"
    with two.person() as person, closing(HTTPConnection(*two.address, timeout=60)) as silent:
        person.ok("md.plant", path=person.notes)
        person.ok("md.plant", path=person.profile)
        assert listed() == 2
        with Writers(two, person) as writers:
            settings.write_text(settings.read_text() + "\n[limits]\nlist_names = 1\n")
            assert not asked_last()
            two.process.send_signal(signal.SIGHUP)
            until(asked_last)
            until(lambda: listed() == 1)
            writers.wait_for(WRITERS)
        assert (writers.cut_off, writers.refusals) == (0, set())


def test_wrong_settings_leave_the_running_processes_alone(service: Service, ada: Person) -> None:
    before = set(processes_of(service))
    home = service.garden.home.path
    right = (home / "garden.toml").read_text()
    (home / "garden.toml").write_text("log_level = 7\n")
    service.process.send_signal(signal.SIGHUP)
    until(lambda: "the processes were not exchanged" in (home / "serve.log").read_text())
    (home / "garden.toml").write_text(right)
    assert set(processes_of(service)) == before
    ada.ok("fs.read", path=ada.notes)


def test_a_session_is_reached_through_every_process_and_ends_with_its_own(
    service: Service, ada: Person
) -> None:
    def send(person: Person, method: str, session: str | None, **params: Any) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = SPOKEN if session is None else {**SPOKEN, "mcp-session-id": session}
        return person.client.post("/mcp", json=message, headers=headers)

    with each_process(service, ada) as people, service.person() as ben:
        for here, there in zip(people, reversed(people), strict=True):
            session = send(here, "initialize", None, **INITIALIZE).headers["mcp-session-id"]
            answer = send(there, "tools/call", session, name="fs_read", arguments={"path": ada.notes})
            assert (answer.status_code, '"isError":false' in answer.text) == (200, True)
            for wrong in (session.replace("-", "-0"), f"7{session}", f"../{session}"):
                assert send(here, "ping", wrong).status_code == 404
            headers = {**SPOKEN, "mcp-session-id": session}
            for path in ("/mcp/%2e%2e/metrics", "/mcp/%0a"):
                ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
                assert there.client.post(path, json=ping, headers=headers).status_code == 200
            assert send(ben, "ping", session).status_code == 404
        with there.client.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            killed = processes_of(service)[-1]
            killed.kill()
            with pytest.raises(httpx2.TransportError):
                stream.read()
        # Until it is gone, its socket may take one more request.
        killed.wait(60)
        assert send(there, "ping", session).status_code == 404


def test_a_revoked_token_ends_the_streams_of_every_process(service: Service, ada: Person) -> None:
    with each_process(service, ada) as people, ExitStack() as stack:
        streams = [stack.enter_context(following(each)) for each in people]
        for each in streams:
            next(each)
        service.garden.tokens.revoke(ada.token.token_id, ada.user_id)
        assert [list(each) for each in streams] == [[], []]


def test_a_users_limit_holds_over_all_processes(ada: Person) -> None:
    with ExitStack() as stack:
        headers = {"Connection": "close"}
        answers = [
            stack.enter_context(ada.client.stream("GET", "/v1/events/stream", headers=headers))
            for _ in range(17)
        ]
        assert [each.status_code for each in answers] == [200] * 16 + [429]


def test_the_jobs_run_in_one_process_until_it_ends(folder: Path) -> None:
    reader, writer = os.pipe()

    class Upkeep:
        def start(self) -> None:
            os.write(writer, b"%07d" % os.getpid())

    def work() -> None:
        start_jobs(cast("Timer", Upkeep()), ServiceProcess(folder=folder))
        signal.pause()

    def is_one_waiting() -> bool:
        lock = folder / "jobs.lock"
        return lock.exists() and f":{lock.stat().st_ino} " in "".join(
            line for line in Path("/proc/locks").read_text().splitlines() if "-> FLOCK" in line
        )

    workers = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
    for each in workers:
        each.start()
    try:
        first = int(os.read(reader, 7))
        until(is_one_waiting)
        assert select.select([reader], [], [], 0)[0] == []
        os.kill(first, signal.SIGKILL)
        assert {first, int(os.read(reader, 7))} == {each.pid for each in workers}
    finally:
        for each in workers:
            each.kill()
            each.join()


@pytest.mark.parametrize("number", ["0", "65", "many"])
def test_an_impossible_number_of_processes_is_refused(ready_home: Home, number: str) -> None:
    done = run_garden("serve", "--processes", number, home=ready_home.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--processes" in done.stderr
