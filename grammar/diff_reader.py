"""Reads a unified diff for one file and refuses anything doubtful in it."""

from dataclasses import dataclass
from typing import Literal

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from garden.grammar.lines import split_lines
from garden.grammar.refusals import DiffDeletesFileError, InvalidInputError, PatchConflictError

_HINT_COUNTS = "Check the counts in each @@ line, and begin every line with a space, + or -."

Sign = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """A hunk: signed lines with their line ends, and the line (from 0) that its header names."""

    number: int
    at: int
    lines: tuple[tuple[Sign, str], ...]

    @property
    def source(self) -> list[str]:
        """The context and removed lines, which the text must contain."""
        return [line for sign, line in self.lines if sign != "+"]


def read_diff(diff: str, path: str | None = None) -> list[DiffHunk]:
    """Read the hunks of a diff; refuse a diff for another file or with wrong line counts."""
    # Callers often leave out the two file lines; the file is known from the call.
    text = f"--- a\n+++ b\n{diff.lstrip()}" if diff.lstrip().startswith("@@") else diff
    text = text if text.endswith("\n") else text + "\n"
    try:
        file = _only_file(PatchSet(text))
    except (UnidiffParseError, ValueError) as error:
        raise InvalidInputError(
            f"The diff can't be read: {str(error).strip()}.", hint=_HINT_COUNTS
        ) from error
    if path is not None:
        _refuse_other_document(path, file)
    _refuse_leftovers(text, file)
    return [_read_hunk(number, hunk) for number, hunk in enumerate(file, 1)]


def _only_file(files: PatchSet) -> PatchedFile:
    if len(files) == 1 and files[0].target_file.strip() == "/dev/null":
        raise DiffDeletesFileError("The diff deletes the file.", hint="Empty a section instead.")
    if len(files) != 1 or not files[0]:
        raise InvalidInputError(
            f"The diff changes {len(files)} files." if len(files) > 1 else "The diff holds no hunks.",
            hint="Give a unified diff for this one file, with at least one @@ hunk.",
        )
    return files[0]


def _refuse_other_document(path: str, file: PatchedFile) -> None:
    """Refuse a diff that names another document; a diff without a name is accepted."""
    for name in (file.source_file, file.target_file):
        named = name.strip().strip('"').removeprefix("./")
        # Accept the name with or without the `a/` or `b/` prefix, and as a longer or shorter path.
        forms = {named, named.partition("/")[2]} if named.startswith(("a/", "b/")) else {named}
        if named.endswith(".md") and not any(f"/{path}".endswith(f"/{form}") for form in forms):
            raise PatchConflictError(
                "The diff names another document.",
                hint="Send it with the path that it names, or make a diff of this document.",
            )


def _refuse_leftovers(text: str, file: PatchedFile) -> None:
    """Refuse a diff whose counts are too small: unidiff silently drops the lines beyond them."""
    lines = split_lines(text)
    first = next(number for number, line in enumerate(lines) if line.startswith("@@"))
    read = sum(1 + len(hunk) for hunk in file)
    if "".join(lines[first + read :]).strip():
        raise InvalidInputError("A hunk of the diff is longer than its @@ line says.", hint=_HINT_COUNTS)


def _read_hunk(number: int, hunk: Hunk) -> DiffHunk:
    lines: list[tuple[Sign, str]] = []
    for line in hunk:
        if line.line_type == "\\" and lines:
            lines[-1] = (lines[-1][0], lines[-1][1].removesuffix("\n"))
        elif line.is_context or line.is_added or line.is_removed:
            sign: Sign = " " if line.is_context else "+" if line.is_added else "-"
            lines.append((sign, line.value))
    at = hunk.source_start - 1 if hunk.source_length else hunk.source_start
    return DiffHunk(number, at, tuple(lines))
