"""`/v1/events` and its stream."""

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
from tests.surfaces.web.test_tool_routes import refused


def test_events_are_found_by_every_filter(ada: Person) -> None:
    ada.ok("fs.append", path=ada.notes, text="one", rationale="of the harvest", toolCallId="call-1")
    filters = {
        "path": ada.notes, "op": "append_file", "status": "committed", "actor": "companion",
        "text": "harvest", "toolCallId": "call-1", "since": "2020-01-01T00:00:00Z", "limit": "5",
    }  # fmt: skip
    (row,) = ada.client.get("/v1/events", params=filters).json()["result"]["rows"]
    assert row["rationale"] == "of the harvest"
    several = {**filters, "status": ["committed", "failed"]}
    assert ada.client.get("/v1/events", params=several).json()["result"]["rows"] == [row]
    for name, other in {
        "op": "move",
        "actor": "nobody",
        "text": "winter",
        "until": "2020-01-01T00:00:00Z",
    }.items():
        assert ada.client.get("/v1/events", params={**filters, name: other}).json()["result"]["rows"] == []


def test_times_and_event_ids_have_every_form(ada: Person) -> None:
    event = ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"]
    for form in ("2026-11-01", "2026-11-01T08:25:00+01:00", "Yesterday", "3d", "3 weeks ago"):
        for name in ("since", "from"):
            assert ada.client.get("/v1/events", params={name: form}).json()["result"]["rows"], form
    for form in (event, event[-6:], event[-8:].upper(), f"evt:{event}"):
        (row,) = ada.client.get("/v1/events", params={"eventId": form}).json()["result"]["rows"]
        assert row == ada.client.get(f"/v1/events/{form}").json()["result"]


def test_events_come_page_by_page(ada: Person) -> None:
    for number in range(4):
        ada.ok("fs.append", path=ada.notes, text=f"entry {number}")
    first = ada.client.get("/v1/events", params={"limit": 3}).json()
    second = ada.client.get("/v1/events", params={"limit": 3, "cursor": first["meta"]["cursor"]}).json()
    assert [len(page["result"]["rows"]) for page in (first, second)] == [3, 2]
    assert "cursor" not in second["meta"]


@pytest.mark.parametrize(
    "bad",
    [{"limit": "0"}, {"limit": "many"}, {"status": "done"}, {"since": "tomorrow"}, {"cursor": "x"}],
    ids=str,
)
def test_an_invalid_filter_is_refused(ada: Person, bad: dict[str, str]) -> None:
    refused(ada.client.get("/v1/events", params=bad), 400, "invalid_input")


@pytest.mark.parametrize("limit", ["-1", "0", "many"])
def test_an_invalid_limit_is_refused_with_the_lowest_one(ada: Person, limit: str) -> None:
    told = ada.client.get("/v1/events", params={"limit": limit}).json()["error"]["message"]
    assert told == "limit must be a number from 1 on."


def test_one_event_is_shown_with_its_annotations(ada: Person) -> None:
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
    "event_id", ["0193a1b2-0000-7000-8000-000000000000", "xxxxxx", "00000000-0000-0000-0000-000000000000"]
)
def test_a_missing_event_is_not_found(ada: Person, event_id: str) -> None:
    refused(ada.client.get(f"/v1/events/{event_id}"), 404, "not_found")
    refused(ada.client.get(f"/v1/events/{event_id[:5]}"), 400, "invalid_input")


@contextmanager
def following(person: Person, **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    """Yield the entries of a person's stream; the first is only the starting position."""
    with person.client.stream("GET", "/v1/events/stream", headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _entries(answer)


def until(entries: Iterator[dict[str, Any]], event_id: str) -> list[dict[str, Any]]:
    """Read until this event; returns all entries with events.

    A new stream may begin with events settled just before: while an older transaction runs, an earlier entry
    may still appear.
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


def test_a_stream_shows_new_events(ada: Person) -> None:
    with following(ada) as entries:
        event_id = ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"]
        entry = until(entries, event_id)[-1]
        assert (entry["event"], entry["eventId"], entry["path"]) == ("committed", event_id, ada.notes)


def test_a_resumed_stream_misses_and_repeats_nothing(ada: Person) -> None:
    with following(ada) as entries:
        last = until(entries, ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"])[-1]["id"]
    missed = [
        ada.ok("fs.append", path=ada.notes, text=f"more {number}")["meta"]["eventId"] for number in range(70)
    ]
    with following(ada, **{"Last-Event-ID": last}) as entries:
        assert next(entries)["id"] == last
        assert [next(entries)["eventId"] for _ in missed] == missed


def test_a_browser_resumes_at_its_last_position_and_not_at_its_address(ada: Person) -> None:
    with following(ada) as entries:
        first = next(entries)["id"]
        last = until(entries, ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"])[-1]["id"]
    with ada.client.stream(
        "GET", "/v1/events/stream", params={"after": first}, headers={"Last-Event-ID": last}
    ) as answer:
        assert next(line for line in answer.iter_lines() if line.startswith("id: ")) == f"id: {last}"


def test_a_stream_shows_no_other_users_events(ada: Person, ben: Person) -> None:
    with following(ada) as entries:
        next(entries)
        ben.ok("fs.append", path=ben.notes, text="a secret")
        own = ada.ok("fs.append", path=ada.notes, text="one")["meta"]["eventId"]
        assert {entry["path"] for entry in until(entries, own)} == {ada.notes}


@pytest.mark.parametrize(
    "position", ["x", "1", "99999999999999999999-" + "0" * 36, "🌱".encode().decode("latin-1")]
)
def test_an_invented_position_is_refused(ada: Person, position: str) -> None:
    answer = ada.client.get("/v1/events/stream", headers={b"Last-Event-ID": position.encode("latin-1")})
    refused(answer, 400, "invalid_input")


def test_the_number_of_one_users_streams_is_bounded(service: Service, ada: Person) -> None:
    streams = [_opened_stream(service, ada) for _ in range(16)]
    try:
        refused(ada.client.get("/v1/events/stream"), 429, "rate_limited")
    finally:
        for each in streams:
            each.close()
    # There is room again once the service has noticed the end of one.
    soon(lambda: _is_room_for_a_stream(ada))


def _is_room_for_a_stream(person: Person) -> bool:
    with person.client.stream("GET", "/v1/events/stream") as answer:
        return answer.status_code == 200


def _opened_stream(service: Service, person: Person) -> socket.socket:
    connection = service.connected()
    head = (
        f"GET /v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {person.secret}\r\n\r\n"
    )
    connection.sendall(head.encode())
    assert b"200 OK" in connection.recv(4096)
    return connection


def test_many_concurrent_streams_show_every_event(service: Service, ada: Person) -> None:
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
