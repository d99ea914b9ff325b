"""Completion of arguments in resource templates and prompts, from the names in the caller's own garden."""

from collections.abc import Iterable

import mcp_types as types

from garden.files.errors import FileMissingError
from garden.grammar.errors import GardenError
from garden.session import Session

VALUES_MAX = 100


def completions(session: Session, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Find the values that begin with the text typed so far."""
    given = (params.context.arguments if params.context else None) or {}
    found = [each for each in _values(session, params, given) if each.startswith(params.argument.value)]
    shown = found[:VALUES_MAX]
    return types.CompleteResult(
        completion=types.Completion(values=shown, total=len(found), has_more=len(found) > len(shown))
    )


def _values(session: Session, params: types.CompleteRequestParams, given: dict[str, str]) -> Iterable[str]:
    try:
        match params.argument.name:
            case "partId":
                return _entities(session, "parts")
            case "relId":
                return _entities(session, "relationships")
            case "document":
                return _documents(session)
            case "history":
                return [document.removesuffix(".md") for document in _documents(session)]
            case "about":
                return [f"{group}/{each}" for group in _GROUPS for each in _entities(session, group)]
            case "section":
                return _sections(session, given.get("document", ""))
            case "version":
                return _versions(session, given.get("document", ""))
    except GardenError:
        # A document that can't be read has nothing to suggest.
        pass
    return ()


_GROUPS = ("parts", "relationships")


def _entities(session: Session, group: str) -> list[str]:
    folder = f"users/{session.caller.user_id}/{group}"
    try:
        return [path.rpartition("/")[2] for path in session.fs.list(folder).result]
    except FileMissingError:
        return []


def _documents(session: Session) -> list[str]:
    folder = f"users/{session.caller.user_id}"
    return [path.removeprefix(f"{folder}/") for path in session.fs.list(folder, glob="**/*.md").result]


def _sections(session: Session, document: str) -> list[str]:
    path = f"users/{session.caller.user_id}/{document}"
    return [section.anchor for section in session.md.list_sections(path).result if section.anchor]


def _versions(session: Session, document: str) -> list[str]:
    path = f"users/{session.caller.user_id}/{document}"
    rows = session.events.query(path=path, status="committed", limit=VALUES_MAX).result.rows
    return [str(row.document_version) for row in rows if row.document_version is not None]
