"""The difference between two versions of a document, or of one of its sections."""

from dataclasses import dataclass

from garden.grammar.diffs import unified_diff
from garden.grammar.errors import GardenError
from garden.grammar.lines import split_lines
from garden.grammar.lookup import find_section
from garden.grammar.parser import parse
from garden.grammar.refusals import AnchorNotFoundError
from garden.grammar.word_diffs import word_diff

DIFF_BYTES_MAX = 50_000


@dataclass(frozen=True, slots=True)
class Difference:
    """The lines added and removed, the diff, and how many of its lines were cut off."""

    added: int
    removed: int
    text: str
    lines_cut: int


def difference(before: str, after: str, path: str, section: str | None, *, words: bool) -> Difference:
    """Compare two texts, or one section of them; a section that only one of them has came or went."""
    if section is not None:
        before, after = _sections_of(before, after, section)
    diff = (word_diff if words else unified_diff)(before, after, path)
    return Difference(diff.added, diff.removed, *cut_diff(diff.text))


def cut_diff(text: str) -> tuple[str, int]:
    """As many lines of a diff as an answer may hold, and how many are cut off."""
    data = text.encode()
    if len(data) <= DIFF_BYTES_MAX:
        return text, 0
    shown = data[: data.rfind(b"\n", 0, DIFF_BYTES_MAX) + 1].decode()
    return shown, len(split_lines(text)) - shown.count("\n")


def cut_warning(lines_cut: int, way_on: str) -> tuple[str, ...]:
    """The warning that a diff was cut, and how to see the rest."""
    cut = f"The diff is cut after {DIFF_BYTES_MAX} bytes; {lines_cut} more lines are left out."
    return (f"{cut} {way_on}",) if lines_cut else ()


def section_text(text: str, section: str) -> str:
    """The text of one section."""
    return find_section(parse(text), section).text


def _sections_of(before: str, after: str, section: str) -> tuple[str, str]:
    texts, refusals = [], list[GardenError]()
    for text in (before, after):
        try:
            texts.append(section_text(text, section))
        except AnchorNotFoundError as refusal:
            refusals.append(refusal)
            texts.append("")
    if len(refusals) == len(texts):
        raise refusals[-1]
    return texts[0], texts[1]
