"""A section that the document's kind declares is missing.

The document holds neither its anchor nor its heading.

## Why it matters

Tools can't add to a missing section, and a reader can't tell "nothing known" from "never asked".

## Bad

```markdown
## Summary
<!-- @anchor: summary v1 -->

This part watches the clock.
```

## Good

A document with every section of its kind, empty ones included, as `md.plant` creates it. For a kind that
declares only a Summary:

```markdown
## Summary
<!-- @anchor: summary v1 -->

This part watches the clock.
```

## How to fix it

Add the heading with its anchor, above the section that follows it in the kind. An empty section is fine.
"""

from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule
from garden.lint.stray_anchors import AnchorFault


def check(context: LintContext) -> Iterator[Hit]:
    """Find declared sections that are missing."""
    if all(anchor in context.present_anchors for anchor in context.declarations):
        return
    headings = {section.heading.text.casefold() for section in context.document.sections}
    ids = {anchor.id for anchor in context.present_anchors} | _stray_ids(context)
    for place, declaration in enumerate(context.declarations.values()):
        if declaration.anchor.id not in ids and declaration.heading.casefold() not in headings:
            name = str(declaration.anchor)
            message = f'The section "{declaration.heading}" ({name}) is missing.'
            yield Hit(_offset_of_next(context, place), message, name, name)


def _stray_ids(context: LintContext) -> set[str]:
    faults = (AnchorFault.DETACHED, AnchorFault.MISPLACED)
    return {stray.name.split(" ")[0] for stray in context.strays if stray.fault in faults}


def _offset_of_next(context: LintContext, place: int) -> int:
    """Return the offset of the section that should follow, or the end of the last words."""
    following = list(context.declarations.values())[place + 1 :]
    starts = {declaration.anchor: section.span.start for section, declaration in context.declared_sections}
    found = (starts[declaration.anchor] for declaration in following if declaration.anchor in starts)
    return next(found, len(context.text.rstrip()))


RULE = Rule("MG402", "missing-section", Severity.STYLE, __doc__, check)
