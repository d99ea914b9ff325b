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


def encoded(text: str) -> bytes:
    """Encode any text, one with lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes | bytearray | memoryview) -> str:
    """Return the text that `encoded` made these bytes of."""
    return str(data, "utf-8", "surrogatepass")


def content_hash(text: str) -> str:
    """Hash the canonical form of a text: `sha256:<64 hex>`."""
    return raw_hash(encoded(canonical(text)))


def raw_hash(data: bytes | bytearray) -> str:
    """Hash bytes as they are: `sha256:<64 hex>`."""
    return f"sha256:{sha256(data).hexdigest()}"
