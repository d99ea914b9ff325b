"""The document's kind doesn't declare this anchor.

This includes another version of a declared anchor. Kinds that allow further sections, such as notes, may have
any other anchor.

## Why it matters

Tools can edit the section, but its shape is unknown and no cap applies.

## Bad

```markdown
## Cravings
<!-- @anchor: cravings v1 -->

- Something sweet after calls
```

## Good

```markdown
## Needs
<!-- @anchor: needs v1 -->

- Something sweet after calls
```

## How to fix it

Move the words into a section of the kind, or declare the section in the operator's folder of kinds.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext


def check(section: SectionContext) -> Iterator[Hit]:
    """Find anchors that the kind doesn't declare."""
    anchor, kind = section.content.anchor, section.declarations.kind
    if anchor is None or kind is None or section.declaration:
        return
    other = next((declared for declared in section.declarations.by_anchor if declared.id == anchor.id), None)
    if other or not kind.further_sections:
        wanted = f"; it declares {other}" if other else ""
        message = f"The kind {kind.kind} doesn't declare the anchor {anchor}{wanted}."
        yield Hit(section.content.heading.span.end, message, str(anchor))


RULE = SectionRule("MG107", "unknown-anchor", Severity.STYLE, __doc__, check)
