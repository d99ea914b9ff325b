"""A report: all findings about a document, in the order of its text."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from garden.lint.finding import Finding, Severity


@dataclass(frozen=True)
class Report:
    """The findings about one document; `left_out` counts those beyond the limit per rule."""

    findings: tuple[Finding, ...] = ()
    left_out: int = 0

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity is severity)

    @property
    def blocked(self) -> bool:
        """Whether a finding stops every write to the document."""
        return any(finding.severity is Severity.BLOCK for finding in self.findings)

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

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings by severity, which the event records."""
        by_severity = Counter(finding.severity.value for finding in self.findings)
        return {severity.value: by_severity[severity.value] for severity in Severity}
