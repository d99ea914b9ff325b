"""Putting frontmatter back: the block where it is gone or can't be read, its keys where they are wrong.

The other keys stay byte for byte for as long as the block can be read, or can be made readable with its fence
alone. Otherwise the block of the last good version takes its place.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from garden.grammar.document import Document
from garden.grammar.frontmatter_block import IDENTITY_KEYS
from garden.grammar.lines import flat, newline_of, split_any_lines, with_newlines
from garden.grammar.parser import BOM, parse
from garden.grammar.refusals import NotRepairableError
from garden.grammar.values import Frontmatter, Span

BLOCK_REPLACED = (
    "The frontmatter could not be read, and that of the last good version stands in its place; as it was, it "
    "stands in the account."
)

_ABSENT = object()
_FENCE = "---"
_FENCE_LINE = re.compile(r"---[ \t]*\n")
_BLANKS = re.compile(r"[\s\ufeff]*")
_KEY_LINE = re.compile(r"""["']?[A-Za-z_][\w.-]*["']?[ \t]*:(?:[ \t]|\Z)|- |[ \t]+\S""")
_HEADING_LINE = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")


class Mended(NamedTuple):
    """A text, what was put back into it, and what its reader should know."""

    text: str
    mended: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def with_frontmatter(text: str, good: Document, identity: Mapping[str, object]) -> Mended:
    """Give a text a block that says whose it is, as the last good version does; `identity` must hold."""
    if good.frontmatter is None:
        return Mended(text)
    block = _with_block(text, good, good.frontmatter)
    keys = _with_identity(block.text, good, identity)
    return Mended(keys.text, block.mended + keys.mended, block.warnings)


def _with_block(text: str, good: Document, front: Frontmatter) -> Mended:
    now = parse(text)
    if now.frontmatter is not None and not now.malformed:
        return Mended(text)
    if now.frontmatter is not None and not now.frontmatter.faults:
        raise NotRepairableError(
            "A second block of frontmatter stands below the first, and which of them counts can't be told.",
            hint="Take one of the two blocks out with an editor, or restore an earlier version.",
        )
    for candidate in _with_fences(text, good):
        if _names_somebody(candidate):
            return Mended(candidate, ("the lines around the frontmatter",))
    return _replaced(text, good, front)


def _with_fences(text: str, good: Document) -> Iterator[str]:
    """What the text may have been before a fence was lost, or something got above the first one."""
    newline = newline_of(text)
    mark, body = _without_mark(text)
    yield mark + body[_end_of(_BLANKS, body) :]
    yield mark + _FENCE + newline + body
    if _FENCE_LINE.match(flat(body)):
        end = _end_of_keys(body, good)
        yield mark + body[:end] + _FENCE + newline + body[end:]


def _names_somebody(text: str) -> bool:
    document = parse(text)
    return not document.malformed and any(key in document.values for key in IDENTITY_KEYS)


def _replaced(text: str, good: Document, front: Frontmatter) -> Mended:
    newline = newline_of(text)
    mark, body = _without_mark(text)
    end = _end_of_broken_block(body, good)
    block = with_newlines(front.span.of(good.text), newline)
    if not block.endswith(("\n", "\r")):
        block += newline
    rest = body[end:]
    gap = newline if not end and rest and not rest.startswith(("\n", "\r")) else ""
    warnings = (BLOCK_REPLACED,) if end else ()
    return Mended(mark + block + gap + rest, ("the frontmatter",), warnings)


def _end_of_broken_block(body: str, good: Document) -> int:
    """Tell how much at the top is what is left of the block; none of it may be the document's own words."""
    now = parse(body)
    if now.frontmatter is None:
        return _end_of_keys(body, good) if _FENCE_LINE.match(flat(body)) else 0
    lines = split_any_lines(body[: now.frontmatter.span.end])[1:-1]
    if any(_is_of_the_body(line, good) for line in lines):
        return _end_of_keys(body, good)
    return now.frontmatter.span.end


def _end_of_keys(body: str, good: Document) -> int:
    """Tell where the keys end below an opening fence, by the look of their lines."""
    opening, *lines = split_any_lines(body)
    end = len(opening)
    for line in lines:
        if not _KEY_LINE.match(line.rstrip("\r\n")) or _is_of_the_body(line, good):
            break
        end += len(line)
    return end


def _is_of_the_body(line: str, good: Document) -> bool:
    words = line.strip()
    raw = good.frontmatter.raw if good.frontmatter else ""
    if words in {each.strip() for each in split_any_lines(raw)}:
        return False
    below = good.text[good.frontmatter.span.end :] if good.frontmatter else good.text
    is_known = bool(words) and words in {each.strip() for each in split_any_lines(below)}
    return is_known or "@anchor" in line or _HEADING_LINE.match(line.rstrip("\r\n")) is not None


def _with_identity(text: str, good: Document, identity: Mapping[str, object]) -> Mended:
    now = parse(text)
    wanted = _wanted(good, now, identity)
    wrong = [key for key, value in wanted.items() if not _same(now.values.get(key, _ABSENT), value)]
    if not wrong or now.frontmatter is None:
        return Mended(text)
    raw = now.frontmatter.raw
    for key in wrong:
        raw = _with_key(raw, key, wanted[key], good, now.newline)
    start = _end_of(_FENCE_LINE, flat(text), now.frontmatter.span.start)
    mended = text[:start] + raw + text[start + len(now.frontmatter.raw) :]
    _check_keys(now, parse(mended), wanted)
    return Mended(mended, tuple(f"the identity key '{key}'" for key in wrong))


def _wanted(good: Document, now: Document, identity: Mapping[str, object]) -> dict[str, object]:
    """Give the values that must stand: what the path says comes before what once stood there."""
    named = [key for key in IDENTITY_KEYS if key in good.values or (key in identity and key in now.values)]
    return {key: identity[key] if key in identity else good.values[key] for key in named}


def _check_keys(before: Document, after: Document, wanted: Mapping[str, object]) -> None:
    others = {key: value for key, value in before.values.items() if key not in wanted}
    if after.malformed or not _same(after.values, {**others, **wanted}):
        raise NotRepairableError(
            "The frontmatter is written in a way in which no single key can be put back.",
            hint="Write its keys with an editor, one on a line, or restore an earlier version.",
            details={"keys": sorted(wanted)},
        )


def _with_key(raw: str, key: str, value: object, good: Document, newline: str) -> str:
    """Put one key's value back; what is on its line besides stays."""
    source = with_newlines(_source(key, value, good), newline)
    places = dict(_places(raw))
    if key in places:
        _, (start, end) = places[key]
        return raw[:start] + source + raw[end:]
    line = f"{key}{source}{newline}"
    above = [places[each][1].end for each in _keys_before(key, good) if each in places]
    if not above:
        return line + raw
    position = flat(raw).find("\n", max(above)) + 1 or len(raw)
    gap = "" if raw[:position].endswith(("\n", "\r")) else newline
    return raw[:position] + gap + line + raw[position:]


def _keys_before(key: str, good: Document) -> list[str]:
    keys = list(good.values)
    return keys[: keys.index(key)] if key in keys else []


def _source(key: str, value: object, good: Document) -> str:
    """Write a value with its colon, as the last good version wrote it where it is the same."""
    if good.frontmatter is not None and key in good.values and _same(good.values[key], value):
        span = dict(_places(good.frontmatter.raw))[key][1]
        return span.of(good.frontmatter.raw)
    return f": {yaml.safe_dump(value, default_style=None).splitlines()[0]}"


def _places(raw: str) -> Iterator[tuple[str, tuple[Span, Span]]]:
    """Say for each key where it stands, and where its colon and its value do."""
    # The reader in C counts otherwise where characters are wide.
    root = yaml.compose(raw, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else []:
        start, end = key.start_mark.index, key.end_mark.index
        yield key.value, (Span(start, end), Span(end, max(end, _end_of_node(value))))


def _end_of_node(node: yaml.Node) -> int:
    """Tell where a value's last words end; what YAML takes for its end may be lines below."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of_node(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _same(one: object, other: object) -> bool:
    """Compare values without taking 1, 1.0 and true for one another."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


def _without_mark(text: str) -> tuple[str, str]:
    return (BOM, text[len(BOM) :]) if text.startswith(BOM) else ("", text)


def _end_of(pattern: re.Pattern[str], text: str, start: int = 0) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start
