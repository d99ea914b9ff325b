"""The OpenAPI document, made from the registry and the table of statuses; one function for each operation."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

import garden
from garden.events.approvals import STATES, Approval
from garden.events.views import EventView
from garden.gateway.archon import ArchonRequest
from garden.gateway.decisions import Decision
from garden.gateway.several import SeveralCalls
from garden.surfaces.web.problems import PROBLEM, RETRY_SECONDS, STATUSES
from garden.tools.declaration import Tool
from garden.tools.error_codes import CODES
from garden.tools.events import QueryRequest, Rows
from garden.tools.registry import REGISTRY
from garden.tools.tool_help import ToolLine, ToolPage
from garden.tools.wire import RecordedRequest, WriteRequest

Schema = dict[str, Any]

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
_TAGS = ("tools", "documents", "events", "approvals", _HEALTH)
_META: Schema = {
    "type": "object",
    "description": "Facts about the call.",
    "properties": {
        "warnings": {"type": "array", "items": {"type": "string"}},
        "tookMs": {"type": "number"},
        "eventId": {"type": "string", "format": "uuid", "description": "The event that was recorded."},
        "replayed": {"type": "boolean", "description": "The stored answer of an earlier call."},
        "effectStands": {
            "type": "boolean",
            "description": "With replayed: whether the effect of the earlier call is still there.",
        },
        "unchanged": {"type": "boolean", "description": "The document was already so."},
        "documentHash": {
            "type": "string",
            "description": "The document's hash, for ifMatch of an fs.* edit.",
        },
        "cursor": {"type": "string", "description": "The cursor of the next page."},
    },
    "required": ["warnings"],
}

_SEVERAL_ANSWERS: Schema = {
    "type": "object",
    "description": "An envelope for each call that was tried; denied names the one that the gate refused.",
    "required": ["success", "results"],
}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the whole document."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=garden.__version__, summary=app.summary, description=app.description,
            routes=app.routes, tags=[{"name": each} for each in _TAGS],
        )  # fmt: skip
        statuses = sorted({*STATUSES.values(), *_OWN_STATUSES})
        made["components"] = {
            "schemas": {**_models()[1], "Meta": _META, "Problem": _problem_schema(), "Versions": _VERSIONS},
            "responses": {_name_of(status): _problem_response(status) for status in statuses},
            "headers": _HEADERS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        }
        made["security"] = [{"token": []}]
        app.openapi_schema = made
    return app.openapi_schema


def call_tool(tool: Tool[Any]) -> Schema:
    """Describe the route of a tool."""
    requests, _ = _models()
    fields = tool.request.model_fields.values()
    headers = ("ETag", "Idempotency-Replayed") if tool.traits.writes else ("ETag",)
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
        "responses": _answers(requests[tool.name, "serialization"], refusals, headers),
    }


def carry_out_archon() -> Schema:
    """Describe the route of the Archon envelope."""
    return _several("Call several tools in the Archon envelope", ArchonRequest)


def call_several() -> Schema:
    """Describe a request with several calls."""
    return _several("Call several tools in order, or in a transaction", SeveralCalls)


def _several(summary: str, body: type[Any]) -> Schema:
    answers = _answers({}, (*_OF_EVERY_CALL, *_OF_EVERY_BODY))
    answers["200"]["content"] = {_JSON: {"schema": _SEVERAL_ANSWERS}}
    return _with_body("tools", summary, body, answers)


def list_tools() -> Schema:
    """Describe the list of tools."""
    result = {"type": "array", "items": _model(ToolLine)}
    return _reading("tools", "List the tools", _answers(result, _OF_EVERY_CALL))


def explain_tool() -> Schema:
    """Describe the help page of a tool."""
    name = _in_path("name", "Its name.", "md.patch_section", {"enum": list(REGISTRY)})
    return _reading("tools", "Explain a tool", _answers(_model(ToolPage), _OF_EVERY_CALL), name)


def list_documents() -> Schema:
    """Describe the list of documents."""
    folder = _in_query(
        "folder", {"type": "string"}, "List only below this folder. Default: the whole garden."
    )
    glob = _in_query(
        "glob", {"type": "string", "maxLength": 200}, "List only paths that match, relative to the folder."
    )
    result = {"type": "array", "items": {"type": "string"}}
    return _reading("documents", "List documents", _answers(result, _OF_EVERY_CALL), folder, glob)


def read_document() -> Schema:
    """Describe a document's text."""
    path = _in_path("path", "The document or history copy; write its slashes as they are.", _NOTES)
    lines = _in_query(
        "lines",
        {"type": "string", "pattern": "^[1-9][0-9]{0,8}-[1-9][0-9]{0,8}$"},
        "Read only these lines: 1-40. An answer with a part has no ETag.",
    )
    return _reading("documents", "Read a document's text", _text_answers(), path, lines, _IF_NONE_MATCH)


