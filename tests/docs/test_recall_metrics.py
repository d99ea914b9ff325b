"""The measures of the quality of recall, each on a ranking small enough to count by hand."""

import pytest

from benchmarks.recall.metrics import hit_at, ndcg_at, recall_at, reciprocal_rank, separation
from benchmarks.recall.sets import all_sets

FOUND = [7, 3, 9, 1]


def test_a_hit_needs_one_answer_among_the_first() -> None:
    assert hit_at(2, FOUND, {3, 8}) == 1
    assert hit_at(1, FOUND, {3, 8}) == 0


def test_recall_is_the_share_of_the_answers_among_the_first() -> None:
    assert recall_at(2, FOUND, {3, 8}) == 0.5
    assert recall_at(4, FOUND, {1, 3}) == 1


def test_the_reciprocal_rank_is_that_of_the_first_answer() -> None:
    assert reciprocal_rank(FOUND, {9, 1}) == pytest.approx(1 / 3)
    assert reciprocal_rank(FOUND, {8}) == 0


def test_gains_are_discounted_by_rank_and_measured_against_the_best_order() -> None:
    assert ndcg_at(10, FOUND, {7, 3}) == 1
    assert ndcg_at(10, FOUND, {3}) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg_at(1, FOUND, {3, 9}) == 0


def test_separation_is_half_where_scores_say_nothing() -> None:
    assert separation([0.9, 0.8], [0.1, 0.2]) == 1
    assert separation([0.5], [0.5]) == 0.5


def test_every_question_has_an_id_of_its_own_and_about_half_are_held_out() -> None:
    questions = [question for each in all_sets() for question in each.questions]
    assert len({question.id for question in questions}) == len(questions) >= 300
    assert 0.4 < sum(question.is_held_out for question in questions) / len(questions) < 0.6
