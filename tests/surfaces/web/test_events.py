"""`/v1/events`: what happened, and what happens."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.support.served import Person, Service
from tests.support.waiting import until as soon
from tests.surfaces.web.test_tools import refused


def test_events_are_found_by_every_filter(ada: Person) -> None:
    ada.ok("fs.append", path=ada.notes, text="one", rationale="of the harvest", toolCallId="call-1")
    filters = {
        "path": ada.notes, "op": "append_file", "status": "committed", "actor": "companion",
        "text": "harvest", "toolCallId": "call-1", "since": "2020-01-01T00:00:00Z", "limit": "5",
    }  # fmt: skip
    (row,) = ada.client.get("/v1/events", params=filters).json()["result"]["rows"]
    assert row["rationale"] == "of the harvest"
    for name, other in {
        "op": "move",
        "actor": "nobody",
        "text": "winter",
        "until": "2020-01-01T00:00:00Z",
    }.items():
        assert ada.client.get("/v1/events", params={**filters, name: other}).json()["result"]["rows"] == []


def test_events_come_page_by_page(ada: Person) -> None:
    for number in range(4):
        ada.ok("fs.append", path=ada.notes, text=f"entry {number}")
    first = ada.client.get("/v1/events", params={"limit": 3}).json()
    second = ada.client.get("/v1/events", params={"limit": 3, "cursor": first["meta"]["cursor"]}).json()
    assert [len(page["result"]["rows"]) for page in (first, second)] == [3, 2]
    assert "cursor" not in second["meta"]


@pytest.mark.parametrize(
    "bad",
    [{"limit": "0"}, {"limit": "many"}, {"status": "done"}, {"since": "yesterday"}, {"cursor": "x"}],
    ids=str,
)
def test_a_filter_that_makes_no_sense_is_refused(ada: Person, bad: dict[str, str]) -> None:
    refused(ada.client.get("/v1/events", params=bad), 400, "invalid_input")


@pytest.mark.parametrize("limit", ["-1", "0", "many"])
def test_a_limit_that_is_none_is_told_where_limits_begin(ada: Person, limit: str) -> None:
    told = ada.client.get("/v1/events", params={"limit": limit}).json()["error"]["message"]
    assert told == "limit must be a number from 1 on."


def test_one_event_is_shown_with_what_was_said_of_it_later(ada: Person) -> None:
    event_id = ada.ok("fs.append", path=ada.notes, text="one", toolCallId="call-1")["meta"]["eventId"]
    ada.ok(
        "events.log", type="observation", filePath=ada.notes, toolCallId="call-1", rationale="She meant it."
    )
    answer = ada.client.get(f"/v1/events/{event_id}").json()
    assert answer["meta"]["tookMs"] > 0
    event = answer["result"]
    assert event == ada.ok("events.query", toolCallId="call-1")["result"]["rows"][0]
    assert event["annotations"][0]["rationale"] == "She meant it."


@pytest.mark.parametrize(
    "event_id", ["0193a1b2-0000-7000-8000-000000000000", "x", "00000000-0000-0000-0000-000000000000"]
)
def test_an_event_that_there_is_not_is_not_found(ada: Person, event_id: str) -> None:
    refused(ada.client.get(f"/v1/events/{event_id}"), 404, "not_found")


@contextmanager
def following(person: Person, **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    """Follow a person's events; gives them as they come, the first is only a place to go on from."""
    with person.client.stream("GET", "/v1/events/stream", headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _entries(answer)


def until(entries: Iterator[dict[str, Any]], event_id: str) -> list[dict[str, Any]]:
    """Listen until an event is told of; gives all that were.

    A stream that begins now may begin with what was settled just before: while any transaction runs that is
    older, nobody can say that nothing will be found before it.
    """
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1].get("eventId") != event_id:
        heard.append(next(entries))
    return [entry for entry in heard if "eventId" in entry]


