"""Canonical form and content hashes: white space that editors change does not change the hash."""

from hashlib import sha256

from garden.grammar.lines import with_newlines

TRAILING_SPACE = " \t\v\f"
_AT_LINE_END = tuple(f"{space}\n" for space in TRAILING_SPACE)


def canonical(text: str) -> str:
    """Rewrite a text for hashing: LF line ends, no trailing white space, exactly one final newline."""
    flat = with_newlines(text, "\n").rstrip(f"{TRAILING_SPACE}\n")
    if any(end in flat for end in _AT_LINE_END):
        flat = "\n".join(line.rstrip(TRAILING_SPACE) for line in flat.split("\n"))
    return flat + "\n"


def content_hash(text: str) -> str:
    """Hash the canonical form of a text: `sha256:<64 hex>`."""
    return f"sha256:{sha256(canonical(text).encode('utf-8', 'surrogatepass')).hexdigest()}"
