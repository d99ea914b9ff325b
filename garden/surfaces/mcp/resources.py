"""Documents and their history as resources: `garden://` and the path below the home.

garden://users/ada/notes.md                the document's current text
garden://users/ada/notes.md?version=3      its text at that version, rebuilt from its events
garden://history/ada/notes                 its versions: time, actor and rationale of each
garden://history/ada/notes/2026-...md      a history copy
"""

import json
import re
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
    "overview": "This person: facts, preferences, life goals, projects, open loops.",
    "notes": "Dated observations, newest last, and summaries of older ones.",
    "part_profile": "One part of this person: concerns, needs, strengths, what helps, evidence.",
    "relationship_profile": "One relationship: dynamics, concerns, repair, evidence.",
}


class NoResourceError(GardenError):
    """No resource has this URI."""

    code: ClassVar[str] = "not_found"


def uri_of(path: GardenPath | str) -> str:
    """Return the URI of a document, a history copy or a document's history."""
    return f"{SCHEME}{path}"


def list_page(
    garden: Garden, session: Session, cursor: str | None
) -> tuple[list[types.Resource], str | None]:
    """List one page of a user's documents; returns them and the next page's cursor."""
    folder = GardenPath(f"users/{session.caller.user_id}")
    with garden.lookups.admit(session.access, "fs.list", {"path": folder.text}):
        paths = sorted(path.text for path in garden.services.files.live_documents(folder))
    left = [path for path in paths if cursor is None or path > cursor]
    shown = left[:PAGE_RESOURCES]
    next_cursor = shown[-1] if len(left) > len(shown) else None
    return [_resource(GardenPath(path)) for path in shown], next_cursor


def _resource(path: GardenPath) -> types.Resource:
    return types.Resource(
        uri=uri_of(path),
        name=path.text.split("/", 2)[2],
        title=_title(path),
        description=_ABOUT.get(str(path.kind), f"A free-form document of the kind {path.kind}."),
        mime_type=MARKDOWN,
    )


def _title(path: GardenPath) -> str:
    if path.free is not None:
        return path.text.split("/", 2)[2].removesuffix(".md")
    name = str(path.document_name).capitalize()
    return name if path.entity is Entity.USER else f"{name} of the {path.entity} {path.entity_id}"


def resource_templates(user_id: str) -> list[types.ResourceTemplate]:
    """Return a template for each kind of document, and one for the history."""
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
            "The text of one version, rebuilt from its events: parts/critic/profile.md, 3.",
        ),
        types.ResourceTemplate(
            uri_template=f"{SCHEME}history/{user_id}/{{+history}}",
            name="history",
            title="History of a document",
            description="The versions of a document, newest first: time, actor, rationale and URI of each. "
            "Named like the document without its .md: parts/critic/profile; a free-form one keeps it.",
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


def parse_uri(session: Session, uri: str) -> tuple[GardenPath, int | None]:
    """Parse a URI into a path in the caller's own garden and, if it names one, a version."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise NoResourceError(
            "No resource has this URI.", hint=f"URIs begin with {SCHEME}; resources/list names them."
        )
    path = parse_path(found["path"], owner=session.caller.user_id)
    return path, int(found["version"]) if found["version"] else None


def read_resource(garden: Garden, session: Session, uri: str) -> types.TextResourceContents:
    """Read a document, one version of it, or the list of its versions."""
    path, version = parse_uri(session, uri)
    mime_type = MARKDOWN
    if version is not None:
        text = garden.lookups.version(session.access, path.text, version).text
    elif path.place is Place.HISTORY_FOLDER and path.document_name is not None:
        mime_type, text = JSON, _versions(session, path.document)
    else:
        text = garden.lookups.text(session.access, path.text).text
    return types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)


def _versions(session: Session, document: GardenPath) -> str:
    answer = session.events.query(path=document.text, status="committed", limit=VERSIONS_MAX)
    versions = [_version(document, row) for row in answer.result.rows if row.document_version is not None]
    history: dict[str, Any] = {"document": uri_of(document), "versions": versions}
    if "cursor" in answer.meta:
        history["more"] = "events_query finds older versions."
    return json.dumps(history, ensure_ascii=False, indent=1)


def _version(document: GardenPath, row: EventView) -> dict[str, Any]:
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
