"""The OpenAPI document, made from the registry and the table of statuses."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

import garden
from garden.events.views import EventView
from garden.surfaces.web.problems import PROBLEM
from garden.surfaces.web.statuses import RETRY_SECONDS, STATUSES
from garden.tools.declaration import Tool
from garden.tools.error_codes import CODES
from garden.tools.events import QueryRequest, Rows
from garden.tools.registry import REGISTRY
from garden.tools.tool_help import ToolLine, ToolPage
from garden.tools.wire import Correlated, WriteRequest

Described = dict[str, Any]

_REFERENCE = "#/components/schemas/{model}"
_JSON = "application/json"
_MARKDOWN = "text/markdown"
_OWN_STATUSES = {
    401: "No token, or none that is live.",
    408: "The body did not arrive in time.",
    415: "The body is not JSON in UTF-8.",
}
_OF_EVERY_CALL = (400, 401, 403, 404, 409, 429, 500, 503)
_OF_EVERY_BODY = (408, 413, 415)
_OF_EVERY_WRITE = (412, 422)
_HEALTH = "health"
_META: Described = {
    "type": "object",
    "description": "What else there is to tell.",
    "properties": {
        "warnings": {"type": "array", "items": {"type": "string"}},
        "tookMs": {"type": "number"},
        "eventId": {"type": "string", "format": "uuid", "description": "The event that was recorded."},
        "replayed": {"type": "boolean", "description": "The answer is from before."},
        "unchanged": {"type": "boolean", "description": "There was nothing to change."},
        "documentHash": {"type": "string", "description": "What ifMatch of an fs.* edit takes."},
        "cursor": {"type": "string", "description": "Asks for the next page."},
    },
    "required": ["warnings"],
}


def document(app: FastAPI) -> dict[str, Any]:
    """Describe all routes."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=garden.__version__, summary=app.summary, description=app.description,
            routes=app.routes, tags=[{"name": each} for each in ("tools", "documents", "events", _HEALTH)],
        )  # fmt: skip
        made["components"] = {
            "schemas": {**_models()[1], "Meta": _META, "Problem": _problem_schema(), "Versions": _VERSIONS},
            "responses": {_name_of(status): _problem_response(status) for status in _statuses()},
            "headers": _HEADERS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        }
        made["security"] = [{"token": []}]
        app.openapi_schema = made
    return app.openapi_schema


def tool_operation(tool: Tool[Any]) -> Described:
    """Describe the route of a tool."""
    requests, _ = _models()
    fields = tool.request.model_fields.values()
    refusals = (*_OF_EVERY_CALL, *_OF_EVERY_BODY, *(_OF_EVERY_WRITE if tool.traits.writes else (422,)))
    return {
        "tags": ["tools"],
        "summary": tool.title,
        "description": f"{tool.summary} {tool.description} For: {', '.join(sorted(tool.traits.roles))}.",
        "parameters": [*_header_parameters(tool), _REQUEST_ID],
        "requestBody": {
            "required": any(field.is_required() for field in fields),
            "content": {_JSON: {"schema": requests[tool.name, "validation"], "example": dict(tool.example)}},
        },
        "responses": _answers(requests[tool.name, "serialization"], refusals, _headers_of(tool)),
    }


def listing_tools() -> Described:
    """Describe the list of tools."""
    result = {"type": "array", "items": _model(ToolLine)}
    return _reading("tools", "List the tools", _answers(result, _OF_EVERY_CALL))


def explaining_a_tool() -> Described:
    """Describe the page of a tool."""
    name = _in_path("name", "Its name.", "md.patch_section", {"enum": list(REGISTRY)})
    return _reading("tools", "Explain a tool", _answers(_model(ToolPage), _OF_EVERY_CALL), name)


def listing_documents() -> Described:
    """Describe the list of documents."""
    folder = _in_query("folder", {"type": "string"}, "Only below this folder; else the whole garden.")
    glob = _in_query(
        "glob", {"type": "string", "maxLength": 200}, "Only paths like this, seen from the folder."
    )
    result = {"type": "array", "items": {"type": "string"}}
    return _reading("documents", "List documents", _answers(result, _OF_EVERY_CALL), folder, glob)


def reading_a_document() -> Described:
    """Describe a document's text."""
    path = _in_path("path", "The document, or a copy in the history; its slashes stand as they are.", _NOTES)
    lines = _in_query(
        "lines", {"type": "string", "pattern": "^[1-9][0-9]{0,8}-[1-9][0-9]{0,8}$"}, "Only these: 1-40."
    )
    return _reading("documents", "Read a document's text", _text_answers(), path, lines, _IF_NONE_MATCH)


