"""Recall in an open garden: exact at once, from every process, for one user only."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from threading import Lock
from typing import Any

import pytest

from garden.application import Garden
from garden.events.passages import PassageStore
from garden.events.recall_reader import RecallReader
from garden.home.folder import Home
from garden.recall import index as index_module
from garden.recall import live
from garden.recall.embedders import Embedder, EmbedderUnavailableError, load_embedder
from garden.recall.index import Index
from garden.recall.live import LiveIndexes
from garden.recall.query import Recalled, RecallQuery
from garden.recall.recall import Recall, embedded_text, recall_of
from garden.session import Session
from tests.support.gardens import NOTES, OVERVIEW, ok, plant, result
from tests.support.planted import opened

BENS, CRITICS = "users/ben/notes.md", "users/ada/parts/critic/notes.md"


@pytest.fixture
def ada(garden: Garden) -> Session:
    session = garden.session("ada", "companion", role="maintainer")
    plant(session, NOTES, OVERVIEW)
    return session


@pytest.fixture
def recall(garden: Garden) -> Recall:
    return recall_of(garden.services)


@pytest.fixture
def elsewhere(ready_home: Home) -> Iterator[Recall]:
    """The recall of another process."""
    with opened(ready_home) as garden:
        yield recall_of(garden.services)


def note(session: Session, *lines: str, path: str = NOTES) -> None:
    for line in lines:
        ok(session, "fs.append", path=path, text=f"- {line}\n")


def search(recall: Recall, words: str, user_id: str = "ada", **filters: Any) -> Recalled:
    return recall.search(user_id, RecallQuery(query=words, **filters))


def ask(recall: Recall, words: str, user_id: str = "ada", **filters: Any) -> list[str]:
    return [hit.row.text for hit in search(recall, words, user_id, **filters).hits]


def rewrite(session: Session, old: str, new: str, path: str = NOTES) -> None:
    text = result(session, "fs.read", path=path)
    ok(session, "fs.write", path=path, content=text.replace(old, new), rationale="She said so.")


def without_embedder(garden: Garden) -> Recall:
    def refuse() -> Embedder:
        raise EmbedderUnavailableError("There is no model.", hint="Install one.")

    return Recall(RecallReader(garden.pools["readers"]), refuse)


def test_a_fact_written_in_one_process_is_found_in_another_by_the_very_next_call(
    ada: Session, elsewhere: Recall
) -> None:
    assert ask(elsewhere, "lazy Sundays") == []
    note(ada, "2026-03-03: She slept lazily on Sunday.")
    recalled = search(elsewhere, "lazy Sundays")
    [hit] = recalled.hits
    assert (hit.row.path, hit.row.anchor, hit.row.heading) == (NOTES, "inbox v1", "Inbox")
    assert (hit.row.day, hit.row.actor, hit.row.role) == (date(2026, 3, 3), "companion", "maintainer")
    assert hit.matched == ("Sunday",)
    assert hit.semantic is not None
    assert recalled.is_semantic
    assert sum(hit.signals.values()) == pytest.approx(hit.combined)


def test_what_was_taken_out_is_not_found_again(ada: Session, recall: Recall, elsewhere: Recall) -> None:
    note(ada, "She keeps bees.", "She sails.")
    assert ask(elsewhere, "bees")[0] == ask(recall, "bees")[0] == "She keeps bees."
    rewrite(ada, "- She keeps bees.\n", "")
    assert ask(elsewhere, "bees") == ask(recall, "bees") == ["She sails."]
    rewrite(ada, "- She sails.\n", "")
    assert ask(elsewhere, "bees") == ask(recall, "sails") == []


def test_a_moved_document_is_found_at_its_new_path_alone(ada: Session, recall: Recall) -> None:
    note(ada, "She keeps bees.")
    assert ask(recall, "bees")
    ok(ada, "fs.move", path=NOTES, newPath=CRITICS)
    assert [hit.row.path for hit in search(recall, "bees").hits] == [CRITICS]


def test_the_garden_is_asked_as_it_stood(ada: Session, recall: Recall) -> None:
    note(ada, "She keeps bees.")
    before = datetime.now(UTC)
    rewrite(ada, "bees", "goats")
    for _ in range(2):
        assert ask(recall, "bees", as_of=before) == ["She keeps bees."]
        assert ask(recall, "bees goats", as_of=datetime(2020, 1, 1, tzinfo=UTC)) == []
    assert search(recall, "bees", as_of=before).warnings == ()
    assert ask(recall, "bees goats", as_of=datetime.now(UTC)) == ask(recall, "goats") == ["She keeps goats."]


def test_one_index_of_the_past_is_made_at_a_time_and_counts_for_no_limit(
    ada: Session, recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(ada, "She keeps bees.")
    assert ask(recall, "bees")
    make, at_once = live._index_of, Lock()

    def make_slowly(*columns: Any) -> Index:
        assert at_once.acquire(blocking=False)
        time.sleep(0.02)
        at_once.release()
        return make(*columns)

    monkeypatch.setattr(live, "_index_of", make_slowly)
    monkeypatch.setattr(LiveIndexes, "evict", lambda *_: pytest.fail("nothing grew"))
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: ask(recall, "bees", as_of=datetime.now(UTC)), range(4)))


def test_a_passage_under_another_heading_gets_another_vector_and_keeps_its_earlier_heading(
    ada: Session, recall: Recall
) -> None:
    ok(ada, "fs.append", path=NOTES, text="### Zanzibar\n\n- A trip\n")
    [hit] = search(recall, "Zanzibar").hits
    before = datetime.now(UTC)
    rewrite(ada, "Zanzibar", "Narvik")
    # One that was being made meanwhile.
    recall._reader.put_vectors("ada", [hit.row], [bytes(256)], recall.embedder_name or "")
    assert recall.embed_waiting("ada") == 1
    headings = [search(recall, "trip", as_of=at).hits[0].row.heading for at in (before, None)]
    assert headings == ["Inbox > Zanzibar", "Inbox > Narvik"]
    assert search(recall, "trip", as_of=before).hits[0].semantic is not None


def test_nobody_finds_the_words_of_another(garden: Garden, ada: Session, recall: Recall) -> None:
    ben = garden.session("ben", "companion")
    plant(ben, BENS)
    note(ada, "She keeps bees.")
    note(ben, "He keeps goats.", path=BENS)

    def own(number: int) -> bool:
        user_id, words = (("ada", "She keeps bees."), ("ben", "He keeps goats."))[number % 2]
        return ask(recall, "bees goats keeps", user_id) == [words]

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(own, range(40)))
    assert ask(recall, "bees", "eve") == []


def test_filters_narrow_what_is_found(ada: Session, recall: Recall) -> None:
    plant(ada, CRITICS)
    note(ada, "2026-03-03: tea at home #calm", "2026-04-04: tea with Osk #calm #osk")
    note(ada, "2026-05-05: tea in the harbour", path=CRITICS)
    for section, item in (
        ("facts v1", "Takes her tea black"),
        ("health v1", "No tea after noon (priority: 80)"),
    ):
        change = {"sectionAnchor": section, "ops": "append", "items": [item], "reason": "She said so."}
        ok(ada, "md.curate_list", path=OVERVIEW, **change)
    for filters, count in (
        ({}, 5),
        ({"categories": ("fact", "health")}, 2),
        ({"categories": ("work",)}, 0),
        ({"kinds": ("notes",)}, 3),
        ({"paths": (CRITICS, "users/ada/part")}, 1),
        ({"paths": ("users/ada/parts/",)}, 1),
        ({"tags": ("calm",)}, 2),
        ({"tags": ("osk", "calm")}, 1),
        ({"tags": ("osk", "none")}, 0),
        ({"since": date(2026, 4, 4), "until": date(2026, 5, 5)}, 2),
        ({"summary_types": ("weekly",)}, 0),
        ({"period_key_prefix": "2026"}, 0),
        ({"limit": 2}, 2),
    ):
        assert len(ask(recall, "tea", **filters)) == count, filters
    assert search(recall, "tea", categories=("health",)).hits[0].row.priority == 80


def test_summaries_are_found_by_type_and_period(ada: Session, recall: Recall) -> None:
    items = ["2026-W47 (weekly): She slept better.", "2026-11-19 (daily): She slept."]
    change = {"sectionAnchor": "summaries v1", "ops": "append", "items": items, "reason": "Due."}
    ok(ada, "md.curate_list", path=NOTES, **change)
    assert ask(recall, "slept", summary_types=("weekly",)) == ask(recall, "slept", period_key_prefix="2026-W")
    assert ask(recall, "slept", summary_types=("daily",)) == [items[1]]


def test_waiting_passages_get_their_vectors_before_the_answer(
    garden: Garden, ada: Session, recall: Recall
) -> None:
    note(ada, "She keeps bees.", "She sails.")
    lexical = without_embedder(garden)
    recalled = search(lexical, "bees")
    assert (len(recalled.hits), recalled.is_semantic, recalled.hits[0].semantic) == (1, False, None)
    assert "There is no model." in recalled.warnings[0]
    assert search(recall, "honey").is_semantic
    assert recall.embed_waiting("ada") == 0


def test_vectors_of_another_embedder_are_made_anew(garden: Garden, ada: Session, recall: Recall) -> None:
    note(ada, "She keeps bees.")
    assert ask(recall, "bees")
    other = type(load_embedder(garden.settings)).__new__(type(load_embedder(garden.settings)))
    vars(other).update(vars(load_embedder(garden.settings)) | {"name": "other"})
    changed = Recall(RecallReader(garden.pools["readers"]), lambda: other)
    assert changed.embed_waiting("ada") == 1
    assert search(changed, "bees").hits[0].semantic == pytest.approx(
        search(recall, "bees").hits[0].semantic, abs=1e-5
    )


def test_an_index_that_is_too_large_makes_room_for_the_next(garden: Garden, ada: Session) -> None:
    note(ada, "She keeps bees.")
    indexes = LiveIndexes(RecallReader(garden.pools["readers"]), 1)
    first, second = indexes.of("ada", None, 0), indexes.of("ben", None, 0)
    first.refresh()
    indexes.evict()
    assert indexes.of("ben", None, 0) is second
    assert indexes.of("ada", None, 0) is not first


def test_a_job_that_embeds_for_many_users_keeps_no_more_in_memory_than_a_search(
    garden: Garden,
) -> None:
    small = Recall(RecallReader(garden.pools["readers"]), lambda: load_embedder(garden.settings), 1)
    for user_id in ("ada", "ben"):
        small.embed_waiting(user_id)
    assert len(small._indexes._all) == 1


class Remote:
    """An embedder that another machine runs, as far as recall can tell."""

    name, dimensions, is_local = "remote", 256, False

    def __init__(self, garden: Garden) -> None:
        self._embedder = load_embedder(garden.settings)

    def embed(self, texts: Sequence[str]) -> Any:
        return self._embedder.embed(texts)


@pytest.mark.parametrize("path", [NOTES, OVERVIEW])
def test_a_new_passage_is_found_by_its_words_before_it_has_a_vector(
    garden: Garden, ada: Session, path: str
) -> None:
    remote = Recall(RecallReader(garden.pools["readers"]), lambda: Remote(garden))
    text = result(ada, "fs.read", path=path)
    items = "".join(f"- She keeps bees, hive {number}\n" for number in range(12))
    ok(ada, "fs.write", path=path, content=f"{text}\n## Trips\n\n{items}", rationale="Plans.")
    remote.embed_waiting("ada")
    change = {"sectionAnchor": "Trips", "change": {"append": "- She keeps bees in Zanzibar"}}
    ok(ada, "md.patch_section", path=path, **change)
    [hit] = search(remote, "bees Zanzibar", limit=1).hits
    assert (hit.row.text, hit.semantic) == ("She keeps bees in Zanzibar", None)


def test_an_erased_heading_leaves_the_memory_of_other_processes(ada: Session, elsewhere: Recall) -> None:
    text = result(ada, "fs.read", path=NOTES)
    ok(ada, "fs.write", path=NOTES, content=f"{text}\n## Zanzibar\n\n- A trip\n", rationale="Plans.")
    assert ask(elsewhere, "Zanzibar") == ["A trip"]
    ok(ada, "garden.erase", text="Zanzibar", reason="She asked for it.")
    assert search(elsewhere, "trip").hits[0].row.heading == ""
    groups = elsewhere._indexes.of("ada", elsewhere.embedder_name, 256).index.all_groups
    assert "Zanzibar" not in str(groups.all)


def test_replaced_and_forgotten_rows_are_no_longer_found(
    garden: Garden, ada: Session, recall: Recall
) -> None:
    note(ada, "She keeps bees.", "She sails.")
    assert len(ask(recall, "bees sails")) == 2
    store = PassageStore(garden.pools["writers"])
    store.replace_document("ada", NOTES, store.live_rows("ada", NOTES)[:1], 3, 1)
    assert ask(recall, "bees sails") == ["She keeps bees."]
    note(ada, "She sings.")
    assert len(ask(recall, "bees sails sings")) == 2
    store.forget_user("ada")
    assert ask(recall, "bees sails") == []


def test_writers_at_once_find_each_line_elsewhere_and_every_index_ends_as_a_fresh_one(
    garden: Garden, ada: Session, recall: Recall, elsewhere: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_DELTA_PASSAGES_MIN", 5)
    paths = (NOTES, *(f"users/ada/parts/part-{number}/notes.md" for number in range(3)))
    plant(ada, *paths[1:])

    def write(writer: int) -> None:
        draw, path = random.Random(writer), paths[writer]  # noqa: S311
        for number in range(12):
            word = f"w{writer}x{number}"
            note(ada, f"tea {word} bees", path=path)
            assert word in ask(elsewhere, word)[0]
            if draw.random() < 0.3:
                lines = result(ada, "fs.read", path=path).splitlines()
                rewrite(ada, draw.choice([f"{line}\n" for line in lines if line[:2] == "- "]), "", path)
            assert ask(recall, "tea bees")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    fresh = Recall(RecallReader(garden.pools["readers"]), lambda: load_embedder(garden.settings))
    found = [search(each, "tea bees", limit=99).hits for each in (recall, elsewhere, fresh)]
    [scores, *others] = [[(hit.row.passage, round(hit.combined, 4)) for hit in hits] for hits in found]
    assert len(scores) > 20
    assert others == [scores, scores]


def test_opening_a_garden_and_writing_load_no_numpy(ready_home: Home) -> None:
    program = (
        "import sys; from garden.application import open_garden\n"
        "with open_garden(sys.argv[1]) as garden:\n"
        "    assert garden.session('ada').call('md.plant', {'path': 'users/ada/notes.md'})['ok']\n"
        "    assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(ready_home.path)], check=True)


@pytest.mark.parametrize(
    ("text", "path", "embedded"),
    [
        ("2026-03-03: Nadia: hi there", NOTES, "hi there"),
        ("2026-03-03T19:20: **Nadia Old**: hi", NOTES, "hi"),
        ("2026-03-03 (7:20 pm): Nadia: hi", NOTES, "hi"),
        ("2026-03-03: she wrote first: hi", NOTES, "Inbox: she wrote first: hi"),
        ("Nadia: hi", "users/ada/parts/the-critic/profile.md", "the critic Inbox: Nadia: hi"),
    ],
)
def test_a_turn_of_a_talk_is_embedded_alone_and_others_with_their_headings(
    text: str, path: str, embedded: str
) -> None:
    assert embedded_text(text, path, "Inbox") == embedded
