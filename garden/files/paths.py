"""Paths: a caller's string becomes a `GardenPath` or is refused.

Relative to the garden home, in POSIX form, and nothing else:

    users/{userId}/overview.md                              users/{userId}/notes.md
    users/{userId}/parts/{partId}/profile.md                users/{userId}/parts/{partId}/notes.md
    users/{userId}/relationships/{relId}/profile.md         users/{userId}/relationships/{relId}/notes.md
    users/{userId}/{kind}/{name}.md                         and with one or two folders above the name

the folders on the way to them, from `users/{userId}` on, and the history. In the history a document is a
folder with its name, without `.md`, that holds one copy for each version replaced:

    history/{userId}/overview/2026-11-18T082512.123456Z-{eventId}.md
    history/{userId}/parts/{partId}/profile/2026-11-18T082512.123456Z-{eventId}.md

so that a document's copies can be listed by themselves and sort by time. Those of a free-form document, such
as users/{userId}/memories/a.md, are in a folder that keeps the `.md`, since memories/a may be a folder of
documents. Which free-form paths a home allows, its kinds say: `declared_paths`. This module touches no disk.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, ClassVar, Self
from uuid import UUID

from garden.grammar.errors import GardenError

LENGTH_MAX_CHARACTERS = 255
# A copy's name goes below the path of its document.
_COPY_NAME_MAX_CHARACTERS = 70
_PATHS_KEPT_MAX = 8192
_SLASHES_MAX = 5

# No `\d`, `\w` or `$`: they know digits and letters of every script, and a newline before the end.
ID = "[a-z0-9][a-z0-9_-]{0,63}"
_USER = f"(?P<user_id>{ID})"
_GROUP = "(?P<group>parts|relationships)"
# A free-form document is in the folder of its kind; the other kinds have places of their own.
_KIND = "(?!(?:parts|relationships|overview|notes)(?:/|$))(?P<free>[a-z][a-z0-9_]{0,63})"
_FREE = f"{_USER}/{_KIND}(?:/{ID}){{0,2}}"
_FREE_DOCUMENT = rf"{_FREE}/(?P<name>{ID})\.md"
_FOLDER = f"{_USER}(?:/{_GROUP}(?:/(?P<entity_id>{ID}))?)?"
_DOCUMENT = f"{_USER}/(?:(?P<own>overview|notes)|{_GROUP}/(?P<entity_id>{ID})/(?P<name>profile|notes))"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}\.[0-9]{6}Z"
_EVENT = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

_HINT = (
    "Allowed are users/{userId}/overview.md and notes.md, "
    "users/{userId}/parts/{partId}/profile.md and notes.md, "
    "users/{userId}/relationships/{relId}/profile.md and notes.md, "
    "documents of free-form kinds such as users/{userId}/memories/{name}.md, and the folders on the way; "
    "for reading also history/{userId}/..., as fs.list shows it. "
    "An id is 1 to 64 of a-z, 0-9, '-' and '_', and begins with a letter or a digit."
)


class PathNotAllowedError(GardenError):
    """No document, folder or copy can have this path, or this caller may not use it."""

    code: ClassVar[str] = "path_not_allowed"

    def __init__(self, reason: str, hint: str = _HINT) -> None:
        # The path itself is not repeated: it may be a host path, or made of control characters.
        super().__init__(f"This path is not allowed: {reason}.", hint=hint)


class Place(StrEnum):
    """The kinds of paths."""

    DOCUMENT = "document"
    FOLDER = "folder"
    HISTORY_FOLDER = "history_folder"
    HISTORY_COPY = "history_copy"


class Entity(StrEnum):
    """The kinds of entities that documents are about."""

    USER = "user"
    PART = "part"
    RELATIONSHIP = "relationship"


_ENTITIES = {"parts": Entity.PART, "relationships": Entity.RELATIONSHIP, None: Entity.USER}
_SHAPES = (
    (Place.DOCUMENT, re.compile(rf"users/{_DOCUMENT}\.md")),
    (Place.FOLDER, re.compile(f"users/{_FOLDER}")),
    (Place.HISTORY_FOLDER, re.compile(f"history/{_FOLDER}")),
    (Place.HISTORY_FOLDER, re.compile(f"history/{_DOCUMENT}")),
    (Place.HISTORY_COPY, re.compile(rf"history/{_DOCUMENT}/{_TIME}-{_EVENT}\.md")),
    (Place.DOCUMENT, re.compile(f"users/{_FREE_DOCUMENT}")),
    (Place.FOLDER, re.compile(f"users/{_FREE}")),
    (Place.HISTORY_FOLDER, re.compile(f"history/{_FREE}")),
    (Place.HISTORY_FOLDER, re.compile(f"history/{_FREE_DOCUMENT}")),
    (Place.HISTORY_COPY, re.compile(rf"history/{_FREE_DOCUMENT}/{_TIME}-{_EVENT}\.md")),
)


@dataclass(frozen=True, slots=True)
class GardenPath:
    """An allowed path below the garden home; making one checks it.

    `entity_id` is None for the user's own documents and for the folder of all parts or relationships;
    `document_name` is `overview`, `notes`, `profile` or the name of a free-form document, and None for a
    folder of several documents; `free` is the kind of free-form documents, and of their folders and copies;
    `name` is the last name on the way.
    """

    text: str
    place: Place = field(init=False, compare=False)
    user_id: str = field(init=False, compare=False)
    entity: Entity = field(init=False, compare=False)
    entity_id: str | None = field(init=False, compare=False)
    document_name: str | None = field(init=False, compare=False)
    free: str | None = field(init=False, compare=False)
    name: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for key, value in _parts_of(self.text):
            object.__setattr__(self, key, value)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def document_of(
        cls, user_id: str, name: str, *, entity: Entity = Entity.USER, entity_id: str | None = None
    ) -> Self:
        """Give the path of a document of a user, part or relationship."""
        group = {Entity.PART: "/parts", Entity.RELATIONSHIP: "/relationships", Entity.USER: ""}[entity]
        below = group if entity_id is None else f"{group}/{entity_id}"
        return cls(f"users/{user_id}{below}/{name}.md")

    @property
    def kind(self) -> str | None:
        """The kind of the document, or of the document that this copy or history belongs to; else None."""
        if self.document_name is None or self.free is not None:
            return self.free if self.document_name else None
        return f"{self.entity}_profile" if self.document_name == "profile" else self.document_name

    @property
    def subject(self) -> str:
        """What the path says the document is about, in words."""
        named = self.text.split("/", 3)[3].removesuffix(".md") if self.free else self.entity_id or ""
        return re.sub("[-_/]", " ", named)

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder."""
        return self.place in {Place.FOLDER, Place.HISTORY_FOLDER}

    @property
    def is_top(self) -> bool:
        """Whether this is a user's whole garden or whole history."""
        return self.text.count("/") == 1

    @property
    def is_writable(self) -> bool:
        """Whether a tool may write here; only the write path writes history."""
        return self.place in {Place.DOCUMENT, Place.FOLDER}

    @property
    def folder(self) -> "GardenPath":
        """The folder that holds this document, copy or folder."""
        return GardenPath(self.text.rpartition("/")[0])

    @property
    def history(self) -> "GardenPath":
        """The folder that holds the copies of this document."""
        if self.place is not Place.DOCUMENT:
            raise PathNotAllowedError("only a document has a history")
        below = self.text.removeprefix("users/")
        return GardenPath("history/" + (below if self.free else below.removesuffix(".md")))

    @property
    def document(self) -> "GardenPath":
        """The document that this copy, or folder of copies, belongs to."""
        if self.document_name is None:
            raise PathNotAllowedError("it belongs to no single document")
        if self.free is not None:
            return GardenPath("users/" + self.text.split("/", 1)[1].partition(".md")[0] + ".md")
        return GardenPath.document_of(
            self.user_id, self.document_name, entity=self.entity, entity_id=self.entity_id
        )

    def copy_of(self, at: datetime, event_id: UUID) -> "GardenPath":
        """Give the path of the copy that an event keeps of this document."""
        time = at.astimezone(UTC).strftime("%Y-%m-%dT%H%M%S.%fZ")
        return GardenPath(f"{self.history.text}/{time}-{event_id}.md")


