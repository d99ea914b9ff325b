"""A report: all findings about a document, in the order of its text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

from garden.grammar.document import Document
from garden.grammar.lines import flat
from garden.lint.finding import Finding, Hit, Severity
from garden.lint.rule import BaseRule

PlacedFound = tuple[int, str | None, int, BaseRule[Any], Hit]
"""The number of a content, the name of its section, an offset in it, and what a rule found there."""


@dataclass(frozen=True)
class Report:
    """The findings about one document; `left_out` counts those beyond the limit per rule.

    Lines and columns are worked out only when the findings are read.
    """

    document: Document | None = None
    found: Sequence[PlacedFound] = ()
    left_out: int = 0

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in the order of the text."""
        return tuple(self._findings(self.document)) if self.document else ()

    def _findings(self, document: Document) -> Iterator[Finding]:
        numbers: Counter[tuple[str, str | None, str]] = Counter()
        for place, found in groupby(self.found, itemgetter(0)):
            text, line, counted_to = flat(document.contents[place].text), document.lines[place], 0
            # Only a byte order mark can be on a line with the text below it.
            before = document.starts[place] if line == 1 else 0
            for _, name, offset, rule, hit in found:
                # The end of the text is on its last line, also behind a line end.
                on_line = min(offset, max(len(text) - 1, 0))
                line += text.count("\n", counted_to, on_line)
                counted_to = on_line
                line_start = text.rfind("\n", 0, on_line) + 1
                column = offset - line_start + 1 + (0 if line_start else before)
                anchor = hit.section or name
                numbers[rule.id, anchor, hit.subject] += 1
                yield Finding(
                    rule.id,
                    rule.name,
                    rule.severity,
                    hit.message,
                    anchor,
                    line,
                    column,
                    bool(hit.fixes),
                    hit.subject,
                    numbers[rule.id, anchor, hit.subject],
                    hit.amount,
                )

    @cached_property
    def marks(self) -> list[tuple[str, str | None, str, int | None]]:
        """Rule, section, subject and amount of every finding: all that an edit elsewhere leaves as it is."""
        return [
            (rule.id, hit.section or name, hit.subject, hit.amount) for _, name, _, rule, hit in self.found
        ]

    def has(self, rule_id: str) -> bool:
        """Whether a rule found something."""
        return rule_id in [rule.id for _, _, _, rule, _ in self.found]

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of one severity."""
        if not self.counts[severity]:
            return ()
        return tuple(finding for finding in self.findings if finding.severity is severity)

    @property
    def blocked(self) -> bool:
        """Whether a finding stops every write to the document."""
        return self.counts[Severity.BLOCK] > 0

    @cached_property
    def blocked_reasons(self) -> tuple[str, ...]:
        """Findings that stop writes, a sentence each."""
        return tuple(str(finding) for finding in self.of(Severity.BLOCK))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Findings that do not stop writes: exceeded caps and style, a sentence each."""
        warnings = [str(finding) for finding in self.findings if finding.severity is not Severity.BLOCK]
        return (
            (*warnings, f"{self.left_out} more findings are left out.") if self.left_out else tuple(warnings)
        )

    @property
    def caps(self) -> tuple[Finding, ...]:
        """The exceeded caps."""
        return self.of(Severity.CAP)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of findings by severity, which the event records."""
        found = [rule.severity for _, _, _, rule, _ in self.found]
        return {severity.value: found.count(severity) for severity in Severity}
