"""A section that had content is now empty.

Checked only if the document before the edit is known. A section that was always empty is fine.

## Why it matters

Removing content is allowed and recorded, but an emptied section is usually an accident.

## Bad

If the section had words before:

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## How to fix it

If it was an accident, restore the words from an earlier version. If not, leave it: the finding disappears
with the next edit.
"""

from collections.abc import Iterator

from garden.grammar.document import SECTION_LEVEL
from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find sections that lost all their words."""
    empty = [(place, content) for place, content, facts in context.sections if facts.is_empty]
    if context.previous is None or not empty:
        return
    names = {content.anchor or content.headings[0].text for _, content in empty}
    had_words = {
        name
        for content in context.previous.contents
        if content.level == SECTION_LEVEL
        and (name := content.anchor or content.headings[0].text) in names
        and content.body.strip()
    }
    for place, content in empty:
        if (content.anchor or content.headings[0].text) in had_words:
            yield Hit(context.starts[place], f"{content.headings[0].text} had content and is now empty.")


RULE = DocumentRule("MG405", "emptied-section", Severity.STYLE, __doc__, check)
