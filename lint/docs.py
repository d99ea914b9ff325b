"""The pages about the rules, made from what the rules say of themselves."""

from collections.abc import Mapping

from garden.lint.catalogue import CATALOGUE
from garden.lint.finding import Severity
from garden.lint.rule import Rule

_INDEX_HEAD = """# The rules

Made from the rules themselves by `make docs`; change a rule's docstring, not these pages.

Every rule looks at one document and reports findings. What a finding means depends on the rule's severity:

- `block`: nothing may be written to such a document until it is mended.
- `cap`: when newly or further exceeded, a write needs an override rationale.
- `style`: worth saying; it never stops a write.

In the examples `{U+200B}` stands for that character, `{words:401}` for so many words, `{EOF}` for the end of
the text, and `{secret}` for something that looks like a secret.

| rule | name | severity | mended by `fix` | finds |
|---|---|---|---|---|
"""

_MEANING = {
    Severity.BLOCK: "Nothing may be written to the document until it is mended.",
    Severity.CAP: "When newly or further exceeded, a write needs an override rationale.",
    Severity.STYLE: "It never stops a write.",
}


def pages() -> Mapping[str, str]:
    """Render all pages, by file name."""
    rules = {f"{rule.id}-{rule.name}.md": _page(rule) for rule in CATALOGUE}
    return {"README.md": _index(), **rules}


def _index() -> str:
    return _INDEX_HEAD + "".join(_row(rule) for rule in CATALOGUE)


def _row(rule: Rule) -> str:
    link = f"[{rule.id}]({rule.id}-{rule.name}.md)"
    fixed = "yes" if rule.fixable else ""
    return f"| {link} | {rule.name} | {rule.severity.value} | {fixed} | {rule.summary} |\n"


def _page(rule: Rule) -> str:
    fixable = " `fix` mends it." if rule.fixable else ""
    severity = f"Severity: `{rule.severity.value}`. {_MEANING[rule.severity]}{fixable}"
    return f"# {rule.id} {rule.name}\n\n{severity}\n\n{rule.documentation.strip()}\n"
