"""What `memory.context` gave to whom: the passages of each block, with their words where they still stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from garden.events.reader import InvalidQueryError
from garden.passages.naming import Naming, parse_passage_id
from garden.writing.services import Services


@dataclass(frozen=True)
class GivenPassage:
    """A passage that was given; no text if it does not stand there any more."""

    path: str
    anchor: str
    text: str | None


@dataclass(frozen=True)
class Given:
    """A block of context: when which actor got it, the number of its passages, and the first of these."""

    given_id: UUID
    given_at: datetime
    actor: str
    count: int
    passages: Sequence[GivenPassage]


def find_given(
    services: Services, user_id: str, limit: int, first: str | None = None, *, shown: int
) -> tuple[list[Given], UUID | None]:
    """Blocks, newest first, from the id of one on, and the id that the next page begins with."""
    start = None if first is None else _parse(first)
    rows = services.usage.given(user_id, limit + 1, start, shown=shown)
    found = _with_texts(services, user_id, rows[:limit])
    return found, rows[limit]["given_id"] if len(rows) > limit else None


def _with_texts(services: Services, user_id: str, rows: Sequence[Mapping[str, Any]]) -> list[Given]:
    naming = Naming.of(services.keys())
    numbers = {each: naming.number(*parse_passage_id(each)) for row in rows for each in row["passages"]}
    wanted = list(dict.fromkeys(numbers.values()))
    standing = services.memories.passages(user_id, wanted, None) if wanted else []
    texts = {each.passage: each.text for each in standing}

    def passage(name: str) -> GivenPassage:
        path, anchor, _ = parse_passage_id(name)
        return GivenPassage(path, anchor, texts.get(numbers[name]))

    return [Given(**{**row, "passages": tuple(map(passage, row["passages"]))}) for row in rows]


def _parse(given_id: str) -> UUID:
    try:
        return UUID(given_id)
    except ValueError:
        raise InvalidQueryError("This is not the id of a block.", hint="Start from the list.") from None
