"""`/v1/tools`: every tool over HTTP."""

import json
from typing import Any

import pytest

from garden.surfaces.web.problems import RETRY_SECONDS, STATUSES
from garden.tools.error_codes import CODES
from garden.tools.registry import REGISTRY
from tests.support.folders import PREFIX
from tests.support.served import Person, Service

JSON = {"Content-Type": "application/json"}


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    """Check a refusal in both of its shapes, and give the error."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert (answer.headers.get("connection") == "close") == (status in {408, 413, 429, 503})
    assert body["type"].endswith(code)
    assert body["title"]
    assert (body["ok"], body["error"]["code"]) == (False, code)
    assert body["detail"] == body["error"]["message"]
    assert set(body["error"]) == {"code", "message", "hint", "details"}
    assert PREFIX not in answer.text
    error: dict[str, Any] = body["error"]
    return error


def example_for(person: Person, tool: str) -> dict[str, Any]:
    text = json.dumps(dict(REGISTRY[tool].example)).replace("users/ada", f"users/{person.user_id}")
    args: dict[str, Any] = json.loads(text)
    return args


def test_every_code_has_a_status() -> None:
    assert set(STATUSES) == set(CODES)
    assert set(STATUSES.values()) <= {400, 403, 404, 409, 412, 413, 422, 429, 500, 503}
    assert {STATUSES[code] for code in RETRY_SECONDS} == {409, 429, 503}


def test_every_tool_refuses_an_unknown_field(ada: Person) -> None:
    for tool in REGISTRY.values():
        answer = ada.call(tool.name, **example_for(ada, tool.name), surplus=1)
        if tool.traits.roles == {"maintainer"}:
            refused(answer, 403, "permission_denied")
        else:
            assert "surplus" in refused(answer, 400, "invalid_input")["message"]


@pytest.mark.parametrize("tool", REGISTRY)
def test_every_tool_answers_over_http_as_it_does_in_python(service: Service, ada: Person, tool: str) -> None:
    """Send a tool's example over HTTP and in Python; only ids, times and hashes may differ."""
    with service.person("maintainer", ada.user_id) as maintainer:
        maintainer.call("md.plant", path=maintainer.profile)
        args = {**example_for(ada, tool), **({"dryRun": True} if _changes(tool) else {})}
        here = service.garden.session(ada.user_id, "companion", role="maintainer").call(tool, args)
        there = maintainer.call(tool, **args)
        assert there.json()["ok"] == here["ok"]
        if here["ok"]:
            assert there.status_code == 200
            assert _comparable(there.json()) == _comparable(here)
        else:
            assert refused(there, STATUSES[here["error"]["code"]], here["error"]["code"]) == here["error"]


def _changes(tool: str) -> bool:
    return "dryRun" in REGISTRY[tool].request_schema["properties"]


def _comparable(envelope: dict[str, Any]) -> dict[str, Any]:
    meta = {
        name: value
        for name, value in envelope["meta"].items()
        if name not in {"tookMs", "diff", "replayed", "effectStands", "hint"}
    }
    if any(word in str(envelope["result"]) for word in ("historyPath", "diff", "latency")):
        return {"meta": sorted(meta)}
    return {"result": envelope["result"], "meta": sorted(meta)}


def test_the_tools_are_listed_and_explained(ada: Person) -> None:
    listed = ada.client.get("/v1/tools").json()["result"]
    assert [each["name"] for each in listed] == list(REGISTRY)
    assert ada.client.get("/v1/tools/fs.read").json()["result"]["name"] == "fs.read"
    refused(ada.client.get("/v1/tools/fs.reed"), 404, "unknown_tool")


def test_a_missing_tool_is_unknown_and_a_delete_is_not_allowed(ada: Person) -> None:
    assert "fs.read" in refused(ada.call("fs.reed"), 404, "unknown_tool")["hint"]
    refused(ada.call("fs.delete", path=ada.notes), 403, "delete_not_allowed")


def test_a_dot_may_be_an_underscore(ada: Person) -> None:
    assert ada.ok("fs_read", path=ada.notes)["result"] == ada.ok("fs.read", path=ada.notes)["result"]


def test_a_reviewer_changes_nothing(service: Service, ada: Person) -> None:
    with service.person("reviewer", ada.user_id) as reviewer:
        refused(reviewer.call("fs.append", path=ada.notes, text="no"), 403, "permission_denied")
        reviewer.ok("fs.read", path=ada.notes)


