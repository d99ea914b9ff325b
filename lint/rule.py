"""A rule: a small declaration and a pure function from a context to hits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity

Check = Callable[[Context], Iterator[Hit]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue; `documentation` is the docstring of the module that holds it."""

    id: str
    name: str
    severity: Severity
    documentation: str
    check: Check
    fixable: bool = False

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.strip().split("\n", 1)[0]