def parse_path(text: str, *, owner: str | None) -> GardenPath:
    """Check a caller's path; with an owner, refuse the paths of all other users."""
    path = GardenPath(text)
    if owner is not None and path.user_id != owner:
        raise PathNotAllowedError("it belongs to another user's garden")
    return path


def is_id(text: str) -> bool:
    """Whether a text may be the id of a user, part or relationship."""
    return re.fullmatch(ID, text) is not None


@lru_cache(_PATHS_KEPT_MAX)
def _parts_of(text: str) -> tuple[tuple[str, Any], ...]:
    """The values of a path's fields: a call names the same few paths again and again."""
    place, groups = _match(text)
    return (
        ("place", place),
        ("user_id", groups["user_id"]),
        ("entity", _ENTITIES[groups.get("group")]),
        ("entity_id", groups.get("entity_id")),
        ("document_name", groups.get("own") or groups.get("name")),
        ("free", groups.get("free")),
        ("name", text.rpartition("/")[2]),
    )


def _match(text: str) -> tuple[Place, dict[str, str | None]]:
    # The shapes alone decide; the reason is worked out only after none has matched.
    length_max = LENGTH_MAX_CHARACTERS + (_COPY_NAME_MAX_CHARACTERS if text.startswith("history/") else 0)
    if len(text) > length_max:
        raise PathNotAllowedError(f"it is longer than {length_max} characters")
    for place, shape in _SHAPES:
        if found := shape.fullmatch(text):
            return place, found.groupdict()
    raise PathNotAllowedError(_why_not(text))


def _why_not(text: str) -> str:
    return _wrong_character(text) or _wrong_component(text.split("/")) or _wrong_shape(text)


def _wrong_character(text: str) -> str | None:
    # Format characters and lone surrogates are as invisible as control characters.
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in text):
        return "it holds a control character"
    if "\\" in text:
        return "it holds a backslash; components are divided by '/'"
    if "%" in text:
        return "it holds a '%'; nothing is decoded here"
    if not text.isascii():
        return "it holds a letter or sign beyond a-z, 0-9, '-', '_', '.' and '/'"
    return None


def _wrong_component(components: list[str]) -> str | None:
    if components == [""]:
        return "it is empty"
    if components[0] == "":
        return "it is absolute"
    if "" in components:
        return "it has an empty component"
    if not {".", ".."}.isdisjoint(components):
        return "'.' and '..' lead nowhere here"
    return None


def _wrong_shape(text: str) -> str:
    if text != text.lower():
        return "it holds capital letters"
    if text.split("/")[0] not in {"users", "history"}:
        return "it does not begin with users/ or history/"
    if text.startswith("users/") and text.count("/") > _SLASHES_MAX:
        return "it has more than four levels below the user's folder"
    if "." in text and not text.endswith(".md"):
        return "it does not end in .md"
    return "no document, folder or copy has such a name"
