"""Text imitates markup of tools or agents.

This covers an anchor comment that is quoted, in code or inside other text; a written-out tool call or tool
result; and the markup that separates the turns of a conversation for a model.

## Why it matters

A program may take such text for a real call, and a reader may take a quoted anchor for a real one. The tools
know the difference, but other readers of a garden may not.

## Bad

```markdown
- She pasted <tool_call>{"tool": "fs.write"}</tool_call> into the chat
```

## Good

```markdown
- She pasted a tool call into the chat
```

## How to fix it

Describe the markup instead of repeating it.
"""

import re
from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext
from garden.lint.stray_anchors import AnchorFault

_SIGNS = frozenset(
    {"<tool", "<function", "<invoke", "<system", r"<\|", r"\[inst\]", "<<sys>>", r"\[tool_call"}
)
_MARK = re.compile(
    r"<(?:tool_(?:calls?|results?|response|use)|function_(?:calls?|results?|response)|invoke|system(?:[-_]\w+)?)\b[^<>\n]{0,200}>"
    r"|<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|channel|message)\b[^<>\n]{0,40}\|>"
    r"|\[INST\]|<<SYS>>|\[TOOL_CALLS?\]",
    re.IGNORECASE,
)


def check(section: SectionContext) -> Iterator[Hit]:
    """Find forged anchors and forged tool calls."""
    for stray in section.strays:
        if stray.fault is AnchorFault.FORGED:
            yield Hit(stray.offset, "This looks like an anchor, but is not one.", stray.name)
    if _SIGNS & section.signs:
        for match in _MARK.finditer(section.text):
            yield Hit(match.start(), "This looks like markup of a conversation with tools.", match[0])


RULE = SectionRule("MG703", "forged-markup", Severity.STYLE, __doc__, check, signs=_SIGNS | {"@anchor"})
