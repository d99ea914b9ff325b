"""The headers that web clients expect."""

import httpx2
import pytest

from tests.support.served import Person, Service
from tests.surfaces.web.test_tool_routes import refused


def append(person: Person, text: str, /, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return person.client.post("/v1/tools/fs.append", json={"path": person.notes, "text": text}, headers=named)


def test_a_repeated_request_with_one_key_has_one_effect_and_says_so(ada: Person) -> None:
    first, again = (append(ada, "slept well", Idempotency_Key="one") for _ in range(2))
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert first.json()["meta"]["eventId"] == again.json()["meta"]["eventId"]
    assert ada.ok("fs.read", path=ada.notes)["result"].count("slept well") == 1
    # The same words under another key are said once more.
    assert "idempotency-replayed" not in append(ada, "slept well", Idempotency_Key="two").headers


def test_a_key_in_quotes_is_the_same_key(ada: Person) -> None:
    append(ada, "slept well", Idempotency_Key="one")
    assert append(ada, "slept well", Idempotency_Key='"one"').headers["idempotency-replayed"] == "true"


def test_a_key_of_another_request_is_refused(ada: Person) -> None:
    append(ada, "slept well", Idempotency_Key="one")
    refused(append(ada, "slept badly", Idempotency_Key="one"), 422, "idempotency_conflict")


@pytest.mark.parametrize(
    "said", [{"idempotencyKey": "b"}, {"idempotency_key": "b"}, {"opts": {"idempotencyKey": "b"}}], ids=str
)
def test_different_keys_in_header_and_body_are_refused(ada: Person, said: dict[str, str]) -> None:
    body = {"path": ada.notes, "text": "x", **said}
    answer = ada.client.post("/v1/tools/fs.append", json=body, headers={"Idempotency-Key": "a"})
    assert "idempotencyKey" in refused(answer, 400, "invalid_input")["message"]
    same = ada.client.post("/v1/tools/fs.append", json=body, headers={"Idempotency-Key": "b"})
    assert same.status_code == 200


@pytest.mark.parametrize("key", ["", '""', "x" * 256])
def test_an_invalid_key_is_refused(ada: Person, key: str) -> None:
    refused(append(ada, "x", Idempotency_Key=key), 400, "invalid_input")


def test_a_read_ignores_a_key(ada: Person) -> None:
    answer = ada.client.post(
        "/v1/tools/fs.read", json={"path": ada.notes}, headers={"Idempotency-Key": "any"}
    )
    assert answer.status_code == 200


def test_an_edit_of_a_document_that_has_changed_is_refused(ada: Person) -> None:
    read = ada.client.get(f"/v1/documents/{ada.notes}").headers["etag"]
    first = append(ada, "one", If_Match=read)
    assert first.status_code == 200
    error = refused(append(ada, "two", If_Match=read), 412, "precondition_failed")
    assert error["details"]["documentHash"] == first.json()["meta"]["documentHash"]
    # The tag in a write's answer is valid for the next write.
    assert append(ada, "two", If_Match=first.headers["etag"]).status_code == 200


@pytest.mark.parametrize("tag", ["*", 'W/"sha256:x"', "sha256:x", '"a", "b"', '"', ""])
def test_an_if_match_other_than_one_strong_tag_is_refused(ada: Person, tag: str) -> None:
    refused(append(ada, "x", If_Match=tag), 400, "invalid_input")


def test_an_if_match_on_a_read_is_refused(ada: Person) -> None:
    answer = ada.client.post(
        "/v1/tools/fs.read", json={"path": ada.notes}, headers={"If-Match": '"sha256:x"'}
    )
    refused(answer, 400, "invalid_input")


def test_the_entity_tag_is_the_documents_hash(ada: Person) -> None:
    tag = f'"{ada.ok("fs.hash", path=ada.notes)["result"]}"'
    assert ada.client.get(f"/v1/documents/{ada.notes}").headers["etag"] == tag
    assert ada.call("fs.read", path=ada.notes).headers["etag"] == tag
    planned = ada.call("fs.append", path=ada.notes, text="x", dryRun=True)
    assert "etag" not in planned.headers


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
def test_a_known_document_is_not_sent_again(ada: Person, form: str) -> None:
    known = ada.client.get(f"/v1/documents/{ada.notes}").headers["etag"]
    asked = {"If-None-Match": form.format(known)}
    again = ada.client.get(f"/v1/documents/{ada.notes}", headers=asked)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", known)
    if form != "*":
        append(ada, "more")
        assert ada.client.get(f"/v1/documents/{ada.notes}", headers=asked).status_code == 200


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("- first", "- first  "), ("- first\n", "- first\n\n\n")])
def test_a_document_with_changed_white_space_is_sent_again(
    service: Service, ada: Person, change: tuple[str, str]
) -> None:
    append(ada, "- first")
    address, file = f"/v1/documents/{ada.notes}", service.garden.home.path / ada.notes
    before = ada.client.get(address)
    file.write_bytes(file.read_text().replace(*change).encode())
    after = ada.client.get(address, headers={"If-None-Match": before.headers["etag"]})
    assert (after.status_code, after.content) == (200, file.read_bytes())
    assert after.content != before.content
    same = ada.client.get(address, headers={"If-None-Match": after.headers["etag"]})
    assert (same.status_code, same.headers["etag"]) == (304, after.headers["etag"])
    # Its content hash is unchanged, so a client may send either tag.
    assert ada.ok("fs.hash", path=ada.notes)["result"] == before.headers["etag"].strip('"')
    for known in (before, after):
        answer = append(ada, "more", If_Match=known.headers["etag"], Idempotency_Key="once")
        assert answer.status_code == 200, answer.text


def test_a_request_id_is_repeated_and_an_invalid_one_replaced(ada: Person) -> None:
    given = ada.client.get("/healthz", headers={"X-Request-Id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    for bad in (b"", b"two words", b"x" * 200, b"ghp_" + b"Zebra9" * 6, "läuft".encode()):
        made = ada.client.get("/healthz", headers={b"X-Request-Id": bad}).headers["x-request-id"]
        assert made.encode() != bad
        assert len(made) == 32
    refusal = ada.client.get("/v1/nothing", headers={"X-Request-Id": "mine-2"})
    assert refusal.headers["x-request-id"] == "mine-2"
