"""Finds and reads the frontmatter block, and rejects YAML that readers may disagree about.

The block holds the identity of the document, so ambiguous YAML is a fault: a repeated key, an alias, a tag, a
merge or a tab can mean different things to different readers.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import yaml
from frontmatter.default_handlers import YAMLHandler

from garden.grammar.lines import with_newlines
from garden.grammar.values import Frontmatter, Span

IDENTITY_KEYS = ("id", "user_id", "schema", "participants")

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^---[ \t]*$\n?", re.MULTILINE)
_STRAY_OPENING = re.compile(r"[\s\ufeff]*-{3,}[^\S\n]*\n")
_STRAY_CLOSING = re.compile(r"^(?:-{3,}|\.{3})[^\S\n]*$", re.MULTILINE)
_IDENTITY_LINE = re.compile(
    rf"""(?:^|[{{,?])[^\S\n]*["']?(?:{"|".join(IDENTITY_KEYS)})["']?[^\S\n]*:""", re.MULTILINE
)
_LOOKS_LIKE_AN_END = re.compile(r"^-{3,}[^\S\n]*$", re.MULTILINE)
_ODD_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Words for true and false, and numbers in any form but plain decimal.
_AMBIGUOUS = re.compile(
    r"y|n|yes|no|on|off|(?!-?(?:0|[1-9][0-9]*)\Z)[-+.]{0,2}[0-9][0-9a-fox_.:+-]*", re.IGNORECASE
)
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 40
_BASE_SIXTY = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_MAX_NUMBER_LENGTH = 100
# The same block is read before and after each edit, so small blocks are cached.
_CACHED_CHARACTERS_MAX = 4096
_EMPTY: Mapping[str, object] = MappingProxyType({})


def find_frontmatter(text: str, flat_text: str, start: int) -> Frontmatter | None:
    """Find the block that begins at `start`; `flat_text` is the text after `flat`."""
    opening = _OPENING.match(flat_text, start)
    closing = opening and _CLOSING.search(flat_text, opening.end())
    if not opening or not closing:
        return None
    raw = text[opening.end() : closing.start()]
    values, faults = read_yaml(with_newlines(raw, "\n"))
    return Frontmatter(raw, Span(start, closing.end()), values, faults)


def opens_without_closing(text: str, start: int) -> bool:
    """Whether a block opens at `start`; for texts in which `find_frontmatter` found none."""
    return _OPENING.match(text, start) is not None


def may_open_second_block(text: str, start: int) -> bool:
    """Whether another block begins here, which a line further down may close."""
    return _STRAY_OPENING.match(text, start) is not None


def find_second_block(text: str, start: int) -> Span | None:
    """Find another block with identity keys that other readers would take for frontmatter."""
    opening = _STRAY_OPENING.match(text, start)
    closing = opening and _STRAY_CLOSING.search(text, opening.end())
    if not opening or not closing:
        return None
    raw = text[opening.end() : closing.start()]
    return Span(opening.start(), closing.end()) if _names_identity(raw) else None


def _names_identity(raw: str) -> bool:
    return _IDENTITY_LINE.search(raw) is not None or any(key in IDENTITY_KEYS for key in _keys(raw))


def _keys(raw: str) -> Iterator[str]:
    """Yield the keys that YAML finds, in any spelling, up to the first fault."""
    walk = _KeyWalk()
    try:
        for event in yaml.parse(raw, Loader=_LOADER):
            if walk.at_key and isinstance(event, yaml.ScalarEvent):
                yield event.value
            walk.advance(event)
            if len(walk.open) > _MAX_DEPTH:
                return
    except (yaml.YAMLError, ValueError, RecursionError):
        return


def read_yaml(raw: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
    """Read a block's values; if anything is doubtful, return no values and the doubts."""
    return _cached_read(raw) if len(raw) <= _CACHED_CHARACTERS_MAX else _read(raw)


def _read(raw: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
    faults = tuple(dict.fromkeys(_doubts(raw)))
    if faults:
        return _EMPTY, faults
    try:
        values = YAMLHandler().load(raw, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        return _EMPTY, (f"not valid YAML: {_first_line(error)}",)
    return MappingProxyType({key: _freeze(value) for key, value in (values or {}).items()}), ()


_cached_read = lru_cache(maxsize=256)(_read)


def _doubts(raw: str) -> Iterator[str]:
    if any(0xD800 <= ord(character) <= 0xDFFF for character in raw):
        yield "it holds a lone surrogate"
        return
    if "\t" in raw:
        yield "it holds a tab"
    if _ODD_LINE_ENDS.search(raw):
        yield "it holds a line separator that not every reader recognises"
    if raw.startswith("\ufeff"):
        yield "it begins with a byte order mark, which some readers take for a part of the first key"
    if _LOOKS_LIKE_AN_END.search(raw):
        yield "it holds a line of dashes that some readers take for its end"
    if "\0" in raw:
        yield "it holds a NUL"
        return
    try:
        yield from _structure_doubts(yaml.parse(raw, Loader=_LOADER))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        yield f"not valid YAML: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    return f"{str(problem).splitlines()[0] if problem else 'unreadable'}" + (
        f" (line {mark.line + 1} of the block)" if mark else ""
    )


def _structure_doubts(events: Iterator[yaml.Event]) -> Iterator[str]:
    keys, at_first_node = _KeyWalk(), True
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent | yaml.DocumentEndEvent) and event.explicit:
            yield "it holds a YAML document marker of its own"
        if isinstance(event, yaml.NodeEvent):
            if at_first_node and not isinstance(event, yaml.MappingStartEvent):
                yield "it is not a set of keys and values"
            at_first_node = False
            yield from _node_doubts(event)
        yield from keys.doubts(event)
        if len(keys.open) > _MAX_DEPTH:
            # Time grows with the square of the depth.
            yield "it is nested too deeply"
            return


def _node_doubts(event: yaml.NodeEvent) -> Iterator[str]:
    if isinstance(event, yaml.AliasEvent):
        yield f"it holds an alias (*{event.anchor})"
    elif event.anchor:
        yield f"it holds an anchor (&{event.anchor})"
    if isinstance(event, yaml.ScalarEvent) and _is_endless_number(event):
        yield "it holds a number that is too long"
    if getattr(event, "tag", None):
        yield f"it holds a tag ({event.tag})"  # type: ignore[attr-defined]


def _is_endless_number(event: yaml.ScalarEvent) -> bool:
    # Parsing a base-sixty number takes time that grows with the square of its length.
    is_long = not event.style and len(event.value) > _MAX_NUMBER_LENGTH
    return is_long and _BASE_SIXTY.fullmatch(event.value) is not None


class _KeyWalk:
    """Walks YAML events and checks every mapping key."""

    def __init__(self) -> None:
        # One entry per open collection: its keys so far, None for a sequence; and whether a key comes next.
        self.open: list[set[str] | None] = []
        self.key_next: list[bool] = []

    @property
    def at_key(self) -> bool:
        """Whether the next node is a key."""
        return bool(self.open) and self.open[-1] is not None and self.key_next[-1]

    def doubts(self, event: yaml.Event) -> Iterator[str]:
        """Yield what is doubtful about an event that is a key; then advance."""
        keys = self.open[-1] if self.open else None
        if keys is not None and self.key_next[-1] and isinstance(event, yaml.NodeEvent):
            yield from self._key(event, keys)
        self.advance(event)

    def advance(self, event: yaml.Event) -> None:
        """Update the state with an event."""
        if isinstance(event, yaml.CollectionEndEvent):
            self.open.pop()
            self.key_next.pop()
        elif isinstance(event, yaml.NodeEvent):
            if self.key_next:
                self.key_next[-1] = not self.key_next[-1]
            self._descend(event)

    def _key(self, event: yaml.NodeEvent, keys: set[str]) -> Iterator[str]:
        if not isinstance(event, yaml.ScalarEvent) or not _is_string(event):
            yield "it holds a key that is not a string"
        elif event.value in keys:
            yield f"it holds the key {event.value!r} twice"
        elif event.value == "<<":
            yield "it holds a merge key (<<)"
        else:
            keys.add(event.value)

    def _descend(self, event: yaml.NodeEvent) -> None:
        if isinstance(event, yaml.CollectionStartEvent):
            self.open.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
            self.key_next.append(True)


def _is_string(event: yaml.ScalarEvent) -> bool:
    plain, _ = event.implicit
    if not plain or event.style:
        return True
    tag = yaml.resolver.Resolver().resolve(yaml.ScalarNode, event.value, (True, False))  # type: ignore[no-untyped-call]
    return bool(tag == _STRING_TAG)


def ambiguous_scalars(raw: str, key: str) -> tuple[str, ...]:
    """List unquoted scalars in a key's value that YAML 1.1 and YAML 1.2 read differently."""
    root = yaml.compose(raw, Loader=_LOADER)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return tuple(text for name, node in pairs if name.value == key for text in _ambiguous(node))


def _ambiguous(node: yaml.Node) -> Iterator[str]:
    if isinstance(node, yaml.ScalarNode):
        if not node.style and _AMBIGUOUS.fullmatch(node.value):
            yield node.value
        return
    for child in node.value:
        for inner in child if isinstance(child, tuple) else (child,):
            yield from _ambiguous(inner)


_STRING_TAG = "tag:yaml.org,2002:str"


def _freeze(value: object) -> object:
    if isinstance(value, dict):
        return MappingProxyType({key: _freeze(inner) for key, inner in value.items()})
    return tuple(_freeze(inner) for inner in value) if isinstance(value, list) else value
