"""A garden under attack: every field that takes a path, and the secrets that no answer may reveal."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.events.database import Connection
from garden.gateway.dispatcher import Envelope
from garden.grammar.canonical import content_hash, raw_hash
from garden.session import Session
from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.writing.callers import Role
from tests.files.traversal_corpus import ADA, BEN, DOCUMENT
from tests.support.named_sql import named_sql

NOTES = f"users/{ADA}/notes.md"
CANARY = "CANARY-7f3a"
RECORDS = named_sql(__file__)


@dataclass(frozen=True)
class Entrance:
    """A field through which a path gets into a tool, beside arguments that are right."""

    tool: str
    field: str
    more: Mapping[str, Any]
    within: str | None = None

    def __str__(self) -> str:
        more = "".join(f" {name}" for name in self.more)
        return f"{self.within + ' of ' if self.within else ''}{self.tool} {self.field}{more}"

    def call(self, garden: Garden, path: str, user_id: str = ADA) -> Envelope:
        """Send a path through it, as a caller who may use the tool."""
        args = {**REGISTRY[self.tool].example, self.field: path, **self.more}
        session = session_for(garden, REGISTRY[self.tool], user_id)
        if self.within is None:
            return session.call(self.tool, args)
        return session.call(self.within, {"tool": self.tool, "args": args})


def session_for(garden: Garden, tool: Tool[Any], user_id: str = ADA) -> Session:
    """A session in the least of the roles that may use the tool."""
    role = next(each for each in Role if each in tool.traits.roles)
    return garden.session(user_id, "companion", role=role)


def entrances() -> Iterator[Entrance]:
    """Every field of every tool that takes a path, as the registry has it."""
    for name, tool in REGISTRY.items():
        for field in sorted(words_of(tool) & PATHS):
            # A move gets as far as its new path only from a document that is there.
            more = {"path": NOTES} if field == "newPath" else {}
            yield Entrance(name, field, more)
            if "dryRun" in tool.request_schema["properties"]:
                yield Entrance(name, field, {**more, "dryRun": True})
            if tool.edits is not None:
                yield Entrance(name, field, {}, within="propose_change")


def words_of(tool: Tool[Any]) -> set[str]:
    """The names of all fields of a tool's request that take words, those of nested objects included."""
    return set(_words(tool.request_schema, tool.request_schema.get("$defs", {})))


def _words(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    for name, each in schema.get("properties", {}).items():
        kinds = list(_kinds(each, definitions))
        if any(kind.get("type") == "string" or "enum" in kind for kind in kinds):
            yield name
        for kind in kinds:
            yield from _words(kind, definitions)


def _kinds(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema itself, what it refers to, its alternatives and its items."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    yield schema
    for inner in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())):
        yield from _kinds(inner, definitions)


def _is_path(field: str) -> bool:
    return field in {"path", "root"} or field.endswith("Path")


PATHS = frozenset(field for tool in REGISTRY.values() for field in words_of(tool) if _is_path(field))
"""Fields that take a path, known by their names; no other field may lead to a file."""


class Scene:
    """A garden with a part and notes, another user's garden, and a folder outside with the same tree."""

    def __init__(self, garden: Garden, database: Connection) -> None:
        self.garden = garden
        self.home = garden.home.path
        self.outside = self.home.parent / "outside"
        self._database = database
        for user in (ADA, BEN):
            session = garden.session(user, "companion")
            session.md.plant(DOCUMENT.replace(ADA, user, 1))
            session.md.plant(NOTES.replace(ADA, user, 1))
            session.fs.append(NOTES.replace(ADA, user, 1), CANARY if user == BEN else "slept badly")
        ada = garden.session(ADA, "companion")
        ada.md.snapshot_history(DOCUMENT)
        for path in (DOCUMENT, NOTES):
            copy = self.outside / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text((self.home / path).read_text() + f"\n{CANARY}\n")
        self.secrets = [str(self.home), str(self.outside), CANARY, *self._hashes_outside()]

    def _hashes_outside(self) -> Iterator[str]:
        for content in (copy.read_bytes() for copy in self.outside.rglob("*.md")):
            yield raw_hash(content)
            yield content_hash(content.decode())

    def files(self, *roots: Path) -> dict[str, tuple[str, bytes, int]]:
        """Everything below: what it is, what it holds, and how many names it has."""
        found = [path for root in roots or (self.home, self.outside) for path in (root, *root.rglob("*"))]
        return {str(path): _state(path) for path in found if ".garden" not in path.parts}

    def records(self) -> list[tuple[Any, ...]]:
        """All that the account holds."""
        return [row for sql in RECORDS.values() for row in self._database.execute(sql.encode()).fetchall()]

    def told(self, envelope: Envelope) -> str:
        """An answer as it travels, after making sure that it tells nothing of what is outside."""
        text = json.dumps(envelope, ensure_ascii=False)
        text.encode()
        for secret in self.secrets:
            assert secret not in text, text[:2000]
        return text

    def assert_refused(self, envelope: Envelope, what: object, *codes: str) -> None:
        """Expect a refusal that helps and betrays nothing."""
        self.told(envelope)
        assert not envelope["ok"], what
        assert envelope["error"]["code"] in (codes or ("path_not_allowed",)), (what, envelope)
        assert envelope["error"]["hint"], what


def _state(path: Path) -> tuple[str, bytes, int]:
    if path.is_symlink():
        return "link", str(path.readlink()).encode(), 0
    if path.is_file():
        return "file", path.read_bytes(), path.stat().st_nlink
    return "folder" if path.is_dir() else "other", b"", 0
