"""A section without an anchor is none of those that the document's kind declares.

Kinds that welcome further sections, such as notes, may have any.

## Why it matters

No tool can name the section for sure, and a reader of the kind doesn't expect it.

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
from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find sections that have neither an anchor nor a declared heading of their own."""
    kind = context.kind
    if kind is None or kind.further_sections:
        return
    for section in context.document.sections:
        if section.anchor is None and not _is_reported_otherwise(context, section):
            yield Hit(
                section.span.start,
                f'The kind {kind.kind} has no section "{section.heading.text}" without an anchor.',
                section.heading.text,
            )


def _is_reported_otherwise(context: Context, section: Section) -> bool:
    declaration = context.canon_by_heading.get(section.heading.text.casefold())
    own_is_missing = declaration is not None and declaration.anchor not in context.present
    return own_is_missing or section.span.start in context.sections_with_stray


RULE = Rule("MG108", "unknown-section", Severity.STYLE, __doc__, check)
