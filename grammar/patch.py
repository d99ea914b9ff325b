"""Applies a unified diff: each hunk at the line it names, or at the only other place that matches."""

from collections.abc import Callable, Iterator, Sequence

from garden.grammar.diff_reader import DiffHunk, read_diff
from garden.grammar.lines import split_any_lines, split_lines, without_line_end
from garden.grammar.refusals import PatchConflictError, excerpt

_SEARCH_LIMIT_LINES = 5_000_000
_NEAREST_LIMIT_LINES = 20_000
_NEAREST_LIMIT_SOURCE = 40
_SHOWN_CHARACTERS_MAX = 2_000


def apply_diff(text: str, diff: str, newline: str, path: str | None = None) -> str:
    """Return the text after a diff.

    The diff must match byte for byte. If not, it is tried again without regard to line ends, because diffs
    are often sent with plain line feeds: kept lines keep theirs, added lines get the document's `newline`.
    """
    hunks = read_diff(diff, path)
    try:
        return "".join(_end_lines(_apply_hunks(split_lines(text), hunks, str, str), newline))
    except PatchConflictError:
        lines = _apply_hunks(
            split_any_lines(text), hunks, without_line_end, lambda line: without_line_end(line) + newline
        )
    return _keep_ending(text, "".join(_end_lines(lines, newline)))


def _keep_ending(text: str, result: str) -> str:
    ended = not text or text.endswith(("\n", "\r"))
    return result if ended else without_line_end(result)


def _end_lines(lines: list[str], newline: str) -> list[str]:
    """Give every line but the last a line end."""
    return [line if line.endswith(("\n", "\r")) else line + newline for line in lines[:-1]] + lines[-1:]


def _apply_hunks(
    lines: list[str], hunks: Sequence[DiffHunk], key: Callable[[str], str], added: Callable[[str], str]
) -> list[str]:
    keys = [key(line) for line in lines]
    result: list[str] = []
    done, drift, searched = 0, 0, 0
    for hunk in hunks:
        source = [key(line) for line in hunk.source]
        start = _place(keys, source, hunk, done, drift)
        searched += len(keys) * (start != hunk.at + drift)
        if searched > _SEARCH_LIMIT_LINES:
            raise _too_many_misplaced(hunk)
        result.extend(lines[done:start])
        result.extend(_hunk_result(lines, start, hunk, added))
        done, drift = start + len(source), start - hunk.at
    return result + lines[done:]


def _too_many_misplaced(hunk: DiffHunk) -> PatchConflictError:
    return PatchConflictError(
        f"Too many hunks up to hunk {hunk.number} are not at the lines they name.",
        hint="Read the file again and make a new diff.",
        details={"hunk": hunk.number},
    )


def _hunk_result(lines: list[str], start: int, hunk: DiffHunk, added: Callable[[str], str]) -> list[str]:
    changed, position = [], start
    for sign, line in hunk.lines:
        if sign == "+":
            changed.append(added(line))
        else:
            if sign == " ":
                changed.append(lines[position])
            position += 1
    return changed


def _place(keys: list[str], source: list[str], hunk: DiffHunk, done: int, drift: int) -> int:
    expected = hunk.at + drift
    if not source:
        return _place_without_context(keys, hunk)
    if expected >= done and keys[expected : expected + len(source)] == source:
        return expected
    places = list(_places(keys, source, done))
    if len(places) == 1:
        return places[0]
    raise _no_place(keys, source, hunk, places)


def _place_without_context(keys: list[str], hunk: DiffHunk) -> int:
    if not keys:
        return 0
    raise PatchConflictError(
        f"Hunk {hunk.number} has no context, so its place is unknown.",
        hint="Give each hunk a few unchanged lines, or use an edit that appends.",
        details={"hunk": hunk.number},
    )


def _places(keys: list[str], source: list[str], start: int) -> Iterator[int]:
    """Find every match by Knuth-Morris-Pratt, which stays linear even if all lines are equal."""
    borders = _borders(source)
    matched = 0
    for position in range(start, len(keys)):
        while matched and (matched == len(source) or keys[position] != source[matched]):
            matched = borders[matched - 1]
        matched += keys[position] == source[matched]
        if matched == len(source):
            yield position + 1 - matched


def _borders(source: list[str]) -> list[int]:
    """Return the Knuth-Morris-Pratt table: for each prefix, the length of its longest border."""
    borders = [0]
    for line in source[1:]:
        matched = borders[-1]
        while matched and line != source[matched]:
            matched = borders[matched - 1]
        borders.append(matched + (line == source[matched]))
    return borders


def _no_place(keys: list[str], source: list[str], hunk: DiffHunk, places: list[int]) -> PatchConflictError:
    if places:
        numbers = [place + 1 for place in places]
        return PatchConflictError(
            f"Hunk {hunk.number} is not at line {hunk.at + 1} and matches {len(places)} other places.",
            hint="Give more context, so that it matches one place only.",
            details={"hunk": hunk.number, "lines": numbers[:20]},
        )
    line, nearest = nearest_lines(keys, source)
    return PatchConflictError(
        f"Hunk {hunk.number} matches nowhere. Nearest, from line {line}: {nearest!r}.",
        hint="Read the file again: context and removed lines must match exactly.",
        details={
            "hunk": hunk.number,
            "nearestLine": line,
            "nearest": nearest,
            "wanted": excerpt("".join(source), _SHOWN_CHARACTERS_MAX),
        },
    )


def nearest_lines(keys: list[str], source: list[str]) -> tuple[int, str]:
    """Find the lines that share the most words with the wanted ones."""
    wanted = [set(line.split()) for line in source[:_NEAREST_LIMIT_SOURCE]]
    words = [set(line.split()) for line in keys[:_NEAREST_LIMIT_LINES]]
    scores = [_words_in_common(words, start, wanted) for start in range(len(words))]
    best = max(range(len(scores)), key=lambda start: scores[start], default=0)
    nearest = "\n".join(without_line_end(line) for line in keys[best : best + len(source)])
    return best + 1, excerpt(nearest, _SHOWN_CHARACTERS_MAX)


def _words_in_common(words: list[set[str]], start: int, wanted: list[set[str]]) -> int:
    stretch = words[start : start + len(wanted)]
    return sum(len(have & want) for have, want in zip(stretch, wanted, strict=False))
