"""A report: all the findings about a document, in the order of its text."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from garden.lint.finding import Finding, Severity


@dataclass(frozen=True)
class Report:
    """The findings about one document; `left_out` counts those beyond what one rule may list."""

    findings: tuple[Finding, ...] = ()
    left_out: int = 0

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Give the findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity is severity)

    @property
    def blocked(self) -> bool:
        """Whether anything in the document stops every write to it."""
        return any(finding.severity is Severity.BLOCK for finding in self.findings)

    @cached_property
    def blocked_reasons(self) -> tuple[str, ...]:
        """What stops writes, a sentence each."""
        return tuple(str(finding) for finding in self.of(Severity.BLOCK))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """All that stops nothing, or nothing yet: exceeded caps and matters of style, a sentence each."""
        warnings = [str(finding) for finding in self.findings if finding.severity is not Severity.BLOCK]
        return (
            (*warnings, f"{self.left_out} more findings are left out.") if self.left_out else tuple(warnings)
        )

    @property
    def caps(self) -> tuple[Finding, ...]:
        """The caps that are exceeded."""
        return self.of(Severity.CAP)

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are, by severity and by rule: the summary that an event keeps."""
        by_severity = Counter(finding.severity.value for finding in self.findings)
        return {severity.value: by_severity[severity.value] for severity in Severity}