def read_history() -> Schema:
    """Describe a document's versions, and the text of one of them."""
    path = _in_path("path", "The document; write its slashes as they are.", _NOTES)
    version = _in_query("version", _COUNT, "Read this version's text. Default: list the versions.")
    limit = _in_query("limit", _without_null(_query_schema()["limit"]), "The most events on a page.")
    cursor = _in_query("cursor", {"type": "string"}, "meta.cursor of the last page.")
    answers = _answers({"$ref": "#/components/schemas/Versions"}, (*_OF_EVERY_CALL, 422))
    answers["200"]["content"] |= {_MARKDOWN: {"schema": {"type": "string"}}}
    answers["304"] = {"description": "Unchanged since it was read."}
    return _reading(
        "documents", "List versions, or read one", answers, path, version, limit, cursor, _IF_NONE_MATCH
    )


def query_events() -> Schema:
    """Describe the query of events."""
    schema = _query_schema()
    filters = [
        _in_query(
            name, _without_null(schema[name]), schema[name].get("description", "Only events with this id.")
        )
        for name in (to_camel(field) for field in QueryRequest.model_fields)
    ]
    return _reading("events", "Find events, newest first", _answers(_model(Rows), _OF_EVERY_CALL), *filters)


def read_event() -> Schema:
    """Describe one event."""
    event_id = _in_path(
        "event_id", "Its id, or at least the last six characters.", "0193a1b2-0000-7000-8000-000000000000"
    )
    return _reading("events", "Read one event", _answers(_model(EventView), _OF_EVERY_CALL), event_id)


