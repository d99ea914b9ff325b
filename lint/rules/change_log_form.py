"""A line of the Change Log has the wrong form.

A line gives the time, the section, the operation, the reason and the event: `- 2026-11-18 08:25Z · concerns
v1 · replace_section · <rationale> (evt:<id>)`, and where a cap was overridden ` · override: <one line>`
after it. An indented line continues the one above and is not checked. A log that became too long begins with
the line that says where the earlier ones are.

## Why it matters

People read the Change Log to see how the document came about, and tools match it with the event log.

## Bad

```markdown
## Change Log
<!-- @anchor: change_log v1 -->

- changed the concerns
```

## Good

```markdown
## Change Log
<!-- @anchor: change_log v1 -->

- 2026-11-18 08:25Z · concerns v1 · replace_section · she named it herself (evt:0193-0001)
- 2026-11-18 08:31Z · evidence v1 · curate_list · two sessions at once (evt:0193-0002) · override: both matter
```

## How to fix it

Let the tools write the line: every material edit adds its own. Put your own lines into the notes.
"""

import re
from collections.abc import Iterator

from garden.grammar.log_roll import is_roll_line
from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext

_NOT_AN_ENTRY = re.compile(
    r"\n(?![-*+] [0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]) (?:[01][0-9]|2[0-3]):[0-5][0-9]Z"
    r" · [^·\s][^·\n]* · [a-z][a-z0-9_.]* · \S.*\(evt:[^\s()]+\)(?: · override: \S.*)?[ \t]*(?:\n|\Z))"
    r"(?:(- Earlier lines: [^\n]*)|([^ \t\n][^\n]*))"
)


def check(section: SectionContext) -> Iterator[Hit]:
    """Find malformed lines of the Change Log."""
    if not section.declaration or not section.declaration.is_change_log:
        return iter(())
    lines = _NOT_AN_ENTRY.finditer(section.flat, section.content.head_end - 1)
    return iter(
        [
            Hit(
                line.start() + 1, "This line of the Change Log has the wrong form.", line[line.lastindex or 0]
            )
            for line in lines
            if line.lastindex == 2 or not _stands_for_earlier_lines(section, line)
        ]
    )


def _stands_for_earlier_lines(section: SectionContext, line: re.Match[str]) -> bool:
    return is_roll_line(line[1]) and section.content.items[0].span.start == line.start(1)


RULE = SectionRule("MG504", "change-log-form", Severity.STYLE, __doc__, check)
