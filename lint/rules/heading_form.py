"""A section's heading isn't the one that its kind declares.

The anchor says which section it is; the heading above reads otherwise, in its words or only in its letters'
case. Where it reads like the heading of another section, nothing is said here: then the anchor is in doubt,
not the heading.

## Why it matters

People look for the headings they know. The anchor keeps tools going, but a reader who looks for "Concerns"
doesn't find "Worries".

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

`fix` writes the declared heading in its place. The anchor and the body stay as they are. Where another
section has the same heading, the old or the new one, that is left to the writer.
"""

from collections.abc import Iterator

from garden.grammar.document import Section
from garden.grammar.lines import flat
from garden.grammar.values import Span
from garden.lint.context import Context
from garden.lint.finding import Hit, Replacement, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find declared sections under another heading."""
    for section, declaration in context.declared:
        words = section.heading.text
        if words == declaration.heading:
            continue
        other = context.canon_by_heading.get(words.casefold())
        if other is None or other is declaration:
            yield Hit(
                section.span.start,
                f'The heading of {section.anchor} should be "{declaration.heading}".',
                str(section.anchor),
                cures=tuple(_cures(context, section, declaration.heading)),
            )


def _cures(context: Context, section: Section, heading: str) -> Iterator[Replacement]:
    # Where another section has the old words or the new ones, nobody can tell which anchor is whose.
    counts = context.heading_counts
    if not counts[heading] and counts[section.heading.text] == 1:
        yield Replacement(_words_span(context, section), f"## {heading}")


def _words_span(context: Context, section: Section) -> Span:
    """Cover the heading's lines without the last line end, which stays as it is."""
    start, end = section.heading.span
    raw = context.text[start:end]
    return Span(start, end - (len(raw) - len(flat(raw).rstrip(" \t\n"))))


RULE = Rule("MG401", "heading-form", Severity.STYLE, __doc__, check, fixable=True)
