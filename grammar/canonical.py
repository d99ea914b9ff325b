"""Canonical form and content hashes: white space that editors change does not change the hash."""

from hashlib import sha256

from garden.grammar.lines import with_newlines

TRAILING_SPACE = " \t\v\f"


def canonical(text: str) -> str:
    """Rewrite a text for hashing: LF line ends, no trailing white space, exactly one final newline."""
    return plain_lines(text).rstrip(f"{TRAILING_SPACE}\n") + "\n"


def plain_lines(text: str) -> str:
    """Rewrite a part of a text for hashing: LF line ends, no trailing white space."""
    flat = with_newlines(text, "\n")
    # Most texts are plain, and searching costs less than a call for each line.
    if " \n" in flat or "\t\n" in flat or "\v\n" in flat or "\f\n" in flat or flat[-1:] in TRAILING_SPACE:
        return "\n".join([line.rstrip(TRAILING_SPACE) for line in flat.split("\n")])
    return flat


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
