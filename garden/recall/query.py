"""A question to recall, and its answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import NamedTuple

from garden.events.recall_reader import FoundPassage

LIMIT_DEFAULT = 10

CATEGORIES: Mapping[str, str] = MappingProxyType({
    "fact": "facts", "preference": "preferences", "life-goal": "life_goals", "project": "projects",
    "open-loop": "open_loops", "relationship": "relationships", "health": "health", "work": "work",
    "personal-context": "personal_context",
})  # fmt: skip
"""The categories of memories, each with the section of the overview that holds it."""
_CATEGORY_OF = {section: category for category, section in CATEGORIES.items()}


def category_of(kind: str | None, anchor: str) -> str | None:
    """The category of a section's passages; only sections of the overview have one."""
    return _CATEGORY_OF.get(anchor.rpartition(" ")[0]) if kind == "overview" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """The words of a question, and filters; an empty or missing one does not narrow it.

    Days from `since` to `until` count, both included. The weights take the place of those of the profile.
    `as_of` asks the garden as it stood at that time.
    """

    query: str
    limit: int = LIMIT_DEFAULT
    categories: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    period_key_prefix: str | None = None
    summary_types: tuple[str, ...] = ()
    min_similarity: float | None = None
    semantic_weight: float | None = None
    lexical_weight: float | None = None
    as_of: datetime | None = None


class Hit(NamedTuple):
    """A passage that was found.

    `lexical` and `combined` are between 0 and 1, `semantic` is the cosine, None where nothing was compared.
    `matched` are the words of the passage, as written, that the question has too. The score is the sum of the
    signals.
    """

    row: FoundPassage
    lexical: float
    semantic: float | None
    combined: float
    matched: tuple[str, ...]
    signals: Mapping[str, float]


class Recalled(NamedTuple):
    """The passages found, best first."""

    hits: tuple[Hit, ...]
    is_semantic: bool
    warnings: tuple[str, ...]
