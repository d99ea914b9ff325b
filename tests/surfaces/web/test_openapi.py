"""The OpenAPI document: it describes every route, and the service behaves as described."""

import json
import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi import checks

from garden.tools.error_codes import CODES
from garden.tools.registry import REGISTRY
from tests.support.served import Person, Service

EXAMPLES = int(os.environ.get("GARDEN_TEST_REQUESTS", "8"))
# An endless answer can't be read to its end; test_event_routes.py reads it.
ENDLESS = "/v1/events/stream"
POSTED = [
    "/v1/approvals/{approval_id}/approve", "/v1/approvals/{approval_id}/deny",
    "/v1/approvals/{approval_id}/undo", "/v1/archon", "/v1/calls",
]  # fmt: skip
LEFT_OUT: list[CheckFunction] = [
    # A value of the right type may still be no document's path; the refusal is documented.
    checks.positive_data_acceptance,
    # Beyond the schema, tools accept snake_case and `opts`, and reads accept any header.
    checks.negative_data_rejection,
    # An undescribed method is answered with 405 on every path but a document's text, which also answers HEAD.
    checks.unsupported_method,
]


@pytest.fixture(scope="session")
def document(service: Service) -> dict[str, Any]:
    with service.client(None) as client:
        described: dict[str, Any] = client.get("/openapi.json").json()
    return described


@pytest.fixture(scope="session")
def described(document: dict[str, Any]) -> Any:
    return schemathesis.openapi.from_dict(document)


PATHS = [
    "/v1/tools", "/v1/tools/{name}",  "/v1/documents", "/v1/documents/{path}", "/v1/history/{path}",
    "/v1/events",
    "/v1/events/{event_id}", "/v1/approvals", "/v1/approvals/{approval_id}", *POSTED,
    "/healthz", "/readyz", "/metrics", *(f"/v1/tools/{name}" for name in REGISTRY),
]  # fmt: skip


def test_every_path_is_tried_here(document: dict[str, Any]) -> None:
    assert set(document["paths"]) == {*PATHS, ENDLESS}


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_matches_the_document(described: Any, service: Service, ada: Person, path: str) -> None:
    operation = described[path][
        "POST" if path in POSTED or path.removeprefix("/v1/tools/") in REGISTRY else "GET"
    ]
    headers = {"Authorization": f"Bearer {ada.secret}"}

    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def holds(case: Any) -> None:
        case.call_and_validate(base_url=service.url, headers=headers, excluded_checks=LEFT_OUT)

    holds()


def test_every_tool_has_a_route_with_its_schemas_and_an_example(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    for name, tool in REGISTRY.items():
        operation = document["paths"][f"/v1/tools/{name}"]["post"]
        content = operation["requestBody"]["content"]["application/json"]
        assert content["example"] == dict(tool.example)
        assert operation["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["result"]


def test_every_reference_resolves(document: dict[str, Any]) -> None:
    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    for each in references(document):
        place: Any = document
        for part in each.removeprefix("#/").split("/"):
            place = place[part]


def test_every_error_is_described_and_only_health_routes_need_no_token(
    document: dict[str, Any],
) -> None:
    assert document["security"] == [{"token": []}]
    responses = document["components"]["responses"]
    for code in CODES:
        assert any(f"`{code}`" in each["description"] for each in responses.values()), code
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path not in {"/healthz", "/readyz", "/metrics"}:
                assert "security" not in operation
                assert {"400", "401", "500", "503"} <= set(operation["responses"]), path


def test_the_document_refers_to_no_other_host(service: Service, document: Any) -> None:
    assert "://" not in json.dumps(document)
    with service.client(None) as client:
        for page in ("/docs", "/redoc"):
            assert client.get(page).status_code in {401, 404}
