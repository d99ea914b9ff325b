"""Compares two reports: what an edit made worse."""

from dataclasses import dataclass

from garden.lint.finding import Finding, Severity
from garden.lint.report import Report


@dataclass(frozen=True)
class Comparison:
    """Findings that are new, further over their limit than before, or gone."""

    new: tuple[Finding, ...] = ()
    further: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether no finding changed."""
        return not (self.new or self.further or self.gone)

    @property
    def worse(self) -> tuple[Finding, ...]:
        """Everything that got worse."""
        return self.new + self.further

    @property
    def exceeded(self) -> tuple[Finding, ...]:
        """Caps newly or further exceeded, which need an override rationale."""
        return tuple(finding for finding in self.worse if finding.severity is Severity.CAP)


def compare(before: Report, after: Report) -> Comparison:
    """Compare the reports before and after an edit."""
    if before.marks == after.marks:
        return Comparison()
    old = {finding.identity: finding for finding in before.findings}
    kept = {finding.identity for finding in after.findings}
    return Comparison(
        tuple(finding for finding in after.findings if finding.identity not in old),
        tuple(finding for finding in after.findings if _grew(old.get(finding.identity), finding)),
        tuple(finding for finding in before.findings if finding.identity not in kept),
    )


def _grew(before: Finding | None, after: Finding) -> bool:
    if before is None or before.amount is None or after.amount is None:
        return False
    return after.amount > before.amount
