"""The fixtures: one document each, with expected findings marked at the end of their lines.

The first line is a comment with the kind and the identity given by the path. `⟵ MG603` at the end of a line
marks a finding on it. The previous version of the document follows a line `=== previous ===`.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from garden.grammar.document import Document
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.kinds.declaration import Kind
from garden.grammar.parser import parse
from garden.lint.linter import lint
from garden.lint.report import Report
from tests.lint.notation import decoded

HERE = Path(__file__).parent
FIXTURES = HERE / "fixtures"
KINDS = load_kinds([("card.toml", (HERE / "kinds" / "card.toml").read_text(encoding="utf-8"))])
UPDATE = bool(os.environ.get("UPDATE_SNAPSHOTS"))

_HEADER = re.compile(r"<!-- kind: (\w+)((?:; \w+=[\w-]+)*) -->\n")
_MARK = re.compile(r" ?⟵((?: MG[0-9]{3})+)(?=\n|\Z)")
_PREVIOUS = "\n=== previous ===\n"


@dataclass(frozen=True)
class Case:
    """One fixture."""

    path: Path

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def rule(self) -> str:
        return self.path.parent.name

    @property
    def is_bad(self) -> bool:
        return self.path.stem.startswith("bad")

    @cached_property
    def raw(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def header(self) -> re.Match[str]:
        match = _HEADER.match(self.raw)
        assert match, f"{self.name} must begin with its header"
        return match

    @cached_property
    def kind(self) -> Kind | None:
        return None if self.header[1] == "none" else KINDS[self.header[1]]

    @cached_property
    def identity(self) -> dict[str, object]:
        pairs = (pair.split("=") for pair in self.header[2].split("; ") if pair)
        return {pair[0]: pair[1] for pair in pairs}

    @cached_property
    def parts(self) -> list[str]:
        return self.raw[self.header.end() :].split(_PREVIOUS)

    @cached_property
    def text(self) -> str:
        return decoded(_MARK.sub("", self.parts[0]))

    @cached_property
    def document(self) -> Document:
        return parse(self.text)

    @cached_property
    def previous(self) -> Document | None:
        return parse(decoded(self.parts[1])) if len(self.parts) > 1 else None

    @cached_property
    def marks(self) -> list[tuple[int, str]]:
        lines = enumerate(self.parts[0].split("\n"), 1)
        found = ((number, _MARK.search(line)) for number, line in lines)
        return sorted((number, rule) for number, mark in found if mark for rule in mark[1].split())

    def report(self, text: str | None = None) -> Report:
        document = self.document if text is None else parse(text)
        return lint(document, self.kind, identity=self.identity, previous=self.previous)

    def snapshot(self, ending: str) -> Path:
        return self.path.with_name(f"{self.path.stem}.{ending}")


def cases() -> Iterator[Case]:
    """Yield all fixtures."""
    for path in sorted(FIXTURES.glob("*/*.md")):
        if not path.name.endswith(".fixed.md"):
            yield Case(path)
