"""The list of mutants fits the product as it is today."""

from pathlib import Path

import pytest

from tests.mutants.__main__ import Mutant, read_mutants

REPOSITORY = Path(__file__).parents[2]
MUTANTS = read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_place_and_names_tests_that_exist(mutant: Mutant) -> None:
    assert (REPOSITORY / mutant.path).read_text("utf-8").count(mutant.find) == 1
    assert mutant.tests
    for test in mutant.tests:
        assert (REPOSITORY / test.partition("::")[0]).exists(), test


def test_there_are_sixty_under_different_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 60
