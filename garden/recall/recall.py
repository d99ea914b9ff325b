"""Recall: finds the passages of a user's garden that answer a question, as they stand at this moment."""

import math
import re
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, cast

from garden.events.recall_reader import FoundPassage, RecallReader
from garden.files.paths import GardenPath
from garden.recall.embedders import EmbedderUnavailableError
from garden.recall.query import Hit, Recalled, RecallQuery, category_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from garden.passages.words import QueryWord
    from garden.recall.embedders import Embedder
    from garden.recall.index import Index
    from garden.recall.live import LiveIndex, LiveIndexes
    from garden.recall.ranking import Ranked, WordMatch
    from garden.recall.segment import Flags, Floats
    from garden.writing.services import Services

WAITING_MAX = 500
"""So many passages get their vector before a question is answered."""
_BYTES_MAX = 512 * 1024 * 1024
# A date, with a time or numbers after it.
_DATE = re.compile(r"[*_]{0,2}\d{4}-\d\d-\d\d(?:[^\w\n]*(?:[a-z]?\d+|[ap]m)\b)*[^\w\n]*", re.IGNORECASE)
_TURN = re.compile(r"(?:[^\W\d_a-z][\w'.-]* ?){1,3}\**:\**\s+(\S.*)", re.DOTALL)


class Recall:
    """Ranked search over the gardens of all users; the index of each is kept apart from the others."""

    def __init__(
        self,
        reader: RecallReader,
        load_embedder: "Callable[[], Embedder]",
        bytes_max: int = _BYTES_MAX,
        *,
        name_embedder: "Callable[[], str | None]" = lambda: None,
    ) -> None:
        self._reader, self._load_embedder, self._bytes_max = reader, load_embedder, bytes_max
        self._name_embedder = name_embedder

    def search(self, user_id: str, query: RecallQuery) -> Recalled:
        """Find the best passages of a user's garden."""
        from garden.passages.words import query_words
        from garden.recall.days import named_time
        from garden.recall.ranking import Wishes, matches_of, ranked

        warnings: list[str] = []
        embedder = self._embedder(warnings)
        live = self._live(user_id, embedder)
        before, index = live.index, live.refresh()
        if embedder and embedder.is_local and self._embed_waiting(user_id, index, embedder, WAITING_MAX):
            index = live.refresh()
        if index is not before:
            self._indexes.evict(index.size - before.size)
        if live.behind:
            warnings.append(f"Documents that are not indexed yet, so only partly searched: {live.behind}.")
        if query.as_of is not None:
            index = live.at(query.as_of)
        if embedder and query.as_of is None and (waiting := len(index.waiting)):
            warnings.append(f"Passages without a vector yet, found by their words alone: {waiting}.")
        words = query_words(query.query, index.languages)
        matches = matches_of(index, words, user_id.replace("_", "-").split("-"))
        vector = _question_vector(index, query, matches, embedder, warnings)
        wishes = Wishes(
            *(self._allowed(user_id, index, query), vector),
            *(query.semantic_weight, query.lexical_weight, query.min_similarity),
            named_time(query.query),
        )
        best = ranked(index, matches, wishes, query.limit)
        numbers = index.numbers[best.places].tolist()
        rows = {row.passage: row for row in self._passages(user_id, numbers, query.as_of)}
        said = [match.word for match in matches]
        # Some may be gone by now.
        hits = (_hit(rows[number], best, rank, said) for rank, number in enumerate(numbers) if number in rows)
        return Recalled(tuple(hits), vector is not None, tuple(warnings))

    @property
    def embedder_name(self) -> str | None:
        """The name of the configured embedder, if there is one; it is not loaded for that."""
        return self._name_embedder()

    def embed_waiting(self, user_id: str, limit: int = WAITING_MAX) -> int:
        """Give up to so many passages without a vector theirs; return how many were waiting."""
        embedder = self._load_embedder()
        index = self._live(user_id, embedder).refresh()
        self._indexes.evict()
        return self._embed_waiting(user_id, index, embedder, limit)

    @cached_property
    def _indexes(self) -> "LiveIndexes":
        from garden.recall.live import LiveIndexes

        return LiveIndexes(self._reader, self._bytes_max)

    def _live(self, user_id: str, embedder: "Embedder | None") -> "LiveIndex":
        name, dimensions = (embedder.name, embedder.dimensions) if embedder else (None, 0)
        return self._indexes.of(user_id, name, dimensions)

    def _embedder(self, warnings: list[str]) -> "Embedder | None":
        try:
            return self._load_embedder()
        except EmbedderUnavailableError as error:
            warnings.append(f"Only words were compared: {error}")
            return None

    def _embed_waiting(self, user_id: str, index: "Index", embedder: "Embedder", limit: int) -> int:
        from garden.recall.embedders.vectors import BATCH_TEXTS, embed_each, quantize

        found = self._passages(user_id, index.waiting[-limit:].tolist())
        for start in range(0, len(found), BATCH_TEXTS):
            batch = found[start : start + BATCH_TEXTS]
            texts = [embedded_text(each.text, each.path, each.heading) for each in batch]
            sent = [vector.tobytes() for vector in quantize(embed_each(embedder, texts))]
            self._reader.put_vectors(user_id, batch, sent, embedder.name)
        return len(found)

    def _passages(
        self, user_id: str, numbers: list[int], as_of: datetime | None = None
    ) -> list[FoundPassage]:
        return self._reader.passages(user_id, numbers, as_of) if numbers else []

    def _allowed(self, user_id: str, index: "Index", query: RecallQuery) -> "Flags":
        import numpy as np

        allowed = index.is_live.copy()
        if query.categories or query.kinds or query.paths:
            groups = index.all_groups
            fitting = [
                _is_wanted(query, *each[:2], kind)
                for each, kind in zip(groups.all, groups.kinds, strict=False)
            ]
            allowed &= np.array(fitting, np.bool_)[index.groups]
        if query.since:
            allowed &= index.days >= query.since.toordinal() - 1
        if query.until:
            allowed &= index.days <= query.until.toordinal() - 1
        attributes = query.tags, query.summary_types, query.period_key_prefix
        if any(attributes):
            numbers = np.frombuffer(self._reader.numbers_with(user_id, *attributes, query.as_of), ">i8")
            having = np.zeros_like(allowed)
            having[index.places_of(numbers.astype(np.int64))] = True
            allowed &= having
        return allowed


