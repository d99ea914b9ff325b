"""Reads fixture files: a title, then texts separated by lines with a single dot."""

from pathlib import Path
from typing import Any

import pytest


def cases(path: Path) -> list[Any]:
    """Read the cases of a file as pytest parameters, named by their titles.

    A case is a title, a line `.`, and three texts, each ended by a line `.`. A text without a final line end
    ends with `\\c`; `\\r` means a carriage return, `\\s` a space.
    """
    found, lines = [], path.read_text(encoding="utf-8").split("\n")
    position = 0
    while position < len(lines):
        title = lines[position].strip()
        position += 1
        if not title or title.startswith("<!--"):
            continue
        texts, position = _texts(lines, position + 1)
        found.append(pytest.param(*texts, id=title))
    return found


def _texts(lines: list[str], position: int) -> tuple[list[str], int]:
    texts: list[str] = []
    current: list[str] = []
    while position < len(lines) and (lines[position].strip() or current or len(texts) < 3):
        if lines[position] == ".":
            texts.append(_unescaped("".join(line + "\n" for line in current)))
            current = []
            if len(texts) == 3:
                return texts, position + 1
        else:
            current.append(lines[position])
        position += 1
    raise ValueError(f"a case ends too early, before line {position + 1}")


def _unescaped(text: str) -> str:
    return text.replace("\\c\n", "").replace("\\r", "\r").replace("\\s", " ").replace("\\t", "\t")
