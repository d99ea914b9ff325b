"""Finds the contents of a text with those of an earlier version: only what changed is read again.

A heading in `#` form closes all that is open above it, and how the text from there on is read does not depend
on the text above. So the contents above the one that holds the first change stay as they are; and where the
earlier heading comes again below the change, both texts are read alike up to the next change.
"""

from bisect import bisect_right

from garden.grammar.contents import contents_of, with_other_body
from garden.grammar.document import Document, SectionContent
from garden.grammar.headings import find_headings
from garden.grammar.lines import flat
from garden.grammar.splice import common_prefix

# More changes are too many for it to be worth while.
_CHANGES_MAX = 8
_HEADINGS_TRIED_MAX = 3


def changed_contents(previous: Document, text: str) -> list[SectionContent] | None:
    """Return the contents of a text; None if they don't follow from those of the earlier version."""
    found: list[SectionContent] = []
    # Both texts have the heading of this content here.
    number, place = 0, 0
    for _ in range(_CHANGES_MAX):
        start = previous.starts[number]
        change = start + common_prefix(previous.text, text, start, place)
        if change == len(previous.text) and change - start == len(text) - place:
            return found + list(previous.contents[number:])
        first = _first_to_read(previous, change)
        if first < max(number, 1):
            return None
        found += previous.contents[number:first]
        place += previous.starts[first] - start
        number, place = _read(previous, text, place, first, found)
        if place == len(text):
            return found
    return None


def _first_to_read(previous: Document, change: int) -> int:
    """Return the number of the last content with its `#` heading above a change; 0 if there is none."""
    for number in range(bisect_right(previous.starts, change, hi=len(previous.contents)) - 1, 0, -1):
        content = previous.contents[number]
        end = previous.starts[number] + content.heading.span.end
        # A line feed that comes after a carriage return would belong to the heading.
        is_above = end < change or (end == change and previous.text[end - 1] == "\n")
        if is_above and content.closes_above:
            return number
    return 0


def _read(
    previous: Document, text: str, place: int, first: int, found: list[SectionContent]
) -> tuple[int, int]:
    """Read a text from one place to the next heading that both versions have."""
    old = previous.contents[first]
    for number in range(first + 1, min(first + _HEADINGS_TRIED_MAX, len(previous.contents) - 1) + 1):
        below = previous.contents[number]
        end = text.find(below.text, place + 1)
        if end < 0 or not below.closes_above:
            continue
        content = with_other_body(old, text[place:end], below)
        if content is not None:
            found.append(content)
            return number, end
        part = flat(text[place : end + below.heading.span.end])
        headings = find_headings(part, 0)
        if headings and headings[-1].span.start == end - place:
            found += contents_of(text[place:end], part, headings[:-1])
            return number, end
    content, rest = with_other_body(old, text[place:]), flat(text[place:])
    found += [content] if content else contents_of(text[place:], rest, find_headings(rest, 0))
    return len(previous.contents), len(text)
