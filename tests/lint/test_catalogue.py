"""The catalogue holds every rule once, ordered by id."""

import re
from pathlib import Path

import pytest

from garden.lint import rules
from garden.lint.catalogue import CATALOGUE
from garden.lint.rule import Rule

FILES = sorted(path.stem for path in Path(str(rules.__file__)).parent.glob("*.py") if path.stem != "__init__")


def test_the_catalogue_holds_the_rule_of_every_file_once() -> None:
    assert sorted(rule.check.__module__.rpartition(".")[2] for rule in CATALOGUE) == FILES


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)
def test_a_rule_is_named_after_its_file(rule: Rule) -> None:
    assert rule.check.__module__ == f"garden.lint.rules.{rule.name.replace('-', '_')}"


def test_ids_are_unique_well_formed_and_in_order() -> None:
    ids = [rule.id for rule in CATALOGUE]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"MG[1-7][0-9]{2}", id_) for id_ in ids)
