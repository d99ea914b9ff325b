"""Plain text in Markdown pages."""

import re

_CODE = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"[*|]|(?<!\w)_|_(?!\w)|<(?=[a-z/!])")


def prose(text: str) -> str:
    """Escape what Markdown would take for emphasis, a table cell or a tag, except in code spans."""
    parts = _CODE.split(text)
    return "".join(
        part if number % 2 else _SPECIAL.sub(r"\\\g<0>", part) for number, part in enumerate(parts)
    )
