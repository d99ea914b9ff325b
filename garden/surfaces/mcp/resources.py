"""Documents and their history as resources: `garden://` and the path below the home.

garden://users/ada/notes.md                what the document says
garden://users/ada/notes.md?version=3      what it said at that version, rebuilt from its events
garden://history/ada/notes                 its versions: when, by whom and why
garden://history/ada/notes/2026-...md      a copy that was kept
"""

import json
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import mcp_types as types

from garden.application import Garden
from garden.events.views import EventView
from garden.files.paths import Entity, GardenPath, Place, parse_path
from garden.grammar.errors import GardenError
from garden.session import Session

SCHEME = "garden://"
PAGE_RESOURCES = 200
VERSIONS_MAX = 500
MARKDOWN = "text/markdown"
JSON = "application/json"

_URI = re.compile(r"garden://(?P<path>[^?#]*)(?:\?version=(?P<version>[0-9]{1,9}))?")
_ABOUT = {
    "overview": "Who this person is: facts, preferences, life goals, projects, open loops.",
    "notes": "Dated observations, newest last, and summaries of older ones.",
    "part_profile": "One part of this person: concerns, needs, strengths, what helps, evidence.",
    "relationship_profile": "One relationship: dynamics, concerns, repair, evidence.",
}


class NoResourceError(GardenError):
    """No resource has this URI."""

    code: ClassVar[str] = "not_found"


@dataclass(frozen=True)
class Contents:
    """What a resource holds."""

    uri: str
    mime_type: str
    text: str


def uri_of(path: GardenPath | str) -> str:
    """Name a document, a copy or a document's history as a resource."""
    return f"{SCHEME}{path}"


def page(garden: Garden, user_id: str, cursor: str | None) -> tuple[list[types.Resource], str | None]:
    """List some of a user's documents, and say where the next page begins."""
    folder = GardenPath(f"users/{user_id}")
    paths = sorted(path.text for path in garden.services.files.documents(folder))
    left = [path for path in paths if cursor is None or path > cursor]
    shown = left[:PAGE_RESOURCES]
    following = shown[-1] if len(left) > len(shown) else None
    return [_described(GardenPath(path)) for path in shown], following


def _described(path: GardenPath) -> types.Resource:
    return types.Resource(
        uri=uri_of(path),
        name=path.text.split("/", 2)[2],
        title=_title(path),
        description=_ABOUT[str(path.kind)],
        mime_type=MARKDOWN,
    )


def _title(path: GardenPath) -> str:
    name = str(path.document_name).capitalize()
    return name if path.entity is Entity.USER else f"{name} of the {path.entity} {path.entity_id}"


def templates(user_id: str) -> list[types.ResourceTemplate]:
    """Give a template for each kind of document, and for the history."""
    return [
        _template(user_id, "overview.md", "Overview", _ABOUT["overview"]),
        _template(user_id, "notes.md", "Notes", _ABOUT["notes"]),
        _template(user_id, "parts/{partId}/profile.md", "Part profile", _ABOUT["part_profile"]),
        _template(user_id, "parts/{partId}/notes.md", "Part notes", _ABOUT["notes"]),
        _template(
            user_id,
            "relationships/{relId}/profile.md",
            "Relationship profile",
            _ABOUT["relationship_profile"],
        ),
        _template(user_id, "relationships/{relId}/notes.md", "Relationship notes", _ABOUT["notes"]),
        _template(
            user_id,
            "{+document}?version={version}",
            "Document at a version",
            "What a document said at one version, rebuilt from its events: parts/critic/profile.md, 3.",
        ),
        types.ResourceTemplate(
            uri_template=f"{SCHEME}history/{user_id}/{{+history}}",
            name="history",
            title="History of a document",
            description="The versions of a document, newest first: when, by whom and why, each with its "
            "resource. Named like the document without its .md: parts/critic/profile.",
            mime_type=JSON,
        ),
    ]


def _template(user_id: str, below: str, title: str, description: str) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=f"{SCHEME}users/{user_id}/{below}",
        name=title.lower().replace(" ", "_"),
        title=title,
        description=description,
        mime_type=MARKDOWN,
    )


def place_of(session: Session, uri: str) -> tuple[GardenPath, int | None]:
    """Understand a URI: a path of the caller's own, and perhaps a version."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise NoResourceError(
            "No resource has this URI.", hint=f"They begin with {SCHEME}; resources/list names them."
        )
    path = parse_path(found["path"], owner=session.caller.user_id)
    return path, int(found["version"]) if found["version"] else None


def read(garden: Garden, session: Session, uri: str) -> Contents:
    """Read a resource."""
    path, version = place_of(session, uri)
    if version is not None:
        return Contents(uri, MARKDOWN, garden.lookups.version(session.caller, path.text, version).text)
    if path.place is Place.HISTORY_FOLDER and path.document_name is not None:
        return Contents(uri, JSON, _versions(session, path.document))
    return Contents(uri, MARKDOWN, garden.lookups.text(session.caller, path.text).text)


def _versions(session: Session, document: GardenPath) -> str:
    answer = session.events.query(path=document.text, status="committed", limit=VERSIONS_MAX)
    versions = [_told(document, row) for row in answer.result.rows if row.document_version is not None]
    told: dict[str, Any] = {"document": uri_of(document), "versions": versions}
    if "cursor" in answer.meta:
        told["more"] = "Older ones are found with events_query."
    return json.dumps(told, ensure_ascii=False, indent=1)


def _told(document: GardenPath, row: EventView) -> dict[str, Any]:
    return {
        "version": row.document_version,
        "uri": f"{uri_of(document)}?version={row.document_version}",
        "at": row.committed_at.isoformat() if row.committed_at else None,
        "op": row.op,
        "section": row.section_anchor,
        "rationale": row.rationale,
        "actor": row.actor,
        "eventId": str(row.event_id),
        "hash": row.after_hash,
    }
