"""A section's heading isn't the one that its kind declares.

The anchor identifies the section, but its heading differs in its words or only in case. If the heading is
that of another section, this rule reports nothing: then the anchor is in doubt, not the heading.

## Why it matters

Tools find the section by its anchor, but a reader who looks for "Concerns" doesn't find "Worries".

## Bad

```markdown
## worries
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## How to fix it

`fix` writes the declared heading and leaves the anchor and the body unchanged. It does nothing if another
section has the old or the new heading.
"""

from collections.abc import Iterator

from garden.grammar.document import Section
from garden.grammar.lines import flat
from garden.grammar.values import Span
from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find declared sections with another heading."""
    for section, declaration in context.declared_sections:
        words = section.heading.text
        if words == declaration.heading:
            continue
        other = context.declarations_by_heading.get(words.casefold())
        if other is None or other is declaration:
            yield Hit(
                section.span.start,
                f'The heading of {section.anchor} should be "{declaration.heading}".',
                str(section.anchor),
                fixes=tuple(_fixes(context, section, declaration.heading)),
            )


def _fixes(context: LintContext, section: Section, heading: str) -> Iterator[TextReplacement]:
    # If another section has the old or the new heading, the anchors may be swapped.
    counts = context.heading_counts
    if not counts[heading] and counts[section.heading.text] == 1:
        yield TextReplacement(_words_span(context, section), f"## {heading}")


def _words_span(context: LintContext, section: Section) -> Span:
    """Return the span of the heading's lines without the last line end."""
    start, end = section.heading.span
    raw = context.text[start:end]
    return Span(start, end - (len(raw) - len(flat(raw).rstrip(" \t\n"))))


RULE = Rule("MG401", "heading-form", Severity.STYLE, __doc__, check, fixable=True)
