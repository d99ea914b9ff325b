"""Names of documents for the ids of frameworks, which may be any text."""

import re
from hashlib import sha256

_NAME = re.compile("[a-z0-9][a-z0-9_-]{0,63}")
_MADE = re.compile(".*--[0-9a-f]{16}")


def document_name(given: str) -> str:
    """Return an id that can name a document unchanged; of another, its letters and digits and a hash."""
    if _NAME.fullmatch(given) and not _MADE.fullmatch(given):
        return given
    words = re.sub("[^a-z0-9]+", "-", given.casefold())[:40].strip("-")
    # Of an id with half a surrogate pair, too.
    digest = sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{words or 'id'}--{digest}"
