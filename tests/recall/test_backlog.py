"""What recall lacks is counted, and made in the background."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.reader import EventReader
from garden.events.recall_reader import NOTHING_SEEN, RecallReader
from garden.home.settings import Upkeep
from garden.passages.extraction import ANALYSIS
from garden.recall.backlog import Backlog, backlog
from garden.recall.embedders import EmbedderUnavailableError, TextsRefusedError, vectors
from garden.recall.query import RecallQuery
from garden.recall.recall import Recall, recall_of
from garden.upkeep.tasks import JobCounts, jobs, run_job
from tests.recall.rows import change_rows
from tests.recall.test_rebuilding import write
from tests.support.explaining import explaining_pool, vacuum
from tests.support.gardens import NOTES, plant
from tests.support.planted import ada

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOT_INDEXED = "Documents that are not indexed yet, so only partly searched: 1."
_MANY = b"""
insert into garden.recall_passages (
    user_id, passage, since, path, anchor, name, heading, language, event_id, day, text, words, vector,
    embedder)
select 'user-' || n % 20, n, now(), 'notes.md', 'a', 'b', 'c', 'en', gen_random_uuid(), now(),
       repeat('text ', 50), '', '', chr(97 + n / 20 % 2)
from generate_series(0, 9999) as n"""


class RemoteEmbedder:
    """A service that embeds, and that must not be asked while a connection is in use."""

    dimensions, is_local = 4, False

    def __init__(self, garden: Garden, name: str) -> None:
        self.name = name
        self._garden = garden

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        assert [pool.in_use for pool in self._garden.pools.values()] == [0, 0, 0]
        return np.full((len(texts), self.dimensions), 0.5, np.float32)


def use(garden: Garden, name: str | None) -> None:
    """Configure an embedder of this name, or none."""

    def load() -> RemoteEmbedder:
        if name is None:
            raise EmbedderUnavailableError("Embeddings are switched off.")
        return RemoteEmbedder(garden, name)

    garden.services.load()
    garden.services.recall = Recall(RecallReader(garden.pools["readers"]), load, name_embedder=lambda: name)


def embed(garden: Garden) -> JobCounts:
    return run_job(jobs(Upkeep())["embed"], garden.services)


@pytest.fixture
def written(garden: Garden) -> Garden:
    plant(ada(garden), NOTES)
    write(ada(garden), NOTES, *(f"line {number}" for number in range(3)))
    return garden


def test_passages_get_their_vectors_and_new_ones_after_a_change_of_the_model(written: Garden) -> None:
    for name in ("small/1", "large/1", "large/2"):
        use(written, name)
        assert backlog(written.services, "ada") == Backlog(0, 3, 3, name)
        assert embed(written) == {"embedded": 3}
        assert backlog(written.services, "ada") == Backlog(0, 3, 0, name)
        assert embed(written) == {}


def test_without_an_embedder_nothing_is_done_and_nothing_fails(written: Garden) -> None:
    use(written, None)
    assert embed(written) == {}
    assert backlog(written.services, "ada").embedder is None


def test_a_text_that_is_refused_is_found_by_its_words_and_not_sent_again(
    written: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = RemoteEmbedder.embed

    def refuse(self: RemoteEmbedder, texts: Sequence[str]) -> "NDArray[np.float32]":
        if any("line 1" in text for text in texts):
            raise TextsRefusedError("HTTP 400")
        return take(self, texts)

    monkeypatch.setattr(RemoteEmbedder, "embed", refuse)
    use(written, "small/1")
    assert embed(written) == {"embedded": 3}
    assert embed(written) == {}
    hits = recall_of(written.services).search("ada", RecallQuery(query="line")).hits
    assert {hit.row.text: round(hit.semantic or 0) for hit in hits} == {"line 0": 1, "line 1": 0, "line 2": 1}


def test_a_failure_loses_no_vector_that_was_made(written: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    take, failures = RemoteEmbedder.embed, iter([False, True])

    def fail_once(self: RemoteEmbedder, texts: Sequence[str]) -> "NDArray[np.float32]":
        if next(failures):
            raise EmbedderUnavailableError("HTTP 500")
        return take(self, texts)

    monkeypatch.setattr(RemoteEmbedder, "embed", fail_once)
    monkeypatch.setattr(vectors, "BATCH_TEXTS", 1)
    use(written, "small/1")
    assert embed(written) == {"failed": 1}
    assert backlog(written.services, "ada").waiting == 2


def test_documents_without_rows_are_counted_and_named_in_a_warning(written: Garden) -> None:
    use(written, "small/1")
    change_rows(written)
    assert backlog(written.services, "ada") == Backlog(1, 0, 0, "small/1")
    search, query = recall_of(written.services).search, RecallQuery(query="line")
    assert search("ada", query).warnings == (_NOT_INDEXED,)
    run_job(jobs(Upkeep())["index"], written.services)
    assert _NOT_INDEXED not in search("ada", query).warnings


def test_a_copy_on_a_server_with_lower_numbers_is_read_once(written: Garden) -> None:
    reader = RecallReader(written.pools["readers"])
    newer = RecallReader(written.pools["readers"], ANALYSIS + 1)
    assert [each.look("ada", NOTHING_SEEN, None).behind for each in (reader, newer)] == [0, 1]
    change_rows(written, b"update garden.recall_passages set changed = '9000000000'")
    first = reader.look("ada", NOTHING_SEEN, None)
    assert sum(len(each.numbers) for each in first.sections) == 3 * 8
    assert reader.look("ada", first.seen, None).sections == ()
    write(ada(written), NOTES, "one more")
    assert [len(each.numbers) for each in reader.look("ada", first.seen, None).sections] == [8]


@pytest.mark.own_database
def test_passages_are_counted_by_an_index_alone(database: str) -> None:
    with connection(database) as opened:
        opened.execute(_MANY)
        vacuum(opened)
    with explaining_pool(database) as pool:
        with EventReader(pool).snapshot("user-7") as snapshot:
            assert snapshot.fetch("recall_counts", {"embedder": "a"}) == [{"passages": 500, "waiting": 250}]
        for plan in pool.plans["recall_counts"].values():
            assert plan.indexes == {"recall_passages_standing"}
            assert not plan.scanned_tables
