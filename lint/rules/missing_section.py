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

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule
from garden.lint.stray_anchors import AnchorFault


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find declared sections that are missing."""
    declared = context.declarations.by_anchor
    if declared.keys() <= context.present_anchors:
        return
    ids = {content.anchor.id for content in context.document.contents if content.anchor} | _stray_ids(context)
    ids |= {each.declared_heading.anchor.id for _, _, each in context.sections if each.declared_heading}
    for place, declaration in enumerate(declared.values()):
        if declaration.anchor.id not in ids:
            name = str(declaration.anchor)
            message = f'The section "{declaration.heading}" ({name}) is missing.'
            yield Hit(_offset_of_next(context, place), message, name, name)


def _stray_ids(context: DocumentContext) -> set[str]:
    faults = (AnchorFault.DETACHED, AnchorFault.MISPLACED)
    strays = [stray for _, _, facts in context.sections for stray in facts.strays]
    return {stray.name.split(" ")[0] for stray in strays if stray.fault in faults}


def _offset_of_next(context: DocumentContext, place: int) -> int:
    """Return the offset of the section that should follow, or the end of the last words."""
    following = list(context.declarations.by_anchor)[place + 1 :]
    starts = {content.anchor: context.starts[place] for place, content, _ in context.declared_sections}
    found = (starts[anchor] for anchor in following if anchor in starts)
    return next(found, len(context.document.text.rstrip()))


RULE = DocumentRule("MG402", "missing-section", Severity.STYLE, __doc__, check)
