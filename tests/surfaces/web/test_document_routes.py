"""`/v1/documents` and `/v1/history`: texts as they are, and as they were."""

import pytest

from tests.support.served import Person, Service
from tests.surfaces.web.test_tool_routes import refused


def test_the_documents_are_listed(ada: Person) -> None:
    ada.ok("md.plant", path=ada.profile)
    everything = ada.client.get("/v1/documents").json()["result"]
    assert {ada.notes, ada.profile} <= set(everything)
    below = {"folder": f"users/{ada.user_id}/parts"}
    assert ada.client.get("/v1/documents", params=below).json()["result"] == [ada.profile]
    assert ada.client.get("/v1/documents", params={"glob": "*.md"}).json()["result"] == [ada.notes]


def test_a_document_is_sent_byte_for_byte(service: Service, ada: Person) -> None:
    head = f"---\r\nid: critic\r\nuser_id: {ada.user_id}\r\nschema: 1\r\n---\r\n"
    text = f"{head}\r\n# Grüße 🌱  \r\n\tand no end"
    path = f"users/{ada.user_id}/parts/critic/notes.md"
    ada.ok("fs.write", path=path, content=text)
    answer = ada.client.get(f"/v1/documents/{path}")
    assert answer.content == (service.garden.home.path / path).read_bytes() == text.encode()
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    looked = ada.client.head(f"/v1/documents/{path}")
    assert (looked.content, looked.headers["etag"]) == (b"", answer.headers["etag"])
    assert looked.headers["content-length"] == str(len(answer.content))


def test_a_long_document_is_sent_whole(ada: Person) -> None:
    ada.ok("fs.append", path=ada.notes, text="\n".join(f"line {number}" for number in range(2000)))
    assert "truncated" in ada.ok("fs.read", path=ada.notes)["meta"]
    assert "line 1999" in ada.client.get(f"/v1/documents/{ada.notes}").text


def test_a_range_of_lines_is_sent_alone(ada: Person) -> None:
    whole = ada.client.get(f"/v1/documents/{ada.notes}")
    some = ada.client.get(f"/v1/documents/{ada.notes}", params={"lines": "2-3"})
    assert some.text.splitlines() == whole.text.splitlines()[1:3]
    assert "etag" not in some.headers


@pytest.mark.parametrize("lines", ["0-1", "3", "a-b", "3-2", "1-2,4-5", "-1-2", "99999-99999", ""])
def test_missing_lines_are_refused(ada: Person, lines: str) -> None:
    refused(ada.client.get(f"/v1/documents/{ada.notes}", params={"lines": lines}), 400, "invalid_input")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("users/{user}/overview.md", 404, "not_found"),
        ("users/{user}", 403, "path_not_allowed"),
        ("users/{user}/../other/notes.md", 404, "not_found"),
        ("users/{user}/%2e%2e/other/notes.md", 404, "not_found"),
        ("users/{user}%2fnotes.md%00", 403, "path_not_allowed"),
        ("/etc/passwd", 403, "path_not_allowed"),
        (".garden/keys", 403, "path_not_allowed"),
        ("users/{user}/notes.md/", 403, "path_not_allowed"),
    ],
)
def test_a_path_of_no_document_is_refused(ada: Person, path: str, status: int, code: str) -> None:
    answer = ada.client.get(f"/v1/documents/{path.format(user=ada.user_id)}")
    refused(answer, *((403, "path_not_allowed") if answer.status_code == 403 else (status, code)))


@pytest.mark.parametrize(
    "route", ["/v1/documents", "/v1/documents/{notes}", "/v1/history/{notes}", "/v1/events"]
)
def test_an_unknown_or_repeated_parameter_is_refused(ada: Person, route: str) -> None:
    address = route.format(notes=ada.notes)
    assert (
        "colour"
        in refused(ada.client.get(address, params={"colour": "red"}), 400, "invalid_input")["message"]
    )
    known = {"/v1/documents": "glob", "/v1/documents/{notes}": "lines", "/v1/history/{notes}": "limit"}
    twice = f"{address}?{known.get(route, 'actor')}=1&{known.get(route, 'actor')}=1"
    assert "twice" in refused(ada.client.get(twice), 400, "invalid_input")["message"]


def test_every_version_of_a_document_is_listed_and_can_be_read(ada: Person) -> None:
    texts = [ada.client.get(f"/v1/documents/{ada.notes}")]
    for number in range(3):
        ada.ok("fs.append", path=ada.notes, text=f"entry {number}", rationale=f"why {number}")
        texts.append(ada.client.get(f"/v1/documents/{ada.notes}"))
    # What is said of a document is no version of it.
    ada.ok("events.log", type="observation", filePath=ada.notes, rationale="She laughed.")
    versions = ada.client.get(f"/v1/history/{ada.notes}").json()["result"]["versions"]
    assert [each["version"] for each in versions] == [4, 3, 2, 1]
    assert versions[0]["rationale"] == "why 2"
    for each, text in zip(versions, reversed(texts), strict=True):
        there = ada.client.get(f"/v1/history/{ada.notes}", params={"version": each["version"]})
        assert there.content == text.content
        assert there.headers["etag"] == text.headers["etag"] == f'"{each["hash"]}"'


def test_a_long_history_comes_page_by_page(ada: Person) -> None:
    for number in range(4):
        ada.ok("fs.append", path=ada.notes, text=f"entry {number}")
    found: list[int] = []
    asked = {"limit": "2"}
    while True:
        page = ada.client.get(f"/v1/history/{ada.notes}", params=asked).json()
        found += [each["version"] for each in page["result"]["versions"]]
        if "cursor" not in page["meta"]:
            break
        asked["cursor"] = page["meta"]["cursor"]
    assert found == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("version", "status", "code"),
    [("9", 404, "not_found"), ("0", 400, "invalid_input"), ("x", 400, "invalid_input")],
)
def test_a_missing_version_is_refused(ada: Person, version: str, status: int, code: str) -> None:
    refused(ada.client.get(f"/v1/history/{ada.notes}", params={"version": version}), status, code)


def test_a_document_that_never_existed_has_no_history(ada: Person) -> None:
    never = ada.notes.replace("notes.md", "parts/never/notes.md")
    for route in ("documents", "history"):
        refused(ada.client.get(f"/v1/{route}/{never}"), 404, "not_found")
