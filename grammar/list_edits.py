"""Curates a section's list: adds, removes and merges whole items with everything nested in them.

After every operation the result is parsed again and must hold exactly the expected items.
"""

import re
from collections.abc import Sequence

from garden.grammar.body import layout_of
from garden.grammar.document import Document, Section
from garden.grammar.edits import AppendItem, ListOp, MergeItems, PruneItem
from garden.grammar.item_match import find_item, listing
from garden.grammar.items import find_items
from garden.grammar.lines import flat, with_newlines
from garden.grammar.refusals import InvalidInputError, PatchConflictError
from garden.grammar.section_edits import join_below, new_body
from garden.grammar.text_checks import refuse_anchor, refuse_empty, refuse_structure
from garden.grammar.values import ListItem

# Each operation parses the list again.
OPS_MAX = 100
_ITEM_START = re.compile(r" {0,3}(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t\r\n]|\Z)")
_BULLET = re.compile(r"\A[-+*][ \t]+(?=\S)")


def curate_list(document: Document, section: Section, ops: Sequence[ListOp]) -> str:
    """Return a section's body after these operations on its list, in order."""
    if not ops:
        raise InvalidInputError("There is nothing to do.", hint="Give at least one operation.")
    if len(ops) > OPS_MAX:
        raise InvalidInputError(
            f"{len(ops)} operations are too many for one edit; the limit is {OPS_MAX}.",
            hint="Split them into several edits, or replace the section.",
        )
    words = section.layout.words
    for op in ops:
        words = _apply_op(words, op, document.newline)
    refuse_structure(words)
    return new_body(document, section, words)


def _apply_op(words: str, op: ListOp, newline: str) -> str:
    match op:
        case AppendItem():
            return _append(words, op, newline)
        case PruneItem():
            return _prune(words, op)
        case MergeItems():
            return _merge(words, op, newline)


def _append(words: str, op: AppendItem, newline: str) -> str:
    text = _item_text(op.text)
    items = find_items(words, 0, 1)
    raw = _item_source(_next_marker(items), text, newline)
    end = len(words[: items[-1].span.end].rstrip(" \t\r\n")) if items else len(words)
    result = join_below(words[:end], raw, newline) + words[end:]
    return _verify_items(result, [*_texts(items), text], "can't be written as one list item there")


def _prune(words: str, op: PruneItem) -> str:
    items = find_items(words, 0, 1)
    return _remove_items(words, items, {find_item(items, op.match)})


def _merge(words: str, op: MergeItems, newline: str) -> str:
    items = find_items(words, 0, 1)
    into = find_item(items, op.into)
    sources = [find_item(items, source) for source in op.sources]
    if not sources or into in sources or len(set(sources)) != len(sources):
        raise InvalidInputError(
            "A merge needs one item to merge into and at least one other, each named once.",
            hint="Name the item that stays as `into` and at least one other item as a source.",
            details={"items": listing(items)},
        )
    chosen = [items[into].text, *(items[source].text for source in sources)]
    text = _item_text(op.text) if op.text is not None else _tidy(_join_items(chosen))
    span = items[into].span
    raw = _item_source(items[into].marker, text, newline)
    old = words[span.start : span.end]
    rewritten = words[: span.start] + raw + old[len(old.rstrip(" \t\r\n")) :] + words[span.end :]
    expected = _texts(items)
    expected[into] = text
    _verify_items(rewritten, expected, "can't be written as one list item there")
    return _remove_items(rewritten, find_items(rewritten, 0, 1), set(sources))


def _join_items(texts: Sequence[str]) -> str:
    """Join items without losing a word: the first lines become one, nested lines follow below."""
    firsts, nested = [], []
    for text in texts:
        first, _, rest = text.partition("\n")
        firsts.append(first.strip())
        nested.append(rest)
    return "\n".join(["; ".join(firsts), *(rest for rest in nested if rest)])


def _remove_items(words: str, items: Sequence[ListItem], gone: set[int]) -> str:
    result = words
    for position in sorted(gone, reverse=True):
        result = _cut(result, items[position])
    kept = [text for position, text in enumerate(_texts(items)) if position not in gone]
    return _verify_items(result[: len(result.rstrip(" \t\r\n"))], kept, "can't be removed alone")


def _cut(words: str, item: ListItem) -> str:
    """Cut an item out with the blank lines after it; those before it become the new gap."""
    above, layout = words[: item.span.start], layout_of(words[item.span.end :])
    if not layout.words:
        return above
    # Without blank lines before it, words outside the list would run together; keep those after it.
    gap = "" if _ends_blank(above) or _ITEM_START.match(layout.words) else layout.lead
    return above + gap + layout.words + layout.trail


def _ends_blank(above: str) -> bool:
    return not flat(above)[:-1].rpartition("\n")[2].strip(" \t")


def _item_text(text: str) -> str:
    refuse_empty(text, "The item")
    return _tidy(_BULLET.sub("", flat(text).strip(" \t\n"), count=1))


def _tidy(text: str) -> str:
    refuse_anchor(text)
    return "\n".join(line.rstrip(" \t") for line in text.split("\n")).strip("\n")


def _item_source(marker: str, text: str, newline: str) -> str:
    indent = " " * (len(marker) + 1)
    first, *rest = text.split("\n")
    lines = [f"{marker} {first}", *(indent + line if line else "" for line in rest)]
    return with_newlines("\n".join(lines), newline)


def _next_marker(items: Sequence[ListItem]) -> str:
    last = items[-1].marker if items else "-"
    return f"{int(last[:-1]) + 1}{last[-1]}" if last[0].isdigit() else last


def _texts(items: Sequence[ListItem]) -> list[str]:
    return [item.text for item in items]


def _verify_items(words: str, expected: Sequence[str], complaint: str) -> str:
    found = _texts(find_items(words, 0, 1))
    if found != list(expected):
        raise PatchConflictError(
            f"An item {complaint}: the list would read differently than intended.",
            hint="Reword the item, or replace the whole section.",
            details={"expected": list(expected), "found": found},
        )
    return words
