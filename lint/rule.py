"""A rule: a declaration and a pure function that yields hits."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.section_context import SectionContext

MAX_FINDINGS_PER_RULE = 100

ContextT = TypeVar("ContextT", SectionContext, DocumentContext)


@dataclass(frozen=True, slots=True)
class BaseRule(Generic[ContextT]):
    """What all rules declare; `documentation` is the docstring of the rule's module."""

    id: str
    name: str
    severity: Severity
    documentation: str
    check: Callable[[ContextT], Iterator[Hit]]
    fixable: bool = False
    signs: frozenset[str] = frozenset()

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.strip().split("\n", 1)[0]


class SectionRule(BaseRule[SectionContext]):
    """A rule that looks at each section alone; its findings are kept for as long as the section stays.

    `signs` are patterns in the syntax of RE2, without regard to case: it finds nothing in a section that has
    none of them. Without signs it looks at every section.
    """


class DocumentRule(BaseRule[DocumentContext]):
    """A rule about frontmatter, line ends, or sections that depend on each other; it runs on every edit."""


Rule = SectionRule | DocumentRule

Found = tuple[int, BaseRule[Any], Hit]
"""An offset in a section, and what a rule found there."""


def first_hits(
    rules: Iterable[BaseRule[ContextT]], context: ContextT
) -> tuple[list[tuple[BaseRule[Any], Hit]], int]:
    """Return the first hits of each rule, and how many more there are."""
    checks = [(rule, rule.check(context)) for rule in rules]
    found = [(rule, hit) for rule, hits in checks for hit in islice(hits, MAX_FINDINGS_PER_RULE)]
    if len(found) < MAX_FINDINGS_PER_RULE:
        return found, 0
    return found, sum(1 for _, hits in checks for _ in hits)
