"""The documentation of every rule is complete, and its examples are right."""

import re

import pytest

from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.kinds.declaration import Kind
from garden.grammar.parser import parse
from garden.lint.catalogue import CATALOGUE
from garden.lint.linter import lint
from garden.lint.rule import Rule
from tests.lint.notation import decoded

PARTS = ["Why it matters", "Bad", "Good", "How to fix it"]
HAD_WORDS = parse("## Concerns\n<!-- @anchor: concerns v1 -->\n\n- Something\n")
IDENTITY = {"id": "inner-critic"}

every_rule = pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)


def example(rule: Rule, part: str) -> str:
    match = re.search(rf"\n## {part}\n.*?\n```markdown\n(.*?\n)```\n", rule.documentation, re.DOTALL)
    assert match, f"{rule.name} needs an example under {part}"
    return decoded(match[1])


def kind_of(rule: Rule) -> Kind:
    kind = load_kinds()["part_profile"]
    # The example is a whole document of a kind with one section.
    return kind.model_copy(update={"sections": kind.sections[:1]}) if rule.name == "missing-section" else kind


def found(rule: Rule, text: str, kind: Kind) -> bool:
    identity = IDENTITY if rule.name == "path-mismatch" else {}
    return bool(lint(parse(text), kind, identity=identity, previous=HAD_WORDS, rules=[rule]).findings)


@every_rule
def test_a_rule_documents_every_part(rule: Rule) -> None:
    assert (
        re.findall(r"^## (.*)$", re.sub(r"```.*?```", "", rule.documentation, flags=re.DOTALL), re.MULTILINE)
        == PARTS
    )
    assert rule.summary.endswith(".")


@every_rule
def test_the_bad_example_is_found_and_the_good_one_is_not(rule: Rule) -> None:
    whole = load_kinds()["part_profile"]
    assert found(rule, example(rule, "Bad"), whole)
    assert not found(rule, example(rule, "Good"), kind_of(rule))
