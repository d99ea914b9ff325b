"""Approvals over HTTP: asked, waited for, decided by another process; and several calls in one request."""

import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.served import Person, Service, home_of_its_own, served

UNKNOWN = "019a0000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def service(server: TestServer) -> Iterator[Service]:
    with home_of_its_own(server, run_folder()) as home:
        file = home.path / "garden.toml"
        file.write_text(f'{file.read_text()}\n[gateway.permissions]\n"fs.append" = "ask"\n')
        with served(home) as service:
            yield service


@pytest.fixture
def grace(service: Service, ada: Person) -> Iterator[httpx2.Client]:
    """A maintainer of Ada's garden, who approves."""
    issued = service.garden.tokens.create(ada.user_id, role="maintainer", actor="grace", expires_at=None)
    with service.client(issued.secret) as client:
        yield client


def asked(ada: Person, text: str = "Slept well.") -> str:
    refused = ada.call("fs.append", path=ada.notes, text=text)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "permission_required")
    return str(refused.json()["error"]["details"]["approvalId"])


def test_a_call_is_asked_about_approved_and_sent_again(ada: Person, grace: httpx2.Client) -> None:
    approval = asked(ada)
    own = ada.client.post(f"/v1/approvals/{approval}/approve", json={})
    assert own.status_code == 403
    [pending] = grace.get("/v1/approvals", params={"state": "pending"}).json()["result"]
    assert (pending["approvalId"], pending["linesAdded"]) == (approval, 2)
    assert "Slept well." in pending["diff"]
    decided = grace.post(f"/v1/approvals/{approval}/approve", json={"reason": "Fine."}).json()
    assert decided["result"]["state"] == "approved"
    assert grace.post(f"/v1/approvals/{approval}/undo").json()["result"]["state"] == "pending"
    grace.post(f"/v1/approvals/{approval}/approve")
    ada.ok("fs.append", path=ada.notes, text="Slept well.")
    assert ada.client.get(f"/v1/approvals/{approval}").json()["result"]["state"] == "used"
    assert "callMark" not in decided["result"]


def test_a_waiting_reader_is_told_of_a_decision_of_another_process(service: Service, ada: Person) -> None:
    approval = asked(ada)
    grace = service.garden.session(ada.user_id, "grace", role="reviewer")
    address, found = f"/v1/approvals/{approval}", list[dict[str, Any]]()

    def wait() -> None:
        # A notice that is lost is made up for after half a minute; this answer comes by the notice.
        found.append(ada.client.get(address, params={"waitSeconds": 60}, timeout=20).json())

    with service.client(ada.secret) as other:
        waiting = threading.Thread(target=wait)
        waiting.start()
        # It waits without a thread of its own: other calls are answered meanwhile.
        assert other.get(address).json()["result"]["state"] == "pending"
        service.garden.decisions.decide(grace.caller, approval, "denied", "No.")
        waiting.join()
    assert found[0]["result"]["state"] == "denied"
    assert found[0]["result"]["reason"] == "No."


def test_an_approver_may_carry_the_call_out_otherwise(ada: Person, grace: httpx2.Client) -> None:
    address = f"/v1/approvals/{asked(ada)}/approve"
    assert grace.post(address, json={"args": {"path": "users/else/notes.md", "text": "x"}}).status_code == 403
    done = grace.post(address, json={"args": {"path": ada.notes, "text": "Slept a little."}}).json()
    assert done["result"]["state"] == "edited"
    refused = ada.call("fs.append", path=ada.notes, text="Slept well.").json()["error"]
    assert done["result"]["eventId"] in refused["message"]
    assert grace.post(address, json={}).json()["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("method", "address", "body", "status"),
    [
        ("GET", f"/v1/approvals/{UNKNOWN}", None, 404),
        ("GET", "/v1/approvals/not-an-id", None, 404),
        ("GET", "/v1/approvals?state=open", None, 400),
        ("GET", f"/v1/approvals/{UNKNOWN}?waitSeconds=soon", None, 400),
        ("POST", f"/v1/approvals/{UNKNOWN}/deny", {"why": "No."}, 400),
        ("POST", f"/v1/approvals/{UNKNOWN}/deny", {"reason": "\0"}, 400),
        ("POST", f"/v1/approvals/{UNKNOWN}/deny", {}, 404),
        ("POST", "/v1/calls", {}, 400),
        ("POST", "/v1/calls", {"tools": [{"name": 1}]}, 400),
        ("POST", "/v1/calls", {"tools": [{"name": "tools.list"}], "transaction": "yes"}, 400),
        ("POST", "/v1/calls", {"tools": [{"name": "tools.list"}], "idempotencyKey": "k"}, 400),
        ("POST", "/v1/calls", {"tools": [{"name": "tools.list"}] * 21, "transaction": True}, 400),
    ],
)
def test_a_wrong_request_is_refused(
    ada: Person, method: str, address: str, body: dict[str, Any] | None, status: int
) -> None:
    answer = ada.client.request(method, address, json=body)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["hint"]


def test_nobody_sees_anothers_approvals(ada: Person, ben: Person, service: Service) -> None:
    approval = asked(ada)
    assert ben.client.get(f"/v1/approvals/{approval}").status_code == 404
    issued = service.garden.tokens.create(ada.user_id, role="agent", actor="else", expires_at=None)
    with service.client(issued.secret) as other:
        assert other.get(f"/v1/approvals/{approval}").status_code == 404
        assert other.get("/v1/approvals").json()["result"] == []


def test_several_calls_stop_at_the_first_refusal_of_the_gate(ada: Person) -> None:
    read = {"name": "fs.read", "args": {"path": ada.notes}}
    append = {"name": "fs.append", "args": {"path": ada.notes, "text": "x"}}
    done = ada.client.post("/v1/calls", json={"tools": [read, append, read]}).json()
    assert (done["success"], done["denied"], done["ran"]) == (False, "fs.append", ["fs.read"])
    assert done["results"][1]["error"]["details"]["approvalId"]
    assert ada.client.post("/v1/calls", json={"tools": [read]}).json()["success"]


def test_a_transaction_is_approved_as_a_whole_and_happens_once(ada: Person, grace: httpx2.Client) -> None:
    new = f"users/{ada.user_id}/parts/new/notes.md"
    plant = {"name": "md.plant", "args": {"path": new}}
    append = {"name": "fs.append", "args": {"path": ada.notes, "text": "All or none."}}
    body = {"transaction": True, "idempotencyKey": "turn-31", "tools": [plant, append]}

    def sent() -> dict[str, Any]:
        answer = ada.client.post("/v1/calls", json=body)
        assert answer.status_code == 200
        done: dict[str, Any] = answer.json()
        return done

    first, second = sent()["results"]
    assert (first["error"]["code"], second["error"]["code"]) == ("not_run", "permission_required")
    assert ada.call("fs.read", path=new).status_code == 404
    approval = second["error"]["details"]["approvalId"]
    assert grace.post(f"/v1/approvals/{approval}/approve", json={}).status_code == 200
    done, again = sent(), sent()
    assert done["success"]
    [transaction] = {each["meta"]["transactionId"] for each in [*done["results"], *again["results"]]}
    assert transaction
    assert [each["meta"].get("replayed") for each in again["results"]] == [True, True]
    text = ada.client.get(f"/v1/documents/{ada.notes}").text
    assert text.count("All or none.") == 1
