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

from garden.grammar.values import Anchor
from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find anchors that the kind doesn't declare."""
    kind = context.kind
    if kind is None:
        return
    for section in context.document.sections:
        anchor = section.anchor
        if anchor is None or section.anchor_span is None or anchor in context.declarations:
            continue
        declared = _other_version(context, anchor)
        if declared or not kind.further_sections:
            wanted = f"; it declares {declared}" if declared else ""
            yield Hit(
                section.anchor_span.start,
                f"The kind {kind.kind} doesn't declare the anchor {anchor}{wanted}.",
                str(anchor),
            )


def _other_version(context: LintContext, anchor: Anchor) -> Anchor | None:
    return next((declared for declared in context.declarations if declared.id == anchor.id), None)


RULE = Rule("MG107", "unknown-anchor", Severity.STYLE, __doc__, check)