def test_without_a_body_there_are_no_arguments(ada: Person) -> None:
    assert ada.client.post("/v1/tools/tools.list").status_code == 200
    refused(ada.client.post("/v1/tools/fs.read"), 400, "invalid_input")


BAD_BODIES = {
    "half an object": b'{"path": ',
    "no object": b"[]",
    "a word": b"null",
    "two objects": b"{}{}",
    "a name twice": b'{"path": "users/ada/notes.md", "path": "users/ada/notes.md"}',
    "NaN": b'{"path": NaN}',
    "infinity": b'{"path": -Infinity}',
    "a number beyond all": b'{"path": 1e999}',
    "digits without end": b'{"path": ' + b"9" * 5000 + b"}",
    "no UTF-8": b'{"path": "\xff\xfe"}',
    "UTF-16": '{"path": "x"}'.encode("utf-16"),
    "a bomb of lists": b'{"path":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a bomb of objects": b'{"a":' * 500 + b"1" + b"}" * 500,
    "a mark before": b"\xef\xbb\xbf{}",
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=list(BAD_BODIES))
def test_a_body_other_than_one_json_object_is_refused(ada: Person, body: bytes) -> None:
    refused(ada.client.post("/v1/tools/fs.read", content=body, headers=JSON), 400, "invalid_input")


def test_a_lone_surrogate_is_refused_without_an_internal_error(ada: Person) -> None:
    body = b'{"path": "users/ada/\\ud800.md"}'
    refused(ada.client.post("/v1/tools/fs.read", content=body, headers=JSON), 403, "path_not_allowed")
    text = b'{"path": "%b", "text": "\\ud800"}' % ada.notes.encode()
    assert ada.client.post("/v1/tools/fs.append", content=text, headers=JSON).status_code in {400, 422}


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/json; charset=latin-1",
        "application/xml",
    ],
)
def test_a_body_not_declared_as_json_is_refused(ada: Person, media_type: str) -> None:
    answer = ada.client.post("/v1/tools/tools.list", content=b"{}", headers={"Content-Type": media_type})
    refused(answer, 415, "invalid_input")


@pytest.mark.parametrize("media_type", ["application/json; charset=UTF-8", "application/vnd.garden+json"])
def test_every_json_media_type_is_accepted(ada: Person, media_type: str) -> None:
    answer = ada.client.post("/v1/tools/tools.list", content=b"{}", headers={"Content-Type": media_type})
    assert answer.status_code == 200


def test_letters_of_every_script_survive_the_round_trip(ada: Person) -> None:
    ada.ok("fs.append", path=ada.notes, text="Grüße, 日本語, 🌱")
    assert "Grüße, 日本語, 🌱" in ada.ok("fs.read", path=ada.notes)["result"]


def test_a_missing_route_and_a_wrong_method_are_problems(
    ada: Person,
) -> None:
    refused(ada.client.get("/v1/nothing"), 404, "not_found")
    refused(ada.client.get("/v1/tools/"), 404, "not_found")
    wrong = ada.client.delete("/v1/tools")
    refused(wrong, 405, "invalid_input")
    assert wrong.headers["allow"] == "GET"


def test_a_wrong_method_is_refused_with_all_methods_of_the_address(ada: Person) -> None:
    for address in ("/v1/tools/fs.read", "/v1/tools/fs_read"):
        assert ada.client.delete(address).headers["allow"] == "GET, POST"
    wrong = ada.client.delete(f"/v1/documents/{ada.notes}")
    assert wrong.headers["allow"] == "GET, HEAD"
    assert refused(wrong, 405, "invalid_input")["hint"] == "Use GET or HEAD."


def test_an_archon_request_is_carried_out_over_http(service: Service, ada: Person) -> None:
    calls = [{"name": "archon.fs.read", "args": {"path": ada.notes}}, {"name": "archon.fs.delete"}]
    request = {"phase": "EXECUTE", "intent": "tool_call", "summary": "Look.", "tools": calls}
    ada.call("md.plant", path=ada.notes)
    answer = ada.client.post("/v1/archon", json=request)
    assert answer.status_code == 200, answer.text
    assert [each["result"]["ok"] for each in answer.json()["results"]] == [True, False]
    assert answer.json()["denied"] == ["archon.fs.delete"]
    refused(ada.client.post("/v1/archon", json={**request, "phase": "PLAN"}), 400, "invalid_input")
    refused(
        ada.client.post("/v1/archon", content=b'{"phase": 1, "phase": 2}', headers=JSON), 400, "invalid_input"
    )
    with service.client(None) as stranger:
        assert stranger.post("/v1/archon", json=request).status_code == 401
