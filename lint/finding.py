"""Hits, which rules yield with their fixes, and findings, which reports contain."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
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
    """What a rule found at an offset of the section or, if it is about the document, of the text.

    `subject` identifies what is wrong by its words, so that the finding keeps its key while the rest of the
    document changes. `section` names the section if it is not the one at the offset. `amount` is a quantity
    that can grow, such as words over a cap. `fixes` corrects the text, if that is mechanical.
    """

    offset: int
    message: str
    subject: str = ""
    section: str | None = None
    amount: int | None = None
    fixes: Iterable[TextReplacement] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a document, for people and programs.

    `anchor` names its section; line and column count from 1, in characters. `number` counts findings alike in
    rule, section and `subject`, in the order of the text.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    anchor: str | None
    line: int
    column: int
    fixable: bool
    subject: str = field(repr=False)
    number: int
    amount: int | None = None

    @property
    def identity(self) -> tuple[str, str | None, str, int]:
        """What stays the same when other parts of the document change."""
        return self.rule, self.anchor, self.subject, self.number

    @property
    def key(self) -> str:
        """Its identity without words of the document, because keys are stored."""
        digest = sha256(f"{self.anchor}\0{self.subject}".encode("utf-8", "surrogatepass")).hexdigest()
        key = f"{self.rule}:{digest[:12]}"
        return key if self.number == 1 else f"{key}#{self.number}"

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.anchor}" if self.anchor else "")
        return f"{where}: {self.message} ({self.rule} {self.name})"