def recall_of(services: "Services") -> Recall:
    """The recall of an open garden."""
    return cast("Recall", services.recall)


def embedded_text(text: str, path: str, heading: str) -> str:
    """What is embedded of a passage: its own words, after those above it unless it is a turn of a talk."""
    dated = _DATE.match(text)
    said = text[dated.end() :] if dated else text
    if (place := GardenPath(path)).kind == "notes" and (turn := _TURN.fullmatch(said)):
        return turn[1]
    return f"{place.subject} {heading}: {said}".strip()


def _is_wanted(query: RecallQuery, path: str, anchor: str, kind: str | None) -> bool:
    return (
        (not query.kinds or kind in query.kinds)
        and (not query.categories or category_of(kind, anchor) in query.categories)
        and (not query.paths or any(f"{path}/".startswith(f"{each.rstrip('/')}/") for each in query.paths))
    )


def _question_vector(
    index: "Index",
    query: RecallQuery,
    matches: "Sequence[WordMatch]",
    embedder: "Embedder | None",
    warnings: list[str],
) -> "Floats | None":
    from garden.recall.ranking import profiles, sought_text

    if embedder is None or not index.embedded.any():
        return None
    # Static embeddings say most without the words that are everywhere; other models want the sentence.
    text = sought_text(index, matches) if embedder.name == profiles()["embedder"] else query.query
    try:
        [vector] = embedder.embed([text])
    except EmbedderUnavailableError as error:
        warnings.append(f"Only words were compared: {error}")
        return None
    return vector if vector.any() else None


def _hit(row: FoundPassage, best: "Ranked", rank: int, words: "Sequence[QueryWord]") -> Hit:
    from garden.passages.words import matched_words

    cosine = float(best.cosines[rank])
    return Hit(
        row,
        lexical=float(best.lexical[rank]),
        semantic=None if math.isnan(cosine) else cosine,
        combined=float(best.combined[rank]),
        matched=matched_words(row.text, row.language, words),
        signals={name: float(part[rank]) for name, part in best.signals.items()},
    )
