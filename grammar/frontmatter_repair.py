"""Repairs frontmatter: a block that is missing or unreadable, and identity keys that are wrong.

Other keys stay byte for byte if the block can be read, at least after its fence is put back. Otherwise the
block of the last good version replaces it.
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
    "The frontmatter could not be read and was replaced by that of the last good version; the event log "
    "keeps the unreadable block."
)

_ABSENT = object()
_FENCE = "---"
_FENCE_LINE = re.compile(r"---[ \t]*\n")
_BLANKS = re.compile(r"[\s\ufeff]*")
_KEY_LINE = re.compile(r"""["']?[A-Za-z_][\w.-]*["']?[ \t]*:(?:[ \t]|\Z)|- |[ \t]+\S""")
_HEADING_LINE = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")


class RepairStep(NamedTuple):
    """A text, what was put back into it, and warnings for the caller."""

    text: str
    repairs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def repair_frontmatter(text: str, good: Document, identity: Mapping[str, object]) -> RepairStep:
    """Put back the frontmatter of the last good version as far as needed; `identity` overrides its keys."""
    if good.frontmatter is None:
        return RepairStep(text)
    block = _repair_block(text, good, good.frontmatter)
    keys = _repair_identity(block.text, good, identity)
    return RepairStep(keys.text, block.repairs + keys.repairs, block.warnings)


def _repair_block(text: str, good: Document, front: Frontmatter) -> RepairStep:
    now = parse(text)
    if now.frontmatter is not None and not now.malformed:
        return RepairStep(text)
    if now.frontmatter is not None and not now.frontmatter.faults:
        raise NotRepairableError(
            "A second block of frontmatter is below the first, and it is not clear which one is right.",
            hint="Remove one of the two blocks with an editor, or restore an earlier version.",
        )
    for candidate in _candidates_with_fences(text, good):
        if _has_identity(candidate):
            return RepairStep(candidate, ("the lines around the frontmatter",))
    return _replace_block(text, good, front)


def _candidates_with_fences(text: str, good: Document) -> Iterator[str]:
    """Yield candidates for the text before a fence was lost or text was put above the first one."""
    newline = newline_of(text)
    mark, body = _split_mark(text)
    yield mark + body[_end_of(_BLANKS, body) :]
    yield mark + _FENCE + newline + body
    if _FENCE_LINE.match(flat(body)):
        end = _end_of_keys(body, good)
        yield mark + body[:end] + _FENCE + newline + body[end:]


def _has_identity(text: str) -> bool:
    document = parse(text)
    return not document.malformed and any(key in document.values for key in IDENTITY_KEYS)


def _replace_block(text: str, good: Document, front: Frontmatter) -> RepairStep:
    newline = newline_of(text)
    mark, body = _split_mark(text)
    end = _end_of_broken_block(body, good)
    block = with_newlines(front.span.of(good.text), newline)
    if not block.endswith(("\n", "\r")):
        block += newline
    rest = body[end:]
    gap = newline if not end and rest and not rest.startswith(("\n", "\r")) else ""
    warnings = (BLOCK_REPLACED,) if end else ()
    return RepairStep(mark + block + gap + rest, ("the frontmatter",), warnings)


def _end_of_broken_block(body: str, good: Document) -> int:
    """Return the end of the remains of the block; they must not include words of the body."""
    now = parse(body)
    if now.frontmatter is None:
        return _end_of_keys(body, good) if _FENCE_LINE.match(flat(body)) else 0
    lines = split_any_lines(body[: now.frontmatter.span.end])[1:-1]
    if any(_is_body_line(line, good) for line in lines):
        return _end_of_keys(body, good)
    return now.frontmatter.span.end


def _end_of_keys(body: str, good: Document) -> int:
    """Return the end of the lines below an opening fence that look like keys."""
    opening, *lines = split_any_lines(body)
    end = len(opening)
    for line in lines:
        if not _KEY_LINE.match(line.rstrip("\r\n")) or _is_body_line(line, good):
            break
        end += len(line)
    return end


def _is_body_line(line: str, good: Document) -> bool:
    words = line.strip()
    raw = good.frontmatter.raw if good.frontmatter else ""
    if words in {each.strip() for each in split_any_lines(raw)}:
        return False
    below = good.text[good.frontmatter.span.end :] if good.frontmatter else good.text
    is_known = bool(words) and words in {each.strip() for each in split_any_lines(below)}
    return is_known or "@anchor" in line or _HEADING_LINE.match(line.rstrip("\r\n")) is not None


def _repair_identity(text: str, good: Document, identity: Mapping[str, object]) -> RepairStep:
    now = parse(text)
    wanted = _wanted(good, now, identity)
    wrong = [key for key, value in wanted.items() if not _same(now.values.get(key, _ABSENT), value)]
    if not wrong or now.frontmatter is None:
        return RepairStep(text)
    raw = now.frontmatter.raw
    for key in wrong:
        raw = _put_key(raw, key, wanted[key], good, now.newline)
    start = _end_of(_FENCE_LINE, flat(text), now.frontmatter.span.start)
    repaired = text[:start] + raw + text[start + len(now.frontmatter.raw) :]
    _check_keys(now, parse(repaired), wanted)
    return RepairStep(repaired, tuple(f"the identity key '{key}'" for key in wrong))


def _wanted(good: Document, now: Document, identity: Mapping[str, object]) -> dict[str, object]:
    """Return the identity values to put back: those of the path, else those of the good version."""
    named = [key for key in IDENTITY_KEYS if key in good.values or (key in identity and key in now.values)]
    return {key: identity[key] if key in identity else good.values[key] for key in named}


def _check_keys(before: Document, after: Document, wanted: Mapping[str, object]) -> None:
    others = {key: value for key, value in before.values.items() if key not in wanted}
    if after.malformed or not _same(after.values, {**others, **wanted}):
        raise NotRepairableError(
            "The frontmatter is written in a form in which no single key can be put back.",
            hint="Write its keys with an editor, one on each line, or restore an earlier version.",
            details={"keys": sorted(wanted)},
        )


def _put_key(raw: str, key: str, value: object, good: Document, newline: str) -> str:
    """Put one key's value back; a comment on its line stays."""
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
    """Format a value with its colon, as the last good version wrote it if the value is the same."""
    if good.frontmatter is not None and key in good.values and _same(good.values[key], value):
        span = dict(_places(good.frontmatter.raw))[key][1]
        return span.of(good.frontmatter.raw)
    return f": {yaml.safe_dump(value, default_style=None).splitlines()[0]}"


def _places(raw: str) -> Iterator[tuple[str, tuple[Span, Span]]]:
    """Yield each key with its span and the span of its colon and value."""
    # The C reader counts wide characters differently.
    root = yaml.compose(raw, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else []:
        start, end = key.start_mark.index, key.end_mark.index
        yield key.value, (Span(start, end), Span(end, max(end, _end_of_node(value))))


def _end_of_node(node: yaml.Node) -> int:
    """Return the end of a value's last scalar; YAML's own end mark may be lines below."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of_node(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _same(one: object, other: object) -> bool:
    """Compare values; 1, 1.0 and true are different."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


def _split_mark(text: str) -> tuple[str, str]:
    return (BOM, text[len(BOM) :]) if text.startswith(BOM) else ("", text)


def _end_of(pattern: re.Pattern[str], text: str, start: int = 0) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start
