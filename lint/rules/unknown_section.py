"""The document's kind doesn't declare this section, and the section has no anchor.

Kinds that allow further sections, such as notes, may have any.

## Why it matters

Tools can't reliably name the section, and readers don't expect it.

## Bad

```markdown
## Random Thoughts

- Something sweet after calls
```

## Good

```markdown
## Needs
<!-- @anchor: needs v1 -->

- Something sweet after calls
```

## How to fix it

Move the words into a section of the kind or into the notes, or make the heading an H3 inside a section.
"""

from collections.abc import Iterator

from garden.grammar.document import Section
from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find sections that have neither an anchor nor a declared heading of their own."""
    kind = context.kind
    if kind is None or kind.further_sections:
        return
    for section in context.document.sections:
        if section.anchor is None and not _is_reported_otherwise(context, section):
            yield Hit(
                section.span.start,
                f'The kind {kind.kind} doesn\'t declare the section "{section.heading.text}".',
                section.heading.text,
            )


def _is_reported_otherwise(context: LintContext, section: Section) -> bool:
    declaration = context.declarations_by_heading.get(section.heading.text.casefold())
    own_is_missing = declaration is not None and declaration.anchor not in context.present_anchors
    return own_is_missing or section.span.start in context.sections_with_stray


RULE = Rule("MG108", "unknown-section", Severity.STYLE, __doc__, check)
