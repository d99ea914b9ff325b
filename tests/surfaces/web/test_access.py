"""Who may call what: every route with every kind of token, and the addresses that the service listens on."""

import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import httpx2
import pytest

from garden.application import Garden
from garden.events.records import Caller
from garden.events.tokens import TokenStore
from garden.gateway.tokens import IssuedToken, Tokens
from garden.home.folder import Home
from garden.home.setup import prepare_home
from garden.serving import NotServedError, Offer, serve
from garden.surfaces.web.server import CannotListenError, listen
from garden.tools.registry import REGISTRY
from tests.support.processes import garden as run_garden
from tests.support.served import NO_AUTHORITIES, Person, Service, served
from tests.surfaces.cli.conftest import Command
from tests.surfaces.web.test_event_routes import following, until
from tests.surfaces.web.test_robustness import LISTENING, newer
from tests.surfaces.web.test_tool_routes import example_for, refused

ROUTES = [
    ("GET", "/v1/tools"), ("GET", "/v1/tools/fs.read"), ("GET", "/v1/events"), ("GET", "/v1/events/stream"),
    ("GET", "/v1/events/{event}"), ("GET", "/v1/documents"), ("GET", "/v1/documents/{notes}"),
    ("GET", "/v1/history/{notes}"), ("GET", "/v1/history/{notes}?version=1"),
    ("POST", "/mcp"), ("GET", "/mcp"),
    ("GET", "/v1/approvals"), ("POST", "/v1/approvals/{event}/approve"),
    ("POST", "/v1/approvals/{event}/deny"),
    ("POST", "/v1/approvals/{event}/undo"), ("POST", "/v1/archon"), ("POST", "/v1/calls"),
    *(("POST", f"/v1/tools/{name}") for name in REGISTRY),
]  # fmt: skip
EVERYWHERE = "0.0.0.0"  # noqa: S104 - to be refused
# Tried in test_approval_routes.py, with an approval.
ELSEWHERE = {"/v1/approvals/{}"}
OPEN = ["/healthz", "/readyz", "/openapi.json", "/metrics"]


@pytest.fixture
def stranger(service: Service) -> Iterator[httpx2.Client]:
    """A client without a token."""
    with service.client(None) as client:
        yield client


def address(person: Person, route: str) -> str:
    event = person.ok("events.query", limit=1)["result"]["rows"][0]["eventId"]
    return route.format(event=event, notes=person.notes)


def test_every_route_is_tried_here(stranger: httpx2.Client) -> None:
    described = stranger.get("/openapi.json").json()["paths"]
    known = {re.sub(r"\{\w+\}", "{}", path) for path in described}
    named = {"notes": "{}", "event": "{}"}
    tried = (
        {route.format(**named).partition("?")[0] for _, route in ROUTES}
        | {"/v1/tools/{}"}
        | set(OPEN)
        | ELSEWHERE
    )
    assert known <= tried


