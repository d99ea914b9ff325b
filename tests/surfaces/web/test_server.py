"""The service stops, dies or loses the database under load: nothing acknowledged is lost or doubled."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from garden.home.settings import load_settings
from garden.home.setup import prepare_home
from tests.support.gardens import out_of_step
from tests.support.planted import opened
from tests.support.served import Person, Service, served
from tests.surfaces.web.test_event_routes import following

WRITERS = 6
RESTARTS = int(os.environ.get("GARDEN_TEST_RESTARTS", "2"))


class Writers:
    """Threads that write lines, each line until it is acknowledged, under one key."""

    def __init__(self, service: Service, person: Person) -> None:
        self.acknowledged: set[str] = set()
        self.refusals: set[str] = set()
        self.cut_off = 0
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
            self.cut_off += 1
            # The service has gone or has not answered: the line may have been written or not.
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


def check_settled(home: Home, person: Person, acknowledged: set[str]) -> None:
    """Check that every acknowledged line is there once, and that nothing was left half done."""
    with opened(home) as garden:
        garden.session(person.user_id).fs.append(person.notes, "afterwards")
        written = lines_in(home, person)
        assert acknowledged <= set(written)
        assert len(written) == len(set(written))
        session = garden.session(person.user_id, role="reviewer")
        for status in ("pending", "written"):
            assert session.events.query(status=status).result.rows == ()
        assert out_of_step(garden) == []


def test_a_service_that_is_asked_to_stop_finishes_the_calls_under_way(ready_home: Home) -> None:
    with one_writer(ready_home) as (service, person):
        with Writers(service, person) as writers:
            writers.wait_for(30)
            service.process.terminate()
            assert service.process.wait(timeout=60) == 0
        assert writers.refusals <= {"unavailable"}
    check_settled(ready_home, person, writers.acknowledged)


def test_an_interrupted_service_ends_its_streams_so_that_they_can_be_resumed(ready_home: Home) -> None:
    with one_writer(ready_home) as (service, person):
        with following(person) as entries:
            first = next(entries)
            assert int(first["retry"]) > 0
            service.process.send_signal(signal.SIGINT)
            assert list(entries) == []
        assert service.process.wait(timeout=60) == 0


def test_a_killed_service_loses_nothing_acknowledged(ready_home: Home) -> None:
    with one_writer(ready_home) as (service, person), Writers(service, person) as writers:
        writers.wait_for(30)
        service.process.kill()
        service.process.wait(timeout=60)
    check_settled(ready_home, person, writers.acknowledged)


def test_calls_are_refused_while_the_database_restarts_and_succeed_afterwards(home: Home) -> None:
    prepare_home(load_settings(home.path).settings)
    database = EmbeddedPostgres(home)
    with one_writer(home) as (service, person), following(person) as entries:
        with Writers(service, person) as writers:
            for restart in range(RESTARTS):
                writers.wait_for(10)
                database.stop(immediately=restart % 2 == 0)
                database.ensure_running()
            writers.wait_for(20)
            writers.stop()
        person.ok("fs.append", path=person.notes, text="afterwards")
        assert person.client.get("/readyz").status_code == 200
        written = lines_in(home, person)
        assert writers.acknowledged <= set(written)
        assert len(written) == len(set(written))
        assert writers.refusals <= {"unavailable", "in_progress", "permission_denied"}
        assert out_of_step(service.garden) == []
        # The stream reaches the last event, across all restarts.
        last = person.ok("events.query", limit=1)["result"]["rows"][0]["eventId"]
        assert any(entry.get("eventId") == last for entry in entries)
