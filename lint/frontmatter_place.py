"""Where in the frontmatter a key stands."""

import re

from garden.lint.context import Context


def place_of(context: Context, key: str) -> int:
    """Give the offset of a top-level key, or of the document's beginning where it can't be found."""
    frontmatter = context.document.frontmatter
    if frontmatter is None:
        return 0
    line = re.compile(rf"""^["']?{re.escape(key)}["']?[ \t]*:""", re.MULTILINE)
    match = line.search(context.flat, *frontmatter.span)
    return match.start() if match else frontmatter.span.start
