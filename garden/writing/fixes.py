"""Mechanical fixes: a document with every finding of lint fixed that has a fix."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from garden.files.garden_files import FileText
from garden.files.paths import GardenPath
from garden.grammar.diffs import Diff, unified_diff
from garden.lint.fixes import fix
from garden.writing.documents import Documents, GardenDocument


@dataclass(frozen=True)
class FixedText:
    """A fixed text, with how many findings of each rule were fixed."""

    text: str
    document_hash: str
    fixed: Mapping[str, int]
    diff: Diff

    @property
    def rationale(self) -> str:
        """The rationale of the edit."""
        return f"Mended mechanically: {', '.join(sorted(self.fixed)) or 'what was left to mend'}."


def fix_document(documents: Documents, path: GardenPath, file: FileText) -> FixedText | None:
    """Fix a document in memory; None if there is nothing to fix."""
    before = documents.parse_file(path, file)
    text = fix(before.document, before.kind)
    if text == before.text:
        return None
    after = documents.parse_text(path, text)
    fixed = _fixable(before) - _fixable(after)
    return FixedText(text, before.document.hash, fixed, unified_diff(before.text, text, path.text))


def _fixable(document: GardenDocument) -> Counter[str]:
    return Counter(
        f"{finding.rule} {finding.name}" for finding in document.report.findings if finding.fixable
    )