def looking_at_history() -> Described:
    """Describe a document's versions, and the text of one of them."""
    path = _in_path("path", "The document; its slashes stand as they are.", _NOTES)
    version = _in_query("version", _COUNT, "Which version's text is wanted; without it they are listed.")
    limit = _in_query("limit", _limit(), "So many events at once.")
    cursor = _in_query("cursor", {"type": "string"}, "meta.cursor of the page before.")
    answers = _answers({"$ref": "#/components/schemas/Versions"}, (*_OF_EVERY_CALL, 422))
    answers["200"]["content"] |= {_MARKDOWN: {"schema": {"type": "string"}}}
    answers["304"] = {"description": "It is as it was when it was read."}
    return _reading(
        "documents", "List versions, or read one", answers, path, version, limit, cursor, _IF_NONE_MATCH
    )


def querying_events() -> Described:
    """Describe the query of events."""
    schema = QueryRequest.model_json_schema(by_alias=True)["properties"]
    filters = [
        _in_query(name, _without_null(schema[name]), schema[name].get("description", "With this id."))
        for name in (to_camel(field) for field in QueryRequest.model_fields)
    ]
    return _reading("events", "Find events, newest first", _answers(_model(Rows), _OF_EVERY_CALL), *filters)


def reading_an_event() -> Described:
    """Describe one event."""
    event_id = _in_path(
        "event_id", "The event's id.", "0193a1b2-0000-7000-8000-000000000000", {"format": "uuid"}
    )
    return _reading("events", "Read one event", _answers(_model(EventView), _OF_EVERY_CALL), event_id)


def streaming_events() -> Described:
    """Describe the stream of changes."""
    last = _header("Last-Event-ID", "The id of the last entry that arrived; the stream goes on behind it.")
    answers: Described = {
        "200": {
            "description": "An endless stream; each entry has an id to go on from, and says what happened to "
            "which event: committed, failed or annotated.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **_refusals((400, 401, 429, 500, 503)),
    }
    return _reading("events", "Follow what happens", answers, last)


def being_alive() -> Described:
    """Describe the sign of life."""
    return _about_health("Is the process alive?", _JSON, ())


def being_ready() -> Described:
    """Describe whether calls can be answered."""
    return _about_health("Can it answer calls?", _JSON, (503,))


def measuring() -> Described:
    """Describe the metrics."""
    return {
        **_about_health("Metrics for Prometheus", "text/plain", (401, 403)),
        "security": [{"token": []}, {}],
    }


_NOTES = "users/ada/notes.md"
_COUNT: Described = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
_VERSIONS: Described = {
    "type": "object",
    "properties": {
        "versions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "version": {"type": "integer"},
                    "eventId": {"type": "string", "format": "uuid"},
                    "hash": {"type": ["string", "null"]},
                    "at": {"type": ["string", "null"], "format": "date-time"},
                    "op": {"type": "string"},
                    "type": {"type": "string"},
                    "rationale": {"type": ["string", "null"]},
                    "sectionAnchor": {"type": ["string", "null"]},
                    "actor": {"type": "string"},
                    "status": {"type": "string"},
                },
                "required": ["version", "eventId", "hash", "at", "op", "type", "actor"],
            },
        }
    },
    "required": ["versions"],
}
_HEADERS: Described = {
    "ETag": {
        "description": "The document's hash, quoted; a mark of its bytes follows where others were hashed.",
        "schema": {"type": "string"},
    },
    "Idempotency-Replayed": {
        "description": "true where the answer is from before.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "X-Request-Id": {"description": "The request's id, as in the log.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "That a token is needed.", "schema": {"type": "string"}},
}  # fmt: skip


def _header(name: str, description: str) -> Described:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"},
    }


_IF_NONE_MATCH = _header("If-None-Match", "The ETag of what is known; 304 where it is still the same.")
_REQUEST_ID = _header("X-Request-Id", "An id of your own for this request; it comes back, and is in the log.")


def _header_parameters(tool: Tool[Any]) -> list[Described]:
    found = []
    if issubclass(tool.request, Correlated):
        found.append(_header("Idempotency-Key", "The same as idempotencyKey in the body."))
    if issubclass(tool.request, WriteRequest):
        found.append(_header("If-Match", "An ETag; the same as ifMatch in the body."))
    return found


def _headers_of(tool: Tool[Any]) -> tuple[str, ...]:
    return ("ETag", "Idempotency-Replayed") if tool.traits.writes else ("ETag",)


def _in_path(name: str, description: str, example: str, schema: Described | None = None) -> Described:
    return {
        "name": name, "in": "path", "required": True, "description": description,
        "schema": {"type": "string", **(schema or {})}, "example": example,
    }  # fmt: skip


