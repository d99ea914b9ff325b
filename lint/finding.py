"""What a rule hands in, and what becomes of it: hits with their mechanical cure, and findings for readers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from garden.grammar.values import Span


class Severity(StrEnum):
    """How much a finding weighs."""

    BLOCK = "block"
    """Nothing may be written to such a document until it is mended."""
    CAP = "cap"
    """Newly or further exceeded, it needs an override rationale."""
    STYLE = "style"
    """Worth saying; it never stops a write."""


class Replacement(NamedTuple):
    """One splice of a fix: the text that stands at `span` gives way to `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule found at an offset of the text.

    `subject` names the thing that is wrong by its words, so that the finding keeps its key while other parts
    of the document change. `section` is given where the finding is about a section that doesn't stand there.
    `amount` says how much of it there is, where that can grow. `cures` mends it, where that is mechanical.
    """

    offset: int
    message: str
    subject: str = ""
    section: str | None = None
    amount: int | None = None
    cures: tuple[Replacement, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a document, for people and programs.

    `anchor` names the section it stands in; line and column count from 1, in characters. `key` stays the same
    under edits elsewhere in the document, and holds none of its words.
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
