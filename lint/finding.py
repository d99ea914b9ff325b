"""Hits, which rules yield with their fixes, and findings, which reports contain."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from garden.grammar.values import Span


class Severity(StrEnum):
    """How much a finding weighs."""

    BLOCK = "block"
    """No tool edits the document until it is repaired."""
    CAP = "cap"
    """A write that newly or further exceeds it needs an override rationale."""
    STYLE = "style"
    """It never stops a write."""


class TextReplacement(NamedTuple):
    """One replacement of a fix: `text` replaces the text at `span`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule found at an offset of the text.

    `subject` identifies what is wrong by its words, so that the finding keeps its key while the rest of the
    document changes. `section` names the section if it is not the one at the offset. `amount` is a quantity
    that can grow, such as words over a cap. `fixes` corrects the text, if that is mechanical.
    """

    offset: int
    message: str
    subject: str = ""
    section: str | None = None
    amount: int | None = None
    fixes: tuple[TextReplacement, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a document, for people and programs.

    `anchor` names its section; line and column count from 1, in characters. `key` stays the same when other
    parts of the document change, and contains none of its words.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    anchor: str | None
    line: int
    column: int
    fixable: bool
    key: str
    amount: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.anchor}" if self.anchor else "")
        return f"{where}: {self.message} ({self.rule} {self.name})"