def _in_query(name: str, schema: Described, description: str) -> Described:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


def _limit() -> Described:
    return _without_null(QueryRequest.model_json_schema(by_alias=True)["properties"]["limit"])


def _without_null(schema: Mapping[str, Any]) -> Described:
    """A query parameter is there or it is not; null is no word in a query."""
    kept = {
        name: value
        for name, value in schema.items()
        if name not in {"anyOf", "title", "default", "description"}
    }
    for each in schema.get("anyOf", ()):
        if each.get("type") != "null":
            kept |= each
    return kept


def _reading(tag: str, summary: str, answers: Described, *parameters: Described) -> Described:
    found: Described = {"tags": [tag], "summary": summary, "responses": answers}
    return {**found, "parameters": [*parameters, _REQUEST_ID]}


def _about_health(summary: str, media_type: str, refusals: tuple[int, ...]) -> Described:
    content = {media_type: {"schema": {"type": "object" if media_type == _JSON else "string"}}}
    answers = {"200": {"description": "Yes.", "content": content}, **_refusals(refusals)}
    return {"tags": [_HEALTH], "summary": summary, "responses": answers, "security": []}


def _answers(result: Described, refusals: tuple[int, ...], headers: tuple[str, ...] = ()) -> Described:
    envelope = {
        "type": "object",
        "properties": {
            "ok": {"const": True},
            "result": result,
            "meta": {"$ref": "#/components/schemas/Meta"},
        },
        "required": ["ok", "result", "meta"],
    }
    return {
        "200": {
            "description": "Done.",
            "content": {_JSON: {"schema": envelope}},
            "headers": _header_references(*headers, "X-Request-Id"),
        },
        **_refusals(refusals),
    }


def _text_answers() -> Described:
    return {
        "200": {
            "description": "The text, byte for byte.",
            "content": {_MARKDOWN: {"schema": {"type": "string"}}},
            "headers": _header_references("ETag", "X-Request-Id"),
        },
        "304": {"description": "It is as it was when it was read."},
        **_refusals((*_OF_EVERY_CALL, 413, 422)),
    }


def _refusals(statuses: tuple[int, ...]) -> Described:
    return {str(each): {"$ref": f"#/components/responses/{_name_of(each)}"} for each in sorted(set(statuses))}


def _header_references(*names: str) -> Described:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _name_of(status: int) -> str:
    return f"Refused{status}"


def _statuses() -> list[int]:
    return sorted({*STATUSES.values(), *_OWN_STATUSES})


def _problem_response(status: int) -> Described:
    codes = [code for code, each in STATUSES.items() if each == status]
    words = [f"`{code}`: {CODES[code].meaning}" for code in codes]
    own = [_OWN_STATUSES[status]] if status in _OWN_STATUSES else []
    headers = ["X-Request-Id"]
    if any(code in RETRY_SECONDS for code in codes):
        headers.append("Retry-After")
    if status == 401:
        headers.append("WWW-Authenticate")
    return {
        "description": " ".join([*own, *words]),
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        "headers": _header_references(*headers),
    }


def _problem_schema() -> Described:
    return {
        "type": "object",
        "description": "RFC 9457, and the envelope of a refusal.",
        "properties": {
            "type": {"type": "string", "format": "uri"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "ok": {"const": False},
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "enum": list(CODES)},
                    "message": {"type": "string"},
                    "hint": {"type": "string", "description": "What to do next."},
                    "details": {"type": "object"},
                },
                "required": ["code", "message", "hint", "details"],
            },
        },
        "required": ["type", "title", "status", "detail", "ok", "error"],
    }


def _model(model: type[Any]) -> Described:
    return _models()[0][model.__name__, "serialization"]


@cache
def _models() -> tuple[dict[tuple[str, str], Described], Described]:
    """Give the schema of each tool's request and result, and all that they refer to."""
    wanted: list[tuple[str, Any, TypeAdapter[Any]]] = []
    for tool in REGISTRY.values():
        wanted.append((tool.name, "validation", TypeAdapter(tool.request)))
        wanted.append((tool.name, "serialization", tool.answers))
    others: tuple[type[Any], ...] = (ToolLine, ToolPage, Rows, EventView)
    wanted += [(model.__name__, "serialization", TypeAdapter(model)) for model in others]
    schemas, definitions = TypeAdapter.json_schemas(wanted, by_alias=True, ref_template=_REFERENCE)
    return {(str(name), mode): schema for (name, mode), schema in schemas.items()}, definitions.get(
        "$defs", {}
    )
