"""A section of the kind has its heading, but no anchor.

The heading reads like one that the document's kind declares, no comment on the next line says which section
it is, and no other heading bears that anchor.

## Why it matters

Tools find a section by its anchor, never by its words. Without one the section can't be read, edited or
followed through the event log.

## Bad

```markdown
## Concerns

- Says yes before looking at the week
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## How to fix it

Put the anchor back on the line after the heading, or restore the document from its history. No tool does it
by itself: an anchor is identity, and a guess would be worse than a gap.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find declared headings without an anchor."""
    for section in context.document.sections:
        # An anchor out of place has a rule of its own, which says more precisely what is wrong.
        if section.anchor or section.span.start in context.sections_with_stray:
            continue
        declaration = context.canon_by_heading.get(section.heading.text.casefold())
        if declaration and declaration.anchor not in context.present:
            yield Hit(
                section.span.start,
                f'"{declaration.heading}" has no anchor; its next line should read '
                f"<!-- @anchor: {declaration.anchor} -->.",
                str(declaration.anchor),
            )


RULE = Rule("MG101", "missing-anchor", Severity.BLOCK, __doc__, check)
