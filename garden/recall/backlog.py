"""What recall still has to do for a user."""

from collections.abc import Mapping
from dataclasses import dataclass

from garden.recall.rebuilding import documents_behind
from garden.recall.recall import recall_of
from garden.writing.services import Services


@dataclass(frozen=True)
class Backlog:
    """The documents behind, the passages there are, and those without a vector of the embedder."""

    behind: int
    passages: int
    waiting: int
    embedder: str | None


def backlog(services: Services, user_id: str) -> Backlog:
    """Count what recall has of a user, and what it lacks."""
    embedder, behind = recall_of(services).embedder_name, len(documents_behind(services, user_id))
    return Backlog(behind, embedder=embedder, **passage_counts(services, user_id, embedder))


def passage_counts(services: Services, user_id: str, embedder: str | None) -> Mapping[str, int]:
    """Count the passages of a user, and those that are `waiting` for a vector."""
    with services.reader.snapshot(user_id) as snapshot:
        [counts] = snapshot.fetch("recall_counts", {"embedder": embedder or ""})
    return counts
