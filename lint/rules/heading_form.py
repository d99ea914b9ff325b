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

from garden.grammar.lines import flat
from garden.grammar.values import Span
from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find declared sections with another heading."""
    for place, content, facts in context.sections:
        own, other = facts.declaration, facts.declared_heading
        if own and content.headings[0].text != own.heading and (other is None or other is own):
            yield Hit(
                context.starts[place],
                f'The heading of {content.anchor} should be "{own.heading}".',
                str(content.anchor),
                fixes=tuple(_fixes(context, place, content.heading.text, own.heading)),
            )


def _fixes(context: DocumentContext, place: int, old: str, new: str) -> Iterator[TextReplacement]:
    # If another section has the old or the new heading, the anchors may be swapped.
    headings = [section.heading.text for section in context.document.sections]
    if new not in headings and headings.count(old) == 1:
        # The heading's lines without the last line end.
        start, content = context.starts[place], context.document.contents[place]
        lines = flat(content.text[: content.heading.span.end])
        yield TextReplacement(Span(start, start + len(lines.rstrip(" \t\n"))), f"## {new}")


RULE = DocumentRule("MG401", "heading-form", Severity.STYLE, __doc__, check, fixable=True)
