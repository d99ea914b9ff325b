"""`/v1/documents` and `/v1/history`: texts as they are and as they were, by their paths."""

import re
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from garden.access.dispatcher import Envelope
from garden.access.lookups import WholeText
from garden.events.records import Caller
from garden.surfaces.web import openapi
from garden.surfaces.web.calls import Calls, answered
from garden.surfaces.web.conditions import entity_tag, is_among, text_tag
from garden.surfaces.web.parameters import only
from garden.surfaces.web.problems import NotAcceptedError, refused
from garden.surfaces.web.routes import add

_MARKDOWN = "text/markdown; charset=utf-8"
_VERSION = re.compile("[1-9][0-9]{0,8}")
_LINES = re.compile("([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_TOLD = ("op", "type", "rationale", "sectionAnchor", "actor", "status")


def add_document_routes(router: APIRouter, calls: Calls) -> None:
    """Add the routes that show texts."""
    lookups = calls.garden.lookups

    async def listed(request: Request) -> Response:
        given = only(request.query_params, {"folder", "glob"})

        def work(caller: Caller) -> Response:
            args = {
                "path": given.get("folder", f"users/{caller.user_id}"),
                "glob": given.get("glob", "**/*.md"),
            }
            envelope = calls.envelope(caller, "fs.list", args)
            return answered(envelope, "fs.list") if envelope["ok"] else refused(envelope)

        return await calls.run(request, work)

    async def shown(request: Request) -> Response:
        path, given = request.path_params["path"], only(request.query_params, {"lines"})
        wanted = request.headers.get("if-none-match")

        def work(caller: Caller) -> Response:
            if "lines" in given:
                return _lines(
                    calls.envelope(caller, "fs.read", {"path": path, "ranges": [_range(given["lines"])]})
                )
            return _text(lookups.text(caller, path), wanted)

        return await calls.run(request, work)

    async def history(request: Request) -> Response:
        path, given = request.path_params["path"], only(request.query_params, {"version", "cursor", "limit"})
        wanted = request.headers.get("if-none-match")

        def work(caller: Caller) -> Response:
            if "version" in given:
                return _text(lookups.version(caller, path, _number(given["version"])), wanted)
            envelope = calls.envelope(caller, "events.query", _page(path, given))
            if "cursor" not in given and envelope["ok"] and not envelope["result"]["rows"]:
                # Raises that there is no such document, unless there is one without a history.
                lookups.text(caller, path)
            return _versions(envelope)

        return await calls.run(request, work)

    add(router, "GET", "/v1/documents", listed, "list_documents", openapi.listing_documents())
    add(router, "GET", "/v1/documents/{path:path}", shown, "read_a_document", openapi.reading_a_document())
    add(router, "HEAD", "/v1/documents/{path:path}", shown, "look_at_a_document", None)
    add(router, "GET", "/v1/history/{path:path}", history, "look_at_a_history", openapi.looking_at_history())


def _text(found: WholeText, wanted: str | None) -> Response:
    # A browser that keeps a text asks each time whether it is still the same.
    content = found.text.encode()
    headers = {"ETag": text_tag(found.hash, content), "Cache-Control": "no-cache, private"}
    if wanted is not None and is_among(wanted, headers["ETag"]):
        return Response(None, 304, headers)
    return Response(content, 200, headers, _MARKDOWN)


def _lines(envelope: Envelope) -> Response:
    if not envelope["ok"]:
        return refused(envelope)
    text = "".join(each["text"] for each in envelope["result"]["rangeSlices"])
    headers = {"ETag": entity_tag(envelope["meta"]["documentHash"]), "Cache-Control": "no-cache, private"}
    return Response(text.encode(), 200, headers, _MARKDOWN)


def _versions(envelope: Envelope) -> Response:
    if not envelope["ok"]:
        return refused(envelope)
    rows = envelope["result"]["rows"]
    versions = [_version(row) for row in rows if row["documentVersion"] is not None]
    return answered({**envelope, "result": {"versions": versions}}, "events.query")


def _version(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "version": row["documentVersion"],
        "eventId": row["eventId"],
        "hash": row["afterHash"],
        "at": row["committedAt"],
        **{name: row[name] for name in _TOLD},
    }


def _page(path: str, given: Mapping[str, str]) -> dict[str, Any]:
    args: dict[str, Any] = {"path": path, "status": "committed"}
    if "cursor" in given:
        args["cursor"] = given["cursor"]
    if "limit" in given:
        args["limit"] = _number(given["limit"])
    return args


def _number(text: str) -> int:
    if not _VERSION.fullmatch(text):
        raise NotAcceptedError(
            "version and limit are numbers from 1 on.", hint="The history names the versions."
        )
    return int(text)


def _range(text: str) -> dict[str, int]:
    found = _LINES.fullmatch(text)
    if found is None:
        raise NotAcceptedError("lines must be like 1-40.", hint="The first line is 1; both are included.")
    return {"startLine": int(found[1]), "endLine": int(found[2])}
