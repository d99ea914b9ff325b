"""How deep lists may nest before markdown-it-py stops reading them and swallows all that follows."""

import re

# It gives up at twenty levels, and each list takes two. The tenth marker stands at column 18 or further
# right, with nothing but white space, quote marks and other markers before it.
_DEEP_PREFIX = re.compile(r"\n((?:[ \t>]|[-+*][ \t]|[0-9]{1,9}[.)][ \t]){5,})(?=[-+*0-9])")
_DEEP_COLUMNS = 18


def may_nest_too_deep(source: str, start: int) -> bool:
    """Tell whether a line from `start` on could hold a list ten deep; a line feed stands before `start`."""
    return any(
        len(match[1].expandtabs(4)) >= _DEEP_COLUMNS for match in _DEEP_PREFIX.finditer(source, start - 1)
    )
