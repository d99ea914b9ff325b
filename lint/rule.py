"""A rule: a declaration and a pure function that yields hits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `documentation` is the docstring of its module."""

    id: str
    name: str
    severity: Severity
    documentation: str
    check: Callable[[LintContext], Iterator[Hit]]
    fixable: bool = False

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.strip().split("\n", 1)[0]
