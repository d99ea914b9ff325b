"""Applying a unified diff: every hunk where it says, or at the one other place where its lines stand."""

from collections.abc import Callable, Iterator, Sequence

from garden.grammar.diff_reader import Change, read_diff
from garden.grammar.lines import split_any_lines, split_lines, without_line_end
from garden.grammar.refusals import PatchConflictError, shown

_SEARCH_LIMIT_LINES = 5_000_000
_NEAREST_LIMIT_LINES = 20_000
_NEAREST_LIMIT_SOURCE = 40
_SHOWN_CHARACTERS_MAX = 2_000


def patched(text: str, diff: str, newline: str, path: str | None = None) -> str:
    """Give the text after a diff.

    First to the byte. Where that doesn't fit, once more without looking at line ends, because diffs often
    travel with plain line feeds: then kept lines keep theirs, and added lines get the document's `newline`.
    """
    changes = read_diff(diff, path)
    try:
        return "".join(_whole_lines(_patched_lines(split_lines(text), changes, str, str), newline))
    except PatchConflictError:
        lines = _patched_lines(
            split_any_lines(text), changes, without_line_end, lambda line: without_line_end(line) + newline
        )
    return _with_the_ending_of(text, "".join(_whole_lines(lines, newline)))


def _with_the_ending_of(text: str, result: str) -> str:
    ended = not text or text.endswith(("\n", "\r"))
    return result if ended else without_line_end(result)


def _whole_lines(lines: list[str], newline: str) -> list[str]:
    """Make sure that only the last line may lack its line end."""
    return [line if line.endswith(("\n", "\r")) else line + newline for line in lines[:-1]] + lines[-1:]


def _patched_lines(
    lines: list[str], changes: Sequence[Change], key: Callable[[str], str], added: Callable[[str], str]
) -> list[str]:
    keys = [key(line) for line in lines]
    result: list[str] = []
    done, drift, searched = 0, 0, 0
    for change in changes:
        source = [key(line) for line in change.source]
        start = _place(keys, source, change, done, drift)
        searched += len(keys) * (start != change.at + drift)
        if searched > _SEARCH_LIMIT_LINES:
            raise _too_far_off(change)
        result.extend(lines[done:start])
        result.extend(_changed(lines, start, change, added))
        done, drift = start + len(source), start - change.at
    return result + lines[done:]


def _too_far_off(change: Change) -> PatchConflictError:
    return PatchConflictError(
        f"Too many hunks up to hunk {change.number} are not at the lines they say.",
        hint="Read the file again and make the diff anew.",
        details={"hunk": change.number},
    )


def _changed(lines: list[str], start: int, change: Change, added: Callable[[str], str]) -> list[str]:
    changed, position = [], start
    for sign, line in change.lines:
        if sign == "+":
            changed.append(added(line))
        else:
            if sign == " ":
                changed.append(lines[position])
            position += 1
    return changed


def _place(keys: list[str], source: list[str], change: Change, done: int, drift: int) -> int:
    expected = change.at + drift
    if not source:
        return _place_without_context(keys, change)
    if expected >= done and keys[expected : expected + len(source)] == source:
        return expected
    places = list(_places(keys, source, done))
    if len(places) == 1:
        return places[0]
    raise _misfit(keys, source, change, places)


def _place_without_context(keys: list[str], change: Change) -> int:
    if not keys:
        return 0
    raise PatchConflictError(
        f"Hunk {change.number} has no context, so nothing shows where it belongs.",
        hint="Give each hunk a few unchanged lines, or use an edit that appends.",
        details={"hunk": change.number},
    )


def _places(keys: list[str], source: list[str], start: int) -> Iterator[int]:
    """Find every place by Knuth, Morris and Pratt: lines that are all alike must not take forever."""
    borders = _borders(source)
    matched = 0
    for position in range(start, len(keys)):
        while matched and (matched == len(source) or keys[position] != source[matched]):
            matched = borders[matched - 1]
        matched += keys[position] == source[matched]
        if matched == len(source):
            yield position + 1 - matched


def _borders(source: list[str]) -> list[int]:
    """For each beginning of the lines tell how many of its last lines are its first ones too."""
    borders = [0]
    for line in source[1:]:
        matched = borders[-1]
        while matched and line != source[matched]:
            matched = borders[matched - 1]
        borders.append(matched + (line == source[matched]))
    return borders


def _misfit(keys: list[str], source: list[str], change: Change, places: list[int]) -> PatchConflictError:
    if places:
        numbers = [place + 1 for place in places]
        return PatchConflictError(
            f"Hunk {change.number} is not at line {change.at + 1} and fits in {len(places)} other places.",
            hint="Give more context, so that the place is the only one.",
            details={"hunk": change.number, "lines": numbers[:20]},
        )
    line, nearest = _nearest(keys, source)
    return PatchConflictError(
        f"Hunk {change.number} matches nowhere. Nearest, from line {line}: {nearest!r}.",
        hint="Read the file again: context and removed lines must match exactly.",
        details={
            "hunk": change.number,
            "nearestLine": line,
            "nearest": nearest,
            "wanted": shown("".join(source), _SHOWN_CHARACTERS_MAX),
        },
    )


def _nearest(keys: list[str], source: list[str]) -> tuple[int, str]:
    """Find the stretch that has most of its words in common with what was looked for."""
    wanted = [set(line.split()) for line in source[:_NEAREST_LIMIT_SOURCE]]
    words = [set(line.split()) for line in keys[:_NEAREST_LIMIT_LINES]]
    scores = [_words_in_common(words, start, wanted) for start in range(len(words))]
    best = max(range(len(scores)), key=lambda start: scores[start], default=0)
    nearest = "\n".join(without_line_end(line) for line in keys[best : best + len(source)])
    return best + 1, shown(nearest, _SHOWN_CHARACTERS_MAX)


def _words_in_common(words: list[set[str]], start: int, wanted: list[set[str]]) -> int:
    stretch = words[start : start + len(wanted)]
    return sum(len(have & want) for have, want in zip(stretch, wanted, strict=False))
