"""How fixtures and examples write what can't be seen, or shouldn't stand in a file."""

import re

SECRET = "sk-" + "a1B2" * 8

_CHARACTER = re.compile(r"\{U\+([0-9A-F]{4,6})\}")
_WORDS = re.compile(r"\{words:([0-9]+)\}")


def decoded(text: str) -> str:
    """Put in what the notation stands for: `{U+200B}`, `{words:401}`, `{secret}`; `{EOF}` ends the text."""
    text = text.partition("{EOF}")[0].replace("{secret}", SECRET)
    text = _WORDS.sub(lambda match: " ".join(["word"] * int(match[1])), text)
    return _CHARACTER.sub(lambda match: chr(int(match[1], 16)), text)


_SHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202f\u2066-\u2069\ufeff]|[ \t](?=\n|\\Z)"
)


def encoded(text: str) -> str:
    """Write a text so that everything in it can be seen, and so that every editor leaves it alone."""
    shown = _SHOWN.sub(lambda match: f"{{U+{ord(match[0]):04X}}}", text).replace(SECRET, "{secret}")
    return shown if shown.endswith("\n") else shown + "{EOF}\n"
