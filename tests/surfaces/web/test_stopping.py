"""Being stopped, and losing the database, under load: nothing acknowledged is lost, nothing is doubled."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import pytest

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from garden.home.settings import load_settings
from garden.home.setup import prepare_home
from tests.support.gardens import out_of_step
from tests.support.planted import opened
from tests.support.served import Person, Service, served
from tests.surfaces.web.test_events import following

WRITERS = 6
RESTARTS = int(os.environ.get("GARDEN_TEST_RESTARTS", "3"))


class Writers:
    """Threads that keep writing, each line until it is acknowledged, always under the key it first had."""

    def __init__(self, service: Service, person: Person) -> None:
        self.acknowledged: set[str] = set()
        self.refusals: set[str] = set()
        self.progress = threading.Semaphore(0)
        self._service = service
        self._person = person
        self._enough = threading.Event()
        self._threads = [threading.Thread(target=self._keep_writing, args=(n,)) for n in range(WRITERS)]

    def wait_for(self, writes: int) -> None:
        for _ in range(writes):
            assert self.progress.acquire(timeout=60)

    def stop(self) -> None:
        self._enough.set()
        for each in self._threads:
            each.join(timeout=60)

    def __enter__(self) -> "Writers":
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _keep_writing(self, writer: int) -> None:
        with self._service.client(self._person.secret) as client:
            number = 0
            while not self._enough.is_set():
                line = f"line {writer}.{number};"
                if self._write(client, line):
                    self.acknowledged.add(line)
                    self.progress.release()
                    number += 1

    def _write(self, client: httpx2.Client, line: str) -> bool:
        body = {"path": self._person.notes, "text": line}
        try:
            answer = client.post("/v1/tools/fs.append", json=body, headers={"Idempotency-Key": line})
        except httpx2.TransportError:
            # Nobody is there any more, or has not answered: whether it was written is not known.
            if self._service.process.poll() is not None:
                self._enough.set()
            return False
        if answer.status_code != 200:
            self.refusals.add(answer.json()["error"]["code"])
        return answer.status_code == 200


def lines_in(home: Home, person: Person) -> list[str]:
    text = (home.path / person.notes).read_text()
    return [line for line in text.splitlines() if line.startswith("line ")]


@contextmanager
def one_writer(home: Home) -> Iterator[tuple[Service, Person]]:
    with served(home) as service, service.person() as person:
        person.ok("md.plant", path=person.notes)
        yield service, person


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_service_that_is_told_to_stop_finishes_what_it_has_begun(
    ready_home: Home, sign: signal.Signals
) -> None:
    with one_writer(ready_home) as (service, person):
        with Writers(service, person) as writers:
            writers.wait_for(30)
            service.process.send_signal(sign)
            assert service.process.wait(timeout=60) == 0
        written = lines_in(ready_home, person)
        assert writers.acknowledged <= set(written)
        assert len(written) == len(set(written))
        assert writers.refusals <= {"unavailable"}
    with opened(ready_home) as garden:
        # Nothing was left half done: every event has come to its end.
        session = garden.session(person.user_id, role="reviewer")
        for status in ("pending", "written"):
            assert session.events.query(status=status).result.rows == ()
        assert out_of_step(garden) == []


def test_a_service_that_is_told_to_stop_ends_its_streams_so_that_they_can_be_taken_up(
    ready_home: Home,
) -> None:
    with one_writer(ready_home) as (service, person):
        with following(person) as entries:
            first = next(entries)
            assert int(first["retry"]) > 0
            service.process.terminate()
            assert list(entries) == []
        assert service.process.wait(timeout=60) == 0


def test_a_service_that_is_killed_loses_nothing_that_it_acknowledged(ready_home: Home) -> None:
    with one_writer(ready_home) as (service, person):
        with Writers(service, person) as writers:
            writers.wait_for(30)
            service.process.kill()
            service.process.wait(timeout=60)
        acknowledged = set(writers.acknowledged)
    with served(ready_home) as again, again.person(user_id=person.user_id) as same:
        same.ok("fs.append", path=person.notes, text="afterwards")
        written = lines_in(ready_home, person)
        assert acknowledged <= set(written)
        assert len(written) == len(set(written))
        assert out_of_step(again.garden) == []


@pytest.fixture
def own_server(home: Home) -> EmbeddedPostgres:
    prepare_home(load_settings(home.path).settings)
    return EmbeddedPostgres(home)


def crash(server: EmbeddedPostgres) -> None:
    server.stop(immediately=True)
    server.ensure_running()


def stop_politely(server: EmbeddedPostgres) -> None:
    server.stop()
    server.ensure_running()


@pytest.mark.parametrize("restart", [crash, stop_politely])
def test_while_the_database_is_away_calls_are_told_so_and_afterwards_everything_goes_on(
    home: Home, own_server: EmbeddedPostgres, restart: Callable[[EmbeddedPostgres], None]
) -> None:
    with one_writer(home) as (service, person), following(person) as entries:
        with Writers(service, person) as writers:
            for _ in range(RESTARTS):
                writers.wait_for(10)
                restart(own_server)
            writers.wait_for(20)
            writers.stop()
        person.ok("fs.append", path=person.notes, text="afterwards")
        assert person.client.get("/readyz").status_code == 200
        written = lines_in(home, person)
        assert writers.acknowledged <= set(written)
        assert len(written) == len(set(written))
        assert writers.refusals <= {"unavailable", "in_progress", "permission_denied"}
        assert out_of_step(service.garden) == []
        # Who follows hears of all of it, whatever happened in between.
        last = person.ok("events.query", limit=1)["result"]["rows"][0]["eventId"]
        assert any(entry.get("eventId") == last for entry in entries)