def make_expired_token(service: Service, person: Person) -> IssuedToken:
    """Make a token that expired a day ago."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    tokens = Tokens(TokenStore(service.garden.pools["readers"], service.garden.keys), now=lambda: yesterday)
    until = yesterday + timedelta(hours=1)
    return tokens.create(person.user_id, role="agent", actor="companion", expires_at=until)


def test_without_a_live_token_no_route_answers(
    service: Service, stranger: httpx2.Client, ada: Person
) -> None:
    made = service.garden.tokens
    expired = make_expired_token(service, ada).secret
    revoked = made.create(ada.user_id, role="agent", actor="companion", expires_at=None)
    made.revoke(revoked.token.token_id)
    almost = ada.secret[:-1] + ("A" if ada.secret[-1] != "A" else "B")
    given = (
        None, "", "Bearer", f"Basic {ada.secret}", ada.secret, "Bearer x", f"Bearer {almost}",
        f"Bearer {expired}", f"Bearer {revoked.secret}", f"Bearer {ada.secret}, Bearer {ada.secret}",
        f"Bearer {'x' * 2000}",
    )  # fmt: skip
    addresses = [(method, address(ada, route)) for method, route in ROUTES]
    for (method, there), header in product(addresses, given):
        headers = {} if header is None else {"Authorization": header}
        answer = stranger.request(method, there, headers=headers)
        refused(answer, 401, "permission_denied")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert ada.secret not in answer.text


@pytest.mark.parametrize("path", OPEN)
def test_the_state_of_the_service_is_open_to_all(stranger: httpx2.Client, path: str) -> None:
    assert stranger.get(path).status_code == 200


def test_no_tool_reaches_another_users_garden(ada: Person, ben: Person) -> None:
    ben.ok("md.plant", path=ben.profile)
    ben.ok("fs.append", path=ben.notes, text="the secret of the beehive", toolCallId="call-of-ben")
    for tool in REGISTRY:
        answer = ada.call(tool, **example_for(ben, tool))
        shown = answer.text.replace(ben.user_id, "") if not answer.is_success else answer.text
        assert "beehive" not in shown, tool
        assert answer.status_code in {200, 403}, tool
        if f"users/{ben.user_id}" in str(example_for(ben, tool)):
            assert answer.status_code == 403, tool


@pytest.mark.parametrize("route", [route for method, route in ROUTES if method == "GET" and "{" in route])
def test_no_route_shows_another_users_data(ada: Person, ben: Person, route: str) -> None:
    ben.ok("fs.append", path=ben.notes, text="the secret of the beehive")
    there = address(ben, route)
    assert ben.client.get(there).status_code == 200
    answer = ada.client.get(there)
    assert answer.status_code in {403, 404}
    assert "beehive" not in answer.text


def test_lists_and_queries_hold_only_the_callers_own_data(ada: Person, ben: Person) -> None:
    ben.ok("fs.append", path=ben.notes, text="the secret of the beehive", rationale="beehive")
    for route in (
        "/v1/documents",
        "/v1/events",
        "/v1/events?text=beehive",
        f"/v1/documents?folder=users/{ada.user_id}",
    ):
        answer = ada.client.get(route)
        assert answer.status_code == 200
        assert ben.user_id not in answer.text
    refused(ada.client.get(f"/v1/documents?folder=users/{ben.user_id}"), 403, "path_not_allowed")
    refused(ada.client.get(f"/v1/events?path={ben.notes}"), 403, "path_not_allowed")


def test_another_users_position_in_a_stream_is_refused(ada: Person, ben: Person) -> None:
    with following(ben) as entries:
        told = ben.ok("fs.append", path=ben.notes, text="the secret of the beehive")["meta"]["eventId"]
        position = until(entries, told)[-1]["id"]
        ben.ok("fs.append", path=ben.notes, text="another")
    answer = ada.client.get("/v1/events/stream", headers={"Last-Event-ID": position})
    refused(answer, 400, "invalid_input")


def test_a_revoked_token_is_soon_refused(service: Service, ada: Person) -> None:
    ada.ok("tools.list")
    service.garden.tokens.revoke(ada.token.token_id)
    for _ in range(10_000):
        if ada.call("tools.list").status_code == 401:
            return
    raise AssertionError("it was never refused")


REVOKED_SECONDS = 1
"""The documented time after which no stream shows anything to a revoked token."""


def test_open_streams_show_nothing_that_happens_after_their_token_was_revoked(
    service: Service, ada: Person
) -> None:
    listening = json.loads(json.dumps(LISTENING))
    listening["params"]["notifications"] = {"resourceSubscriptions": [f"garden://{ada.notes}"]}
    request = {**newer(ada), "json": listening}
    with (
        service.person(user_id=ada.user_id) as other,
        following(ada) as entries,
        ada.client.stream(url="/mcp", **request) as answer,
    ):
        next(entries)
        lines = answer.iter_lines()
        until(entries, other.ok("fs.append", path=ada.notes, text="before")["meta"]["eventId"])
        assert any("resources/updated" in line for line in lines)
        service.garden.tokens.revoke(ada.token.token_id)
        time.sleep(REVOKED_SECONDS)
        other.ok("fs.append", path=ada.notes, text="after")
        assert list(entries) == []
        late: list[str] = []
        with pytest.raises((httpx2.RemoteProtocolError, httpx2.ReadError)):
            late.extend(lines)
        assert "updated" not in str(late)


def test_roles_hold_over_http(service: Service, ada: Person) -> None:
    ada.ok("md.plant", path=ada.profile)
    with (
        service.person("reviewer", ada.user_id) as reviewer,
        service.person("maintainer", ada.user_id) as maintainer,
    ):
        moving = {"path": ada.notes, "newPath": f"users/{ada.user_id}/parts/critic/notes.md"}
        for person in (reviewer, ada):
            refused(person.call("fs.move", **moving), 403, "permission_denied")
        maintainer.ok("fs.move", **moving)


@pytest.fixture
def open_to_one(ready_home: Home) -> Iterator[Service]:
    """A service for one user, on another loopback address than the default."""
    with served(ready_home, "--user", "ada", "--open", "--host", "127.0.0.2") as service:
        yield service


def test_the_one_user_needs_no_token_and_web_pages_are_refused(open_to_one: Service) -> None:
    with open_to_one.client(None) as client:
        port = open_to_one.address[1]
        planted = client.post("/v1/tools/md.plant", json={"path": "users/ada/notes.md"})
        assert planted.status_code == 200
        refused(
            client.post("/v1/tools/md.plant", json={"path": "users/ben/notes.md"}), 403, "path_not_allowed"
        )
        for host in ("127.0.0.1", "127.0.0.2", "localhost", "[::1]", f"LocalHost:{port}"):
            assert client.get("/v1/tools", headers={"Host": host}).status_code == 200
        for host in ("garden.example", f"garden.example:{port}", "127.0.0.1.garden.example", "", "[", "[::1"):
            for path in ("/v1/tools", "/healthz", "/metrics", "/mcp"):
                assert client.get(path, headers={"Host": host}).status_code in {400, 403}
        for origin in ("https://garden.example", "null", f"http://garden.example:{port}", "http://127.0.0.1"):
            answer = client.post("/v1/tools/tools.list", headers={"Origin": origin})
            refused(answer, 403, "permission_denied")
        for site in ("cross-site", "same-site"):
            # A browser marks requests for a page's pictures and scripts like this; they have no origin.
            for path in ("/v1/documents/users/ada/notes.md", "/v1/events/stream", "/healthz"):
                refused(client.get(path, headers={"Sec-Fetch-Site": site}), 403, "permission_denied")
        for site in ("none", "same-origin"):
            assert client.get("/v1/tools", headers={"Sec-Fetch-Site": site}).status_code == 200
        own = {"Origin": f"http://127.0.0.2:{port}"}
        assert client.post("/v1/tools/tools.list", headers=own).status_code == 200


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.0.2.1", "garden.example"])
def test_without_tokens_no_other_machine_is_served(garden: Garden, host: str) -> None:
    for caller, hint in ((Caller("ada", "companion"), "--user"), (None, "garden token create")):
        with pytest.raises(NotServedError) as refusal:
            serve(
                lambda: (garden.settings, prepare_home(garden.settings)),
                Offer(host, 0, caller=caller),
                lambda *_: None,
            )
        assert hint in refusal.value.hint


def test_a_refused_start_is_an_error_of_the_command(ready_home: Home) -> None:
    done = run_garden("serve", "--port", "0", "--host", "192.0.2.1", home=ready_home.path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "hint:  Make one with 'garden token create'" in done.stderr


def test_other_machines_are_served_once_a_token_exists(ready_home: Home, garden: Garden) -> None:
    agent, maintainer = (
        garden.tokens.create("ada", role=role, actor="companion", expires_at=None).secret
        for role in ("agent", "maintainer")
    )
    with served(ready_home, "--host", EVERYWHERE) as wide:
        there = f"http://127.0.0.1:{wide.address[1]}"
        assert httpx2.get(f"{there}/healthz", verify=NO_AUTHORITIES).status_code == 200
        refused(httpx2.get(f"{there}/metrics", verify=NO_AUTHORITIES), 401, "permission_denied")
        for secret, status in ((agent, 403), (maintainer, 200)):
            headers = {"Authorization": f"Bearer {secret}"}
            assert (
                httpx2.get(f"{there}/metrics", headers=headers, verify=NO_AUTHORITIES).status_code == status
            )


def test_a_taken_port_is_an_error_that_names_it() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(CannotListenError) as refusal:
            listen("127.0.0.1", port)
    assert refusal.value.message == (
        f"The service can't listen on 127.0.0.1 port {port}: Address already in use."
    )
    assert "--port" in refusal.value.hint
    assert "--host" not in refusal.value.hint


@pytest.mark.parametrize("host", ["nonsense.invalid", "192.0.2.1"])
def test_the_error_of_an_impossible_host_has_a_hint_about_the_host(host: str) -> None:
    with pytest.raises(CannotListenError) as refusal:
        listen(host, 0)
    assert "--host" in refusal.value.hint
    assert "--port" not in refusal.value.hint


def test_neither_a_token_nor_a_document_gets_into_the_log(ready_home: Home) -> None:
    with served(ready_home, env={"GARDEN_LOG_LEVEL": "debug"}) as service, service.person() as person:
        person.ok("md.plant", path=person.notes)
        person.ok("fs.append", path=person.notes, text="the secret of the beehive")
        person.client.get("/v1/documents/" + person.notes, headers={"X-Request-Id": "look-for-me"})
        person.client.get("/v1/documents/" + person.notes, params={"lines": "beehive"})
        service.stop()
    log = Path(ready_home.path / "serve.log").read_text()
    # No token existed when the service started.
    assert "garden token create" in log
    assert "look-for-me" in log
    assert person.secret not in log
    assert person.secret.rpartition(".")[2] not in log
    assert "beehive" not in log


@pytest.mark.parametrize("option", [("--role", "reviewer"), ("--actor", "ben")])
def test_a_role_or_an_actor_without_a_user_is_refused(
    home: Home, monkeypatch: pytest.MonkeyPatch, option: tuple[str, str]
) -> None:
    done = Command(home.path, monkeypatch)("serve", "--port", "0", "--host", "192.0.2.1", *option)
    assert (done.code, done.out) == (2, "")
    assert "need --user" in done.err
