"""Refuse expressions that make prose hard to read: part of `make check`.

    python tools/check_words.py [FILE ...]

Without files it reads the product, the documents and the developers' programs. Tests hold such words as data,
and an applied migration keeps its bytes. A line that must quote an expression ends with `words: allow`.
"""

import re
import subprocess
import sys
from pathlib import Path

SUFFIXES = {".md", ".py", ".sql", ".toml", ".yml", ".yaml", ""}
LEFT_OUT = (
    "benchmarks/recall/data/",
    "migrations/",
    "sample_users/",
    "tests/",
    "constraints.txt",
    "LICENSE",
    "tools/check_words.py",
)
EXPRESSIONS = {
    r"\b(?:who|what|which)(?:so)?ever\b": "name the actor or the thing",
    r"\b(?:some|any|every|no)body\b": "name the actor",
    r"\bof whom\b": "name the actor",
    r"\b(?:is|are|was|were|be|been) told (?:of|about)\b": "say who reports what",
    r"\bcome what may\b": "leave it out",
    r"\bin the midst of\b|\bamid\b": "write 'during'",
    r"\bwhat it is that\b|\bwhat there is\b|\bthere is none that\b": "use the concrete noun",
    r"\bas long as it stands\b|\bstands? in its (?:place|stead)\b": "say what is there",
    r"\bthose (?:that|who) there are\b": "use the concrete noun",
}


def findings(path: Path) -> list[str]:
    """The refused expressions of one file, each with its line and a better way."""
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    return [
        f"{path}:{number}: '{match[0]}': {advice}"
        for number, line in lines
        if not line.rstrip().endswith("words: allow")
        for expression, advice in EXPRESSIONS.items()
        for match in re.finditer(expression, line, re.IGNORECASE)
    ]


def project_files() -> list[Path]:
    """The tracked files below the working folder that hold prose or code."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - git as the developer has it
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    paths = [Path(name) for name in listed if name and not name.startswith(LEFT_OUT)]
    return [path for path in paths if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()]


def main() -> None:
    """Print every finding, and exit with 1 where there is one."""
    paths = [Path(name) for name in sys.argv[1:]] or project_files()
    found = [finding for path in paths for finding in findings(path)]
    print("\n".join(found) or f"Plain words in {len(paths)} files.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
