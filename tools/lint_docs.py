"""docs/lint, generated from the rules."""

from pathlib import Path

from garden.lint.catalogue import CATALOGUE
from garden.lint.finding import Severity
from garden.lint.rule import Rule, SectionRule

FOLDER = Path(__file__).parents[1] / "docs" / "lint"

_INDEX_HEAD = """# The rules

Generated from the rules by `make docs`; change a rule's docstring, not these pages.

A rule looks at each section on its own, or at the document as a whole, and reports findings. The severity of
the rule says what a finding means:

- `block`: no tool edits the document until it is repaired.
- `cap`: a write that newly or further exceeds it needs an override rationale.
- `style`: it never stops a write.

In the examples `{U+200B}` means that character, `{words:401}` that many words, `{EOF}` the end of the text,
and `{secret}` a text that looks like a secret.

| rule | name | severity | looks at | `fix` corrects it | finds |
|---|---|---|---|---|---|
"""

_MEANING = {
    Severity.BLOCK: "No tool edits the document until it is repaired.",
    Severity.CAP: "A write that newly or further exceeds it needs an override rationale.",
    Severity.STYLE: "It never stops a write.",
}


def files() -> dict[Path, str]:
    """Text of each page."""
    pages = {f"{rule.id}-{rule.name}.md": _page(rule) for rule in CATALOGUE}
    return {FOLDER / name: text for name, text in {"README.md": _index(), **pages}.items()}


def _index() -> str:
    return _INDEX_HEAD + "".join(_row(rule) for rule in CATALOGUE)


def _row(rule: Rule) -> str:
    link = f"[{rule.id}]({rule.id}-{rule.name}.md)"
    fixed = "yes" if rule.fixable else ""
    scope = "section" if isinstance(rule, SectionRule) else "document"
    return f"| {link} | {rule.name} | {rule.severity.value} | {scope} | {fixed} | {rule.summary} |\n"


def _page(rule: Rule) -> str:
    fixable = " `fix` corrects it." if rule.fixable else ""
    severity = f"Severity: `{rule.severity.value}`. {_MEANING[rule.severity]}{fixable}"
    return f"# {rule.id} {rule.name}\n\n{severity}\n\n{rule.documentation.strip()}\n"
