"""Mending a document mechanically: what the cures of lint's rules would make of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from garden.files.garden_files import FileText
from garden.files.paths import GardenPath
from garden.grammar.diffs import Diff, unified_diff
from garden.lint.fixes import fix
from garden.writing.documents import Documents, GardenDocument


@dataclass(frozen=True)
class Mending:
    """A text with everything mended that can be, and what that was."""

    text: str
    document_hash: str
    cured: Mapping[str, int]
    diff: Diff

    @property
    def rationale(self) -> str:
        """Why the text changes, in a sentence."""
        return f"Mended mechanically: {', '.join(sorted(self.cured)) or 'what was left to mend'}."


def mending(documents: Documents, path: GardenPath, file: FileText) -> Mending | None:
    """Give what the cures make of a document; None where there is nothing to cure."""
    before = documents.parse_file(path, file)
    text = fix(before.document, before.kind)
    if text == before.text:
        return None
    after = documents.parse_text(path, text)
    cured = _fixable(before) - _fixable(after)
    return Mending(text, before.document.hash, cured, unified_diff(before.text, text, path.text))


def _fixable(standing: GardenDocument) -> Counter[str]:
    return Counter(
        f"{finding.rule} {finding.name}" for finding in standing.report.findings if finding.fixable
    )
