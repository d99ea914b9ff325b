"""`memory.recall` and `memory.list`: the passages that answer a question, and those that filters leave."""

import time
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from garden.events.reader import InvalidQueryError
from garden.events.recall_reader import FoundPassage
from garden.events.wire import Wire
from garden.files.paths import GardenPath, parse_path
from garden.home.local_day import find_zone, now_in
from garden.home.times import parse_time
from garden.passages.naming import passage_id
from garden.recall.periods import SummaryType
from garden.recall.query import CATEGORIES, LIMIT_DEFAULT, RecallQuery, category_of
from garden.recall.recall import recall_of
from garden.recall.sessions import session_of
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.wire import Line, Request, Time, Words, is_absent
from garden.writing.origins import Origin, origin_of

LIMIT_MAX = 50
Category = Literal[
    "fact", "preference", "life-goal", "project", "open-loop", "relationship", "health", "work",
    "personal-context",
]  # fmt: skip
_USER = "^users/[^/]+/"
_PATTERNS = {
    "overview": rf"{_USER}overview\.md$", "notes": rf"{_USER}((parts|relationships)/[^/]+/)?notes\.md$",
    "part_profile": rf"{_USER}parts/[^/]+/profile\.md$",
    "relationship_profile": rf"{_USER}relationships/[^/]+/profile\.md$",
}  # fmt: skip
_ONLY_WORDS = "Only words were compared: no memory could be compared by its meaning yet."

_SCORING = {"min_similarity", "semantic_weight", "lexical_weight"}


class MemoryFilters(Request):
    """Filters; one that is left out does not narrow the search."""

    other_names: ClassVar[Mapping[str, str]] = {"fromDay": "from", "since": "from", "until": "to"}
    rare: ClassVar[frozenset[str]] = frozenset({"kinds", "periodKeyPrefix", "asOf", "summaryTypes"})

    limit: Annotated[StrictInt, Field(ge=1, le=LIMIT_MAX)] = Field(
        LIMIT_DEFAULT, description="Most to return."
    )
    categories: tuple[Category, ...] = Field((), description="Only these categories.")
    kinds: tuple[Line, ...] = Field((), description="Only these kinds of documents.")
    paths: tuple[str, ...] = Field((), description="Only these documents or folders.")
    tags: tuple[Line, ...] = Field((), description="Only with all these tags.")
    from_day: Time | None = Field(
        None, alias="from", description="Only this day or later: 2026-11-01, yesterday, 3d."
    )
    to: Time | None = Field(None, description="Only this day or earlier.")
    period_key_prefix: Line | None = Field(
        None, description="Only summaries of periods that begin so: 2026-11."
    )
    summary_types: tuple[SummaryType, ...] = Field((), description="Only such summaries.")
    as_of: Time | None = Field(None, description="Answer as the garden stood at this time.")


class RecallRequest(MemoryFilters):
    """The question, and filters."""

    rare: ClassVar[frozenset[str]] = MemoryFilters.rare | {
        "minSimilarity", "semanticWeight", "lexicalWeight", "explain"
    }  # fmt: skip

    query: Words = Field(min_length=1, description="What to find.")
    min_similarity: StrictFloat | None = Field(None, ge=-1, le=1, description="Least semantic score.")
    semantic_weight: StrictFloat | None = Field(
        None, ge=0, le=100, description="Weight of meaning, instead of the usual."
    )
    lexical_weight: StrictFloat | None = Field(
        None, ge=0, le=100, description="Weight of words, instead of the usual."
    )
    explain: StrictBool = Field(False, description="Also return what each signal adds to the scores.")


class MemoryListRequest(MemoryFilters):
    """Filters, and the page."""

    # memory.recall describes them.
    rare: ClassVar[frozenset[str]] = MemoryFilters.rare | {"categories", "paths", "tags"}

    cursor: Line | None = Field(None, description="That of the previous page.")


class Memory(Wire):
    """A passage with its place, its day, the event that it came with, and its attributes."""

    id: str
    path: str
    anchor: str
    heading: str
    kind: str | None
    category: str | None = Field(None, exclude_if=is_absent)
    text: str
    day: date | None = Field(None, exclude_if=is_absent)
    session: str | None = Field(None, exclude_if=is_absent)
    created_at: datetime
    event_id: UUID
    actor: str | None = Field(None, exclude_if=is_absent)
    origin: Origin
    tags: tuple[str, ...]
    priority: int | None = Field(None, alias="pursuingPriority", exclude_if=is_absent)
    summary_type: str | None = Field(None, exclude_if=is_absent)
    period_key: str | None = Field(None, exclude_if=is_absent)


class Scores(Wire):
    """The scores of a memory; `semantic` is null if nothing was compared."""

    lexical: float
    semantic: float | None
    combined: float


class FoundMemory(Memory):
    """A memory with its scores, its words that the question has too, and the signals that make its score."""

    scores: Scores
    matched: tuple[str, ...]
    signals: Mapping[str, float] | None = Field(None, exclude_if=is_absent)