def stream_events() -> Schema:
    """Describe the stream of changes."""
    last = _header("Last-Event-ID", "The id of the last entry received; the stream resumes after it.")
    answers: Schema = {
        "200": {
            "description": "An endless stream of entries. Each has an id to resume from and names an event "
            "that was committed, failed or annotated.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **_refusals((400, 401, 429, 500, 503)),
    }
    return _reading("events", "Follow the events", answers, last)


def _approval_id() -> Schema:
    example = "019a3f5c-0000-7000-8000-000000000000"
    return _in_path("approval_id", "The approval's id.", example, {"format": "uuid"})


def list_approvals() -> Schema:
    """Describe the list of approvals."""
    states: Schema = {"type": "string", "enum": list(STATES)}
    state = _in_query("state", states, "Only approvals in this state.")
    result = {"type": "array", "items": _model(Approval)}
    return _reading("approvals", "List approvals, newest first", _answers(result, _OF_EVERY_CALL), state)


def read_approval() -> Schema:
    """Describe one approval."""
    wait = _in_query("waitSeconds", {**_COUNT, "maximum": 60}, "Wait for the answer of a pending one.")
    answers = _answers(_model(Approval), _OF_EVERY_CALL)
    return _reading("approvals", "Read one approval, or wait for it", answers, _approval_id(), wait)


def decide(verb: str) -> Schema:
    """Describe an answer to a call that was asked about."""
    answers = _answers(_model(Approval), (*_OF_EVERY_CALL, *_OF_EVERY_BODY, *_OF_EVERY_WRITE))
    return _with_body("approvals", f"{verb} a call", Decision, answers, _approval_id())


def undo_answer() -> Schema:
    """Describe taking an answer back."""
    answers = _answers(_model(Approval), (*_OF_EVERY_CALL, *_OF_EVERY_WRITE))
    return _reading("approvals", "Take your answer back, within 30 seconds", answers, _approval_id())


def _with_body(tag: str, summary: str, body: type[Any], answers: Schema, *parameters: Schema) -> Schema:
    content = {_JSON: {"schema": _models()[0][body.__name__, "validation"]}}
    return {**_reading(tag, summary, answers, *parameters), "requestBody": {"content": content}}


def check_alive() -> Schema:
    """Describe the liveness check."""
    return _about_health("Is the process alive?", _JSON, ())


def check_ready() -> Schema:
    """Describe the readiness check."""
    return _about_health("Can it answer calls?", _JSON, (503,))


def read_metrics() -> Schema:
    """Describe the metrics."""
    return {
        **_about_health("Metrics for Prometheus", "text/plain", (401, 403)),
        "security": [{"token": []}, {}],
    }


_NOTES = "users/ada/notes.md"
_COUNT: Schema = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
_VERSIONS: Schema = {
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
_HEADERS: Schema = {
    "ETag": {
        "description": "The document's hash, quoted; then a mark of its bytes if they hash differently.",
        "schema": {"type": "string"},
    },
    "Idempotency-Replayed": {
        "description": "true for the stored answer of an earlier call.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "X-Request-Id": {"description": "The request's id, as in the log.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "The kind of token to send.", "schema": {"type": "string"}},
}  # fmt: skip


def _header(name: str, description: str) -> Schema:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"},
    }


_IF_NONE_MATCH = _header("If-None-Match", "The ETag of the known text; the answer is 304 if it is unchanged.")
_REQUEST_ID = _header("X-Request-Id", "An id of your own for this request; the answer and the log repeat it.")


def _header_parameters(tool: Tool[Any]) -> Iterator[Schema]:
    if issubclass(tool.request, RecordedRequest):
        yield _header("Idempotency-Key", "The same as idempotencyKey in the body.")
    if issubclass(tool.request, WriteRequest):
        yield _header("If-Match", "An ETag; the same as ifMatch in the body.")


def _in_path(name: str, description: str, example: str, schema: Schema | None = None) -> Schema:
    return {
        "name": name, "in": "path", "required": True, "description": description,
        "schema": {"type": "string", **(schema or {})}, "example": example,
    }  # fmt: skip


def _in_query(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


def _query_schema() -> Schema:
    properties: Schema = QueryRequest.model_json_schema(by_alias=True)["properties"]
    return properties


def _without_null(schema: Mapping[str, Any]) -> Schema:
    """Remove null from a schema: a query has no word for it. A list stands for one value as well."""
    kept = {
        name: value
        for name, value in schema.items()
        if name not in {"anyOf", "title", "default", "description"}
    }
    others = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return kept | dict(others[-1]) if others else kept


def _reading(tag: str, summary: str, answers: Schema, *parameters: Schema) -> Schema:
    operation: Schema = {"tags": [tag], "summary": summary, "responses": answers}
    return {**operation, "parameters": [*parameters, _REQUEST_ID]}


def _about_health(summary: str, media_type: str, refusals: tuple[int, ...]) -> Schema:
    content = {media_type: {"schema": {"type": "object" if media_type == _JSON else "string"}}}
    answers = {"200": {"description": "Yes.", "content": content}, **_refusals(refusals)}
    return {"tags": [_HEALTH], "summary": summary, "responses": answers, "security": []}


def _answers(result: Schema, refusals: tuple[int, ...], headers: tuple[str, ...] = ()) -> Schema:
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


def _text_answers() -> Schema:
    return {
        "200": {
            "description": "The text, byte for byte.",
            "content": {_MARKDOWN: {"schema": {"type": "string"}}},
            "headers": _header_references("ETag", "X-Request-Id"),
        },
        "304": {"description": "Unchanged since it was read."},
        **_refusals((*_OF_EVERY_CALL, 413, 422)),
    }


def _refusals(statuses: tuple[int, ...]) -> Schema:
    return {str(each): {"$ref": f"#/components/responses/{_name_of(each)}"} for each in sorted(set(statuses))}


def _header_references(*names: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _name_of(status: int) -> str:
    return f"Refused{status}"


def _problem_response(status: int) -> Schema:
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


def _problem_schema() -> Schema:
    return {
        "type": "object",
        "description": "A problem of RFC 9457, and the envelope of a refusal.",
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


def _model(model: type[Any]) -> Schema:
    return _models()[0][model.__name__, "serialization"]


@cache
def _models() -> tuple[dict[tuple[str, str], Schema], Schema]:
    """Return the schema of each tool's request and result, and the definitions they refer to."""
    wanted: list[tuple[str, Any, TypeAdapter[Any]]] = []
    for tool in REGISTRY.values():
        wanted.append((tool.name, "validation", TypeAdapter(tool.request)))
        wanted.append((tool.name, "serialization", tool.result_adapter))
    answers = (ToolLine, ToolPage, Rows, EventView, Approval)
    wanted += [(model.__name__, "serialization", TypeAdapter(model)) for model in answers]
    bodies: tuple[type[Any], ...] = (Decision, SeveralCalls, ArchonRequest)
    wanted += [(model.__name__, "validation", TypeAdapter(model)) for model in bodies]
    schemas, definitions = TypeAdapter.json_schemas(wanted, by_alias=True, ref_template=_REFERENCE)
    return {(str(name), mode): schema for (name, mode), schema in schemas.items()}, definitions.get(
        "$defs", {}
    )