def _entries(answer: httpx2.Response) -> Iterator[dict[str, Any]]:
    entry: dict[str, Any] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if not line and "id" in entry:
            yield entry
            entry = {}
        elif name == "data":
            entry |= json.loads(value)
        elif name:
            entry[name] = value


def test_what_happens_is_told_to_whoever_follows(ada: Person) -> None:
    with following(ada) as entries:
        event_id = ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"]
        entry = until(entries, event_id)[-1]
        assert (entry["event"], entry["eventId"], entry["path"]) == ("committed", event_id, ada.notes)


def test_who_follows_again_misses_nothing_and_hears_nothing_twice(ada: Person) -> None:
    with following(ada) as entries:
        last = until(entries, ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"])[-1]["id"]
    missed = [
        ada.ok("fs.append", path=ada.notes, text=f"more {number}")["meta"]["eventId"] for number in range(70)
    ]
    with following(ada, **{"Last-Event-ID": last}) as entries:
        assert next(entries)["id"] == last
        assert [next(entries)["eventId"] for _ in missed] == missed


def test_a_browser_that_follows_again_goes_on_where_it_was_whatever_its_address_says(ada: Person) -> None:
    with following(ada) as entries:
        first = next(entries)["id"]
        last = until(entries, ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"])[-1]["id"]
    with ada.client.stream(
        "GET", "/v1/events/stream", params={"after": first}, headers={"Last-Event-ID": last}
    ) as answer:
        assert next(line for line in answer.iter_lines() if line.startswith("id: ")) == f"id: {last}"


def test_nobody_hears_of_another_users_garden(ada: Person, ben: Person) -> None:
    with following(ada) as entries:
        next(entries)
        ben.ok("fs.append", path=ben.notes, text="a secret")
        own = ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"]
        assert {entry["path"] for entry in until(entries, own)} == {ada.notes}


@pytest.mark.parametrize(
    "position", ["x", "1", "99999999999999999999-" + "0" * 36, "🌱".encode().decode("latin-1")]
)
def test_a_position_that_no_stream_gave_is_refused(ada: Person, position: str) -> None:
    answer = ada.client.get("/v1/events/stream", headers={b"Last-Event-ID": position.encode("latin-1")})
    refused(answer, 400, "invalid_input")


def test_one_user_has_only_so_many_streams(service: Service, ada: Person) -> None:
    streams = [_opened_stream(service, ada) for _ in range(16)]
    try:
        refused(ada.client.get("/v1/events/stream"), 429, "rate_limited")
    finally:
        for each in streams:
            each.close()
    # As soon as one is seen to be gone there is room again.
    soon(lambda: _is_room_for_a_stream(ada))


def _is_room_for_a_stream(person: Person) -> bool:
    with person.client.stream("GET", "/v1/events/stream") as answer:
        return answer.status_code == 200


def _opened_stream(service: Service, person: Person) -> socket.socket:
    connection = service.connected()
    head = f"GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {person.secret}\r\n\r\n"
    connection.sendall(head.encode())
    assert b"200 OK" in connection.recv(4096)
    return connection


def test_many_who_follow_and_write_at_once_hear_of_everything(service: Service, ada: Person) -> None:
    said: list[str] = []
    heard: list[list[str]] = [[] for _ in range(4)]
    barrier = threading.Barrier(5)

    def follow(own: list[str]) -> None:
        with (
            service.client(ada.secret) as client,
            following(Person(ada.user_id, ada.secret, ada.token, client)) as entries,
        ):
            next(entries)
            barrier.wait()
            barrier.wait()
            own += [entry["eventId"] for entry in until(entries, said[-1])][-20:]

    followers = [threading.Thread(target=follow, args=(own,)) for own in heard]
    for each in followers:
        each.start()
    barrier.wait()
    said += [
        ada.ok("fs.append", path=ada.notes, text=f"entry {number}")["meta"]["eventId"] for number in range(20)
    ]
    barrier.wait()
    for each in followers:
        each.join(timeout=60)
    assert heard == [said] * 4