class Recalled(Wire):
    """The memories found, best first."""

    memories: tuple[FoundMemory, ...]


class MemoryPage(Wire):
    """Memories, newest first, and the cursor of the next page."""

    memories: tuple[Memory, ...]
    cursor: str | None = Field(None, exclude_if=is_absent)


def recall(call: Call, request: RecallRequest) -> Reply:
    """Find the memories that answer a question."""
    query = RecallQuery(
        query=request.query,
        limit=request.limit,
        **request.model_dump(include=_SCORING),
        **_filters(call, request),
    )
    started, user_id = time.perf_counter(), call.caller.user_id
    found = recall_of(call.services).search(user_id, query)
    call.services.usage.count(user_id, "memory.recall", started, is_empty=not found.hits)
    memories = tuple(
        FoundMemory(
            **_fields(call, hit.row),
            scores=Scores(lexical=hit.lexical, semantic=hit.semantic, combined=hit.combined),
            matched=hit.matched,
            signals=hit.signals if request.explain else None,
        )
        for hit in found.hits
    )
    only_words = bool(memories) and not found.is_semantic
    return Reply(Recalled(memories=memories), warnings=found.warnings or (_ONLY_WORDS,) * only_words)


def list_newest(call: Call, request: MemoryListRequest) -> Reply:
    """List memories, newest first."""
    filters = {
        name: (list(value) if isinstance(value, tuple) else value) or None
        for name, value in _filters(call, request).items()
    }
    kinds, categories = filters.pop("kinds") or (), filters.pop("categories") or ()
    filters["kinds"] = [_PATTERNS.get(each, f"{_USER}{each}/") for each in kinds] or None
    filters["sections"] = [CATEGORIES[each] for each in categories] or None
    reader, before = call.services.memories, _place_of(request.cursor)
    rows = reader.newest(call.caller.user_id, request.limit + 1, before, **filters)
    shown = rows[: request.limit]
    memories = tuple(Memory(**_fields(call, row)) for row in shown)
    cursor = f"{shown[-1].event_id}.{shown[-1].passage}" if len(rows) > len(shown) else None
    return Reply(MemoryPage(memories=memories, cursor=cursor))


def _filters(call: Call, request: MemoryFilters) -> dict[str, Any]:
    now = now_in(call.services.timezone)

    def day(given: str | None) -> date | None:
        return parse_time(given, now).date() if given else None

    return {
        "categories": request.categories,
        "kinds": _known_kinds(call, request.kinds),
        "paths": tuple(parse_path(each, owner=call.caller.user_id).text for each in request.paths),
        "tags": tuple(each.removeprefix("#").casefold() for each in request.tags),
        "since": day(request.from_day),
        "until": day(request.to),
        "period_key_prefix": request.period_key_prefix,
        "summary_types": request.summary_types,
        "as_of": parse_time(request.as_of, now) if request.as_of else None,
    }


def _known_kinds(call: Call, kinds: tuple[str, ...]) -> tuple[str, ...]:
    known = call.services.documents.kinds
    if unknown := [each for each in kinds if each not in known]:
        raise InvalidQueryError(
            f"There is no kind {unknown[0]!r} here.", hint=f"There are: {', '.join(sorted(known))}."
        )
    return kinds


def _place_of(cursor: str | None) -> tuple[UUID, int] | None:
    if cursor is None:
        return None
    event_id, _, passage = cursor.partition(".")
    try:
        return UUID(event_id), int(passage)
    except ValueError:
        raise InvalidQueryError(
            "The cursor does not come from a page.", hint="Use the last page's cursor unchanged, or none."
        ) from None


def _fields(call: Call, row: FoundPassage) -> dict[str, Any]:
    """The fields of a memory on the wire."""
    zone = find_zone(call.services.timezone) if call.services.timezone else None
    kind = GardenPath(row.path).kind
    return {name: value for name, value in row._asdict().items() if name in Memory.model_fields} | {
        "id": passage_id(row.path, row.anchor, row.name),
        "kind": kind,
        "category": category_of(kind, row.anchor),
        "session": session_of(row, kind, call.services.sessions, zone),
        "origin": origin_of(row),
    }


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "memory.recall",
        "Recall what was written",
        "Find the passages of the garden that answer a question, best first.",
        "Items, entries and paragraphs are found by their words and by their meaning, up to the last write. "
        "Each comes with its place, day, event and scores. Every filter narrows the search.",
        RecallRequest,
        Recalled,
        recall,
        Traits(cost="light"),
        {"query": "what helps her sleep", "limit": 5},
    ),
    Tool(
        "memory.list",
        "List memories",
        "List the passages of the garden, newest first.",
        "It takes the filters of memory.recall. Send cursor back for the next page.",
        MemoryListRequest,
        MemoryPage,
        list_newest,
        Traits(cost="light"),
        {"categories": ["preference", "project"], "from": "2026-11-01"},
    ),
)
