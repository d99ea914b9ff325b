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

from garden.grammar.document import Section
from garden.grammar.log_roll import is_roll_line
from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule

_LINE = re.compile(r"^[^ \t\n][^\n]*", re.MULTILINE)
_ENTRY = re.compile(
    r"[-*+] [0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]) (?:[01][0-9]|2[0-3]):[0-5][0-9]Z"
    r" · [^·\s][^·]* · [a-z][a-z0-9_.]* · \S.*\(evt:[^\s()]+\)(?: · override: \S.*)?[ \t]*"
)


def check(context: LintContext) -> Iterator[Hit]:
    """Find malformed lines of the Change Log."""
    for section, declaration in context.declared_sections:
        if declaration.is_change_log:
            for line in _LINE.finditer(context.flat, *section.body_span):
                if not _ENTRY.fullmatch(line[0]) and not _stands_for_earlier_lines(section, line):
                    yield Hit(line.start(), "This line of the Change Log has the wrong form.", line[0])


def _stands_for_earlier_lines(section: Section, line: re.Match[str]) -> bool:
    return is_roll_line(line[0]) and section.items[0].span.start == line.start()


RULE = Rule("MG504", "change-log-form", Severity.STYLE, __doc__, check)
