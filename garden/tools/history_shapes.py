"""The requests and results of `history.*`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field, StrictBool, StrictInt

from garden.events.wire import Wire
from garden.tools.wire import Line, Request, Time, Words, is_absent
from garden.writing.origins import Origin

VERSIONS_DEFAULT, VERSIONS_MAX = 20, 100
Reference = Annotated[
    Line,
    Field(description="12, an event id or its end, 2026-11-01, yesterday, head, head~2, now."),
]


class LogRequest(Request):
    """The place, the filters and the page; a filter that is left out does not narrow the log."""

    other_names: ClassVar[Mapping[str, str]] = {"fromTime": "from", "since": "from", "until": "to"}

    path: str | None = Field(None, description="A document or a folder; by default, the garden.")
    anchor: Line | None = Field(None, description="Only this section.")
    from_time: Time | None = Field(None, alias="from", description="Only this time or later.")
    to: Time | None = Field(None, description="Only before this time.")
    actor: Line | None = Field(None, description="Only this actor.")
    text: Words | None = Field(None, description="Words in the rationale.")
    limit: Annotated[StrictInt, Field(ge=1, le=VERSIONS_MAX)] = Field(
        VERSIONS_DEFAULT, description="Most to return."
    )
    cursor: Line | None = Field(None, description="That of the previous page.")


class ShowRequest(Request):
    """The document or folder, and its version."""

    path: str = Field(description="A document; or a folder, with a time.")
    at: Reference
    anchor: Line | None = Field(None, description="Only this section.")


class DiffRequest(Request):
    """The document, and the two versions to compare."""

    other_names: ClassVar[Mapping[str, str]] = {"fromVersion": "from"}

    path: str = Field(description="The document.")
    from_version: Reference = Field(alias="from")
    to: Reference | None = Field(None, description="The other version; by default, the file.")
    anchor: Line | None = Field(None, description="Only this section.")
    words: StrictBool = Field(False, description="Mark changed words: [-old-]{+new+}.")


class BlameRequest(Request):
    """The document, and its version."""

    path: str = Field(description="The document.")
    anchor: Line | None = Field(None, description="Only this section.")
    at: Reference = "head"


class PhraseRequest(Request):
    """The phrase, and where to look for it."""

    text: Annotated[Words, Field(min_length=1)] = Field(description="The phrase, in any case.")
    path: str | None = Field(None, description="A document or a folder; by default, the garden.")


class VersionName(Wire):
    """A version of a document, the event that left it, and its time."""

    path: str
    version: int
    event_id: UUID
    time: datetime


class LoggedVersion(VersionName):
    """A version: by whom, how and why, and how many lines it added and removed."""

    actor: str
    origin: Origin
    tool: str
    op: str
    anchor: str | None = Field(None, exclude_if=is_absent)
    rationale: str | None = Field(None, exclude_if=is_absent)
    added: int
    removed: int


class VersionPage(Wire):
    """Versions, newest first, and the cursor of the next page."""

    versions: tuple[LoggedVersion, ...]
    cursor: str | None = Field(None, exclude_if=is_absent)


class ShownVersion(Wire):
    """The text of a version, or of all `documents` of a folder one after another, under their paths."""

    path: str
    version: int | None = Field(None, exclude_if=is_absent)
    event_id: UUID | None = Field(None, exclude_if=is_absent)
    time: datetime
    text: str
    documents: tuple[VersionName, ...] | None = Field(None, exclude_if=is_absent)


class VersionDiff(Wire):
    """How many lines were added and removed, and the diff, which may have been cut."""

    added: int
    removed: int
    diff: str
    truncated: bool | None = Field(None, exclude_if=is_absent)


class BlamedLine(Wire):
    """A line, and the event that it came with."""

    line: int
    text: str
    event_id: UUID
    version: int
    time: datetime
    actor: str
    origin: Origin
    rationale: str | None = Field(None, exclude_if=is_absent)


class Blame(Wire):
    """Lines, in their order."""

    lines: tuple[BlamedLine, ...]


class PhraseHit(Wire):
    """A section in which the phrase stood, the event that it came with, and the one that it went with."""

    path: str
    anchor: str
    came_with: UUID
    went_with: UUID | None = Field(None, exclude_if=is_absent)


class PhraseHits(Wire):
    """Where the phrase stood, oldest first in each document."""

    hits: tuple[PhraseHit, ...]
