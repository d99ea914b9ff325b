"""`/v1/documents` and `/v1/history`: current texts and earlier versions, by path."""

import re
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from garden.events.records import Caller
from garden.gateway.dispatcher import Envelope
from garden.gateway.lookups import WholeText
from garden.surfaces.web import openapi
from garden.surfaces.web.calls import Calls, answer
from garden.surfaces.web.conditions import is_among, text_tag
from garden.surfaces.web.problems import NotAcceptedError, refuse
from garden.surfaces.web.routes import add, positive_number, query_parameters

_MARKDOWN = "text/markdown; charset=utf-8"
# A browser may keep a text, but asks each time whether it is still current.
_REVALIDATED = {"Cache-Control": "no-cache, private"}
_LINES = re.compile("([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EVENT_FIELDS = ("op", "type", "rationale", "sectionAnchor", "actor", "status")


def add_document_routes(router: APIRouter, calls: Calls) -> None:
    """Add the routes that show texts."""
    lookups = calls.garden.lookups

    async def list_documents(request: Request) -> Response:
        given = query_parameters(request.query_params, {"folder", "glob"})

        def work(caller: Caller) -> Response:
            folder = given.get("folder", f"users/{caller.user_id}")
            args = {"path": folder, "glob": given.get("glob", "**/*.md")}
            return answer(calls.envelope(caller, "fs.list", args), "fs.list")

        return await calls.run(request, work)

    async def read(request: Request) -> Response:
        path, given = request.path_params["path"], query_parameters(request.query_params, {"lines"})
        known = request.headers.get("if-none-match")

        def work(caller: Caller) -> Response:
            if "lines" in given:
                args = {"path": path, "ranges": [_line_range(given["lines"])]}
                return _answer_lines(calls.envelope(caller, "fs.read", args))
            return _answer_text(lookups.text(calls.session(caller).access, path), known)

        return await calls.run(request, work)

    async def read_history(request: Request) -> Response:
        path = request.path_params["path"]
        given = query_parameters(request.query_params, {"version", "cursor", "limit"})
        known = request.headers.get("if-none-match")

        def work(caller: Caller) -> Response:
            if "version" in given:
                number = positive_number("version", given["version"])
                return _answer_text(lookups.version(calls.session(caller).access, path, number), known)
            envelope = calls.envelope(caller, "events.query", _query(path, given))
            if "cursor" not in given and envelope["ok"] and not envelope["result"]["rows"]:
                # Raises not_found, unless the document exists without a history.
                lookups.text(calls.session(caller).access, path)
            return _answer_versions(envelope)

        return await calls.run(request, work)

    document, history = "/v1/documents/{path:path}", "/v1/history/{path:path}"
    add(router, "GET", "/v1/documents", list_documents, "list_documents", openapi.list_documents())
    add(router, "GET", document, read, "read_a_document", openapi.read_document())
    add(router, "HEAD", document, read, "look_at_a_document", None)
    add(router, "GET", history, read_history, "look_at_a_history", openapi.read_history())


def _answer_text(found: WholeText, known: str | None) -> Response:
    content = found.text.encode()
    headers = {"ETag": text_tag(found.hash, content), **_REVALIDATED}
    if known is not None and is_among(known, headers["ETag"]):
        return Response(None, 304, headers)
    return Response(content, 200, headers, _MARKDOWN)


def _answer_lines(envelope: Envelope) -> Response:
    if not envelope["ok"]:
        return refuse(envelope)
    text = "".join(each["text"] for each in envelope["result"]["rangeSlices"])
    return Response(text.encode(), 200, _REVALIDATED, _MARKDOWN)


def _answer_versions(envelope: Envelope) -> Response:
    if envelope["ok"]:
        rows = envelope["result"]["rows"]
        versions = [_version(row) for row in rows if row["documentVersion"] is not None]
        envelope = {**envelope, "result": {"versions": versions}}
    return answer(envelope, "events.query")


def _version(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "version": row["documentVersion"],
        "eventId": row["eventId"],
        "hash": row["afterHash"],
        "at": row["committedAt"],
        **{name: row[name] for name in _EVENT_FIELDS},
    }


def _query(path: str, given: Mapping[str, str]) -> dict[str, Any]:
    args: dict[str, Any] = {"path": path, "status": "committed"}
    if "cursor" in given:
        args["cursor"] = given["cursor"]
    if "limit" in given:
        args["limit"] = positive_number("limit", given["limit"])
    return args


def _line_range(text: str) -> dict[str, int]:
    found = _LINES.fullmatch(text)
    if found is None:
        raise NotAcceptedError(
            "lines must be like 1-40.", hint="The first line is 1; both ends are included."
        )
    return {"startLine": int(found[1]), "endLine": int(found[2])}
