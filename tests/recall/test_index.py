"""The index in memory: brought up to date bit by bit, it ranks like one made anew."""

import hashlib
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from garden.events.passages import PassageRow
from garden.passages.words import query_words, word_hashes
from garden.recall import index as index_module
from garden.recall.index import Groups, Index
from garden.recall.ranking import Ranked, Wishes, matches_of, ranked
from tests.support import hypothesis_profiles  # noqa: F401 - chooses one
from tests.support.index_rows import rows_of_passages

PATHS = ("users/ada/notes.md", "users/ada/overview.md")
DIMENSIONS = 128
NONE = np.empty(0, np.int64)
WORDS = ("tea", "sailing", "exam", "harbour", "brother", "letter", "the")
line = st.builds(
    lambda lead, words, day: f"2026-03-0{day}: {lead}: {' '.join(words)}",
    st.sampled_from(("Nadia", "Jonas", "Osk")),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    st.integers(1, 3),
)
# At a place of a document so many lines go and others come; they may get vectors.
edits = st.lists(
    st.tuples(
        st.sampled_from(PATHS),
        st.integers(0, 9),
        st.integers(0, 4),
        st.lists(line, max_size=9),
        st.booleans(),
    ),
    min_size=2,
    max_size=6,
)


def number_of(path: str, text: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{path}{text}".encode()).digest()[:7], "big")


def rows_of(path: str, lines: Sequence[str]) -> dict[int, PassageRow]:
    numbers = [number_of(path, text) for text in lines]
    return {
        number: PassageRow(
            *(number, path, "inbox v1", "name", "Inbox", "en", above, date.fromisoformat(text[:10])),
            *((), None, None, None, text, word_hashes(text, "en")),
        )
        for number, above, text in zip(numbers, [None, *numbers], lines, strict=False)
    }


def vector_of(number: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    return np.random.default_rng(number % 2**32).integers(-127, 128, DIMENSIONS).astype(np.int8)


def index_of(rows: Sequence[PassageRow], embedded: set[int], onto: Index | None, gone: set[int]) -> Index:
    groups = onto.all_groups if onto else Groups()
    vectors = [vector_of(row.passage) * np.int8(row.passage in embedded) for row in rows]
    columns = rows_of_passages(
        rows, groups.number_of, np.array(vectors, np.int8).reshape(len(rows), DIMENSIONS)
    )
    return onto.changed(columns, np.array(sorted(gone), np.int64)) if onto else Index.of(columns, groups)


def search(
    index: Index, words: str, allowed: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None
) -> Ranked:
    vector = np.random.default_rng(1).normal(size=DIMENSIONS).astype(np.float32)
    wishes = Wishes(index.is_live if allowed is None else allowed, vector)
    return ranked(index, matches_of(index, query_words(words, {"en"})), wishes, 20)


def found(index: Index, words: str) -> list[tuple[int, float]]:
    best = search(index, words)
    return list(zip(index.numbers[best.places].tolist(), best.combined.round(4).tolist(), strict=True))


def neighbours(index: Index) -> dict[int, list[int]]:
    """The number above each live passage, and the one below it."""
    numbers = dict(enumerate(np.where(index.is_live, index.numbers, 0).tolist())) | {-1: 0}
    return {
        numbers[place]: [numbers[int(links[place])] for links in (index.above, index.below)]
        for place in np.flatnonzero(index.is_live).tolist()
    }


@settings(max_examples=settings().max_examples // 3)
@given(edits, st.lists(st.sampled_from((*WORDS, "nadia", "storm")), min_size=1, max_size=4))
def test_an_index_brought_up_to_date_ranks_like_one_made_anew(
    changes: list[tuple[str, int, int, list[str], bool]], words: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "_DELTA_PASSAGES_MIN", 4)
        standing: dict[str, dict[int, PassageRow]] = {path: {} for path in PATHS}
        embedded: set[int] = set()
        index = index_of((), embedded, None, set())
        first = (PATHS[0], 0, 0, [f"2026-03-01: Osk: tea {'x' * n}" for n in range(10)], True)
        for path, place, going, coming, has_vectors in (first, *changes):
            old = standing[path]
            lines = [row.text for row in old.values()]
            lines[place : place + going] = coming
            new = rows_of(path, list(dict.fromkeys(lines)))
            come = [row for number, row in new.items() if old.get(number) != row]
            embedded |= {row.passage for row in come if has_vectors}
            index = index_of(come, embedded, index, set(old) - set(new))
            standing[path] = new
        rows = [row for each in standing.values() for row in each.values()]
        assert len(index) == len(rows)
        assert found(index, " ".join(words)) == found(index_of(rows, embedded, None, set()), " ".join(words))


def notes(*lines: str, embedded: bool = False, path: str = PATHS[0]) -> Index:
    rows = rows_of(path, lines)
    return index_of(list(rows.values()), set(rows) if embedded else set(), None, set())


def order(index: Index, lines: Sequence[str], words: str, path: str = PATHS[0]) -> list[str]:
    names = {number_of(path, text): text for text in lines}
    return [names[number] for number, _ in found(index, words)]


def test_an_empty_index_and_one_of_a_single_passage_answer() -> None:
    assert found(notes(), "tea") == []
    assert len(found(notes("2026-03-01: Nadia: tea"), "tea")) == 1


def test_a_question_of_nothing_but_stop_words_is_answered() -> None:
    assert len(found(notes("2026-03-01: Nadia: the exam", "2026-03-01: Osk: tea"), "the")) == 1


def test_the_turn_after_a_question_is_lent_weight_on_the_same_day_only() -> None:
    talk = [f"2026-03-01: {('Nadia', 'Jonas')[n % 2]}: letter {n} {n}{n}" for n in range(20)]
    talk[8] = "2026-03-01: Nadia: how was the harbour"
    talk[19] = "2026-03-01: Nadia: harbour"
    talk += ["2026-03-02: Jonas: brother"]
    ranking = order(notes(*talk), talk, "harbour")
    assert set(ranking[:2]) == {talk[8], talk[19]}
    assert ranking[2] == talk[9]
    assert talk[20] not in ranking


def test_a_name_that_leads_turns_prefers_what_that_person_says() -> None:
    talk = [f"2026-03-0{1 + n % 3}: {('Nadia', 'Jonas')[n % 2]}: exam" for n in range(30)]
    assert "Jonas" in order(notes(*talk), talk, "exam Jonas")[0]


def test_a_heading_is_found_like_words_of_the_passage() -> None:
    assert len(found(notes("2026-03-01: Nadia: tea"), "inbox")) == 1


def test_names_in_the_heading_of_a_talk_do_not_hide_who_speaks() -> None:
    talk = [f"2026-03-0{1 + n % 3}: {('Nadia', 'Jonas', 'Nadia')[n % 3]}: exam {'x' * n}" for n in range(30)]
    rows = {
        number: row._replace(heading="Talks of Nadia and Jonas > Inbox")
        for number, row in rows_of(PATHS[0], talk).items()
    }
    index = index_of(list(rows.values()), set(), None, set())
    assert search(index, "exam Jonas").signals["lead"].any()


def test_headings_count_for_the_bytes_that_an_index_takes() -> None:
    lines = [f"2026-03-01: Osk: tea {number}" for number in range(50)]
    rows = rows_of(PATHS[0], lines).values()
    titled = [row._replace(heading=f"{number} {'x' * 1000}") for number, row in enumerate(rows)]
    assert index_of(titled, set(), None, set()).size > notes(*lines).size + 50 * 1400


def test_equal_scores_come_in_the_order_of_their_numbers() -> None:
    same = found(notes(*(f"2026-03-01: Osk: tea {'x' * n}" for n in range(1, 6))), "tea")
    assert same == sorted(same, key=lambda each: (-each[1], each[0]))


def test_min_similarity_keeps_what_is_near_and_was_compared() -> None:
    lines = [f"2026-03-01: Osk: tea {'x' * n}" for n in range(1, 9)]
    index = notes(*lines, embedded=True)
    cosines = search(index, "tea").cosines
    wishes = Wishes(index.is_live, vector_of(5).astype(np.float32), min_similarity=0.05)
    kept = ranked(index, matches_of(index, query_words("tea", {"en"})), wishes, 20)
    assert (kept.cosines >= 0.05).all()
    assert 0 < len(kept.places) < len(cosines) == len(lines)


@pytest.mark.parametrize("weights", [{"semantic_weight": 0.0}, {"lexical_weight": 0.0}])
def test_weights_of_the_question_replace_those_of_the_profile(weights: dict[str, Any]) -> None:
    index = notes(*(f"2026-03-01: Osk: {word}" for word in WORDS), embedded=True)
    wishes = Wishes(index.is_live, vector_of(3).astype(np.float32))._replace(**weights)
    best = ranked(index, matches_of(index, query_words("tea exam", {"en"})), wishes, 20)
    signals = best.signals
    silent = ("cosine",) if "semantic_weight" in weights else ("bm25", "coverage")
    assert not any(signals[name].any() for name in silent)
    assert any(signals[name].any() for name in {"bm25", "coverage", "cosine"} - set(silent))
    usual = search(index, "tea exam")
    scores = dict(zip(usual.places.tolist(), usual.lexical.tolist(), strict=True))
    assert best.lexical.tolist() == [scores.get(place, 0) for place in best.places.tolist()]
    assert 0.5 < best.lexical.max() <= 1


def test_signals_make_up_the_score_and_no_score_exceeds_one() -> None:
    index = notes(*(f"2026-03-01: Nadia: {word} tea" for word in WORDS), embedded=True)
    best = search(index, "tea nadia exam")
    assert np.allclose(sum(best.signals.values()), best.combined)
    assert (best.combined <= 1).all()
