"""Reading a unified diff for one file, as strictly as an edit deserves."""

from dataclasses import dataclass
from typing import Literal

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from garden.grammar.lines import split_lines
from garden.grammar.refusals import DeleteNotAllowedError, InvalidInputError, PatchConflictError

_HINT_COUNTS = "Check the counts in each @@ line, and begin every line with a space, + or -."

Sign = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True)
class Change:
    """A hunk: signed lines with their line ends, and the line (from 0) at which it says it belongs."""

    number: int
    at: int
    lines: tuple[tuple[Sign, str], ...]

    @property
    def source(self) -> list[str]:
        """The lines that must stand in the text."""
        return [line for sign, line in self.lines if sign != "+"]


def read_diff(diff: str, path: str | None = None) -> list[Change]:
    """Read a diff's hunks; refuse one that isn't for this single file or whose counts don't add up."""
    # Callers often leave the two file lines out; it is known which file is meant.
    text = f"--- a\n+++ b\n{diff.lstrip()}" if diff.lstrip().startswith("@@") else diff
    text = text if text.endswith("\n") else text + "\n"
    try:
        file = _only_file(PatchSet(text))
    except (UnidiffParseError, ValueError) as error:
        raise InvalidInputError(
            f"The diff can't be read: {str(error).strip()}.", hint=_HINT_COUNTS
        ) from error
    if path is not None:
        _refuse_another(path, file)
    _refuse_leftovers(text, file)
    return [_change(number, hunk) for number, hunk in enumerate(file, 1)]


def _only_file(files: PatchSet) -> PatchedFile:
    if len(files) == 1 and files[0].target_file.strip() == "/dev/null":
        raise DeleteNotAllowedError("The diff deletes the file.", hint="Empty a section instead.")
    if len(files) != 1 or not files[0]:
        raise InvalidInputError(
            f"The diff changes {len(files)} files." if len(files) > 1 else "The diff holds no hunks.",
            hint="Give a unified diff for this one file, with at least one @@ hunk.",
        )
    return files[0]


def _refuse_another(path: str, file: PatchedFile) -> None:
    """Refuse a diff that names another document; one that names none is taken at the caller's word."""
    for name in (file.source_file, file.target_file):
        named = name.strip().strip('"').removeprefix("./")
        # With or without the letter that tells the old file from the new one, and as long as it pleases.
        forms = {named, named.partition("/")[2]} if named.startswith(("a/", "b/")) else {named}
        if named.endswith(".md") and not any(f"/{path}".endswith(f"/{form}") for form in forms):
            raise PatchConflictError(
                "The diff names another document than this one.",
                hint="Send it with the path that it names, or make a diff of this document.",
            )


def _refuse_leftovers(text: str, file: PatchedFile) -> None:
    """Refuse a diff whose counts are too small: its reader drops the lines beyond them without a word."""
    lines = split_lines(text)
    first = next(number for number, line in enumerate(lines) if line.startswith("@@"))
    read = sum(1 + len(hunk) for hunk in file)
    if "".join(lines[first + read :]).strip():
        raise InvalidInputError("A hunk of the diff is longer than its @@ line says.", hint=_HINT_COUNTS)


def _change(number: int, hunk: Hunk) -> Change:
    lines: list[tuple[Sign, str]] = []
    for line in hunk:
        if line.line_type == "\\" and lines:
            lines[-1] = (lines[-1][0], lines[-1][1].removesuffix("\n"))
        elif line.is_context or line.is_added or line.is_removed:
            sign: Sign = " " if line.is_context else "+" if line.is_added else "-"
            lines.append((sign, line.value))
    at = hunk.source_start - 1 if hunk.source_length else hunk.source_start
    return Change(number, at, tuple(lines))
