"""Rolls the Change Log: the oldest lines leave the file, and one line says where they are.

They stay in the events and in the history copy of the version that a write replaces.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from garden.grammar.canonical import canonical
from garden.grammar.document import Section
from garden.grammar.items import item_spans
from garden.grammar.lines import with_newlines
from garden.grammar.section_edits import join_below

LINES_MAX = 200
LINES_ROLLED = 100
# Without it, two hundred long rationales could fill the largest document that tools edit.
CHARACTERS_MAX = 64 * 1024
_ROLL_LINE = re.compile(
    r"- Earlier lines: ([1-9][0-9]{0,8}), in the events of this document and in history/\."
)

_WHOLE_ROLL_LINE = re.compile(rf"^{_ROLL_LINE.pattern}[^\S\n]*$", re.MULTILINE)


class LogWords(NamedTuple):
    """The words of a Change Log: text above the lines, how many lines were rolled, and the lines in full.

    A line is an item of a list with everything up to the next item.
    """

    lead: str
    rolled: int
    lines: tuple[str, ...]

    @property
    def written(self) -> int:
        """How many lines were ever written to the log."""
        return self.rolled + len(self.lines)

    def holds(self, other: "LogWords") -> bool:
        """Whether this log has all words of another one, or rolled them."""
        words = {self.lead.strip(), "", *(line.strip() for line in self.lines)}
        return self.rolled >= other.rolled and {line.strip() for line in (other.lead, *other.lines)} <= words

    def continues(self, earlier: "LogWords") -> bool:
        """Whether these are the earlier words with the oldest lines rolled and with newer lines below."""
        gone = self.rolled - earlier.rolled
        kept = "".join(earlier.lines[max(gone, 0) :])
        return gone >= 0 and self.lead == earlier.lead and "".join(self.lines).startswith(kept)


def roll_line(count: int) -> str:
    """Return the line that stands for the lines that left the file."""
    return f"- Earlier lines: {count}, in the events of this document and in history/."


def is_roll_line(line: str) -> bool:
    """Whether a line is one that stands for lines that left the file."""
    return _ROLL_LINE.fullmatch(line.rstrip()) is not None


def count_roll_lines(body: str) -> int:
    """Count the lines that stand for lines that left the file."""
    return len(_WHOLE_ROLL_LINE.findall(with_newlines(body, "\n")))


def read_log(words: str) -> LogWords:
    """Cut the words of a Change Log into lines."""
    starts = [span.start for span in item_spans(words)]
    lines = tuple(words[start:end] for start, end in pairwise([*starts, len(words)]))
    lead = words[: starts[0]] if starts else words
    match = _ROLL_LINE.fullmatch(lines[0].rstrip()) if lines else None
    return LogWords(lead, int(match[1]), lines[1:]) if match else LogWords(lead, 0, lines)


def is_continued(log: Section, later: Section) -> bool:
    """Whether a later Change Log holds the lines of this one, but for the oldest that were rolled."""
    old, new = (canonical(section.layout.words).rstrip("\n") for section in (log, later))
    return not old or new.startswith(old) or read_log(new).continues(read_log(old))


def may_roll(words: str) -> bool:
    """Whether a Change Log is so long that its oldest lines leave the file."""
    # Counting line ends is a cheap test before counting lines.
    long = words.count("\n") + words.count("\r") >= LINES_MAX and len(read_log(words).lines) > LINES_MAX
    return long or len(words) > CHARACTERS_MAX


def rolled_words(before: str, after: str, newline: str) -> str:
    """Return the words of a log after a write, without the oldest lines if it has become too long.

    A line that the same write added stays, because no event or copy holds it yet.
    """
    if not may_roll(after):
        return after
    log = read_log(after)
    leaving = min(_surplus(log.lines), read_log(before).written - log.rolled)
    if leaving <= 0:
        return after
    kept = "".join(log.lines[leaving:])
    words = log.lead + join_below(roll_line(log.rolled + leaving), kept, newline)
    expected = LogWords(log.lead, log.rolled + leaving, log.lines[leaving:])
    # A log that would read differently stays whole until its next line.
    return words if read_log(words) == expected else after


def _surplus(lines: tuple[str, ...]) -> int:
    kept = min(len(lines), LINES_MAX - LINES_ROLLED + 1)
    while kept > 1 and sum(map(len, lines[-kept:])) > CHARACTERS_MAX // 2:
        kept -= 1
    return len(lines) - kept
