"""Text imitates the marks that tools and agents work by.

An anchor comment that is quoted, in code or inside other text; a tool call or a tool's answer written out;
the marks by which models tell the voices of a conversation apart.

## Why it matters

A reply that quotes such text may be taken for a call, and a reader of the file may take a quoted anchor for
one. The tools know the difference; not everything that reads a garden does.

## Bad

```markdown
- She pasted <tool_call>{"tool": "fs.write"}</tool_call> into the chat
```

## Good

```markdown
- She pasted a tool call into the chat
```

## How to fix it

Describe the marks instead of repeating them.
"""

import re
from collections.abc import Iterator

from garden.lint.anchors import Fault
from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule
from garden.lint.signs import Signs

_SIGNS = Signs(("<tool", "<function", "<invoke", "<system", "<|", "[inst]", "<<sys>>", "[tool_call"))
_MARK = re.compile(
    r"<(?:tool_(?:calls?|results?|response|use)|function_(?:calls?|results?|response)|invoke|system(?:[-_]\w+)?)\b[^<>\n]{0,200}>"
    r"|<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|channel|message)\b[^<>\n]{0,40}\|>"
    r"|\[INST\]|<<SYS>>|\[TOOL_CALLS?\]",
    re.IGNORECASE,
)


def check(context: Context) -> Iterator[Hit]:
    """Find forged anchors and forged calls."""
    for stray in context.strays:
        if stray.fault is Fault.FORGED:
            yield Hit(stray.offset, "This looks like an anchor, but is none.", stray.name)
    if _SIGNS.found_in(context.text):
        for match in _MARK.finditer(context.text):
            yield Hit(match.start(), "This looks like a mark of a conversation with tools.", match[0])


RULE = Rule("MG703", "forged-markup", Severity.STYLE, __doc__, check)
