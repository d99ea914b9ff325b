"""The notation of fixtures and examples for invisible characters and for secrets."""

import re

SECRET = "sk-" + "a1B2" * 8

_CHARACTER = re.compile(r"\{U\+([0-9A-F]{4,6})\}")
_WORDS = re.compile(r"\{words:([0-9]+)\}")


def decoded(text: str) -> str:
    """Expand `{U+200B}`, `{words:401}` and `{secret}`; `{EOF}` ends the text."""
    text = text.partition("{EOF}")[0].replace("{secret}", SECRET)
    text = _WORDS.sub(lambda match: " ".join(["word"] * int(match[1])), text)
    return _CHARACTER.sub(lambda match: chr(int(match[1], 16)), text)


_SHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202f\u2066-\u2069\ufeff]|[ \t](?=\n|\\Z)"
)


def encoded(text: str) -> str:
    """Write invisible characters in the notation, so that they are visible and editors keep them."""
    shown = _SHOWN.sub(lambda match: f"{{U+{ord(match[0]):04X}}}", text).replace(SECRET, "{secret}")
    return shown if shown.endswith("\n") else shown + "{EOF}\n"
