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

from garden.grammar.document import SECTION_LEVEL
from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule
from garden.lint.section_facts import SectionFacts


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find sections that have neither an anchor nor a declared heading of their own."""
    kind = context.kind
    if kind is None or kind.further_sections:
        return
    for place, content, facts in context.sections:
        is_section = content.level == SECTION_LEVEL
        if is_section and content.anchor is None and not _is_reported_otherwise(context, facts):
            words = content.heading.text
            message = f'The kind {kind.kind} doesn\'t declare the section "{words}".'
            yield Hit(context.starts[place], message, words)


def _is_reported_otherwise(context: DocumentContext, facts: SectionFacts) -> bool:
    declaration = facts.declared_heading
    own_is_missing = declaration is not None and declaration.anchor not in context.present_anchors
    return own_is_missing or facts.has_stray_anchor


RULE = DocumentRule("MG108", "unknown-section", Severity.STYLE, __doc__, check)
