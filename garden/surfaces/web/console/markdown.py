"""Markdown of documents as pages: bounded parts of a text, and their HTML without links, images or raw HTML.

Documents are hostile input. The writer knows a few elements and gives them no attribute of the text; all
words pass `seen`, and addresses are words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from garden.grammar.document import Document
from garden.grammar.lines import flat, split_lines
from garden.grammar.parser import parse
from garden.surfaces.web.console.pages import seen

PART_CHARACTERS = 24_000
PART_LINES = 250
_NESTING_MAX = 40
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TAGS = {
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "blockquote",
    "em": "em",
    "strong": "strong",
}
_NOTHING = Markup()
_PLACE = Markup(
    '<p class="place"><a class="chip" href="#{0}">{1}</a> '
    '<a class="fine" href="{2}{3}">Changes<span class="unseen"> of {1}</span></a></p>'
)
_OWN_IDS = frozenset({"main"})

Mark = Callable[[int, int], Markup]
"""What stands in the margin of the lines from one number up to another."""


class Piece(NamedTuple):
    """A line with its end, or a stretch of a very long one."""

    line: int
    text: str


Part = Sequence[Piece]


def parts_of(text: str) -> list[Part]:
    """Divide a text into parts of a bounded size, at sections or blank lines where possible."""
    pieces = list(_pieces(text))
    parts, start = list[Part](), 0
    while start < len(pieces):
        end = _good_end(pieces, start, _fitting_end(pieces, start))
        parts.append(pieces[start:end])
        start = end
    return parts or [()]


def number_of_part(parts: Sequence[Part], line: int) -> int:
    """The number, from 1, of the part with a line."""
    return next((number for number, part in enumerate(parts, 1) if part and part[-1].line >= line), 1)


def _pieces(text: str) -> Iterator[Piece]:
    for number, line in enumerate(split_lines(text), 1):
        if len(line) <= PART_CHARACTERS:
            yield Piece(number, line)
            continue
        for at in range(0, len(line), PART_CHARACTERS):
            yield Piece(number, line[at : at + PART_CHARACTERS])


def _fitting_end(pieces: Sequence[Piece], start: int) -> int:
    end, size = start + 1, len(pieces[start].text)
    while end < min(len(pieces), start + PART_LINES) and size + len(pieces[end].text) <= PART_CHARACTERS:
        size += len(pieces[end].text)
        end += 1
    return end


def _good_end(pieces: Sequence[Piece], start: int, end: int) -> int:
    if end == len(pieces):
        return end
    later_half = range(end, (start + end) // 2, -1)
    sections = (each for each in later_half if pieces[each].text.startswith("## "))
    blank = (each for each in later_half if not pieces[each - 1].text.strip())
    return next(sections, next(blank, end))


@dataclass(frozen=True)
class Reading:
    """A text to be read: its parts, its frontmatter, and the anchors by the line of their heading."""

    text: str

    @cached_property
    def _document(self) -> Document:
        return parse(flat(self.text))

    @property
    def facts(self) -> dict[str, str]:
        """The frontmatter's values as words."""
        return {str(name): _as_words(value) for name, value in self._document.values.items()}

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of the text."""
        return parts_of(flat(self.text))

    def html(self, part: Part, mark: Mark | None = None, events: str = "") -> Markup:
        """Render a part; `events` begins the addresses of the events of its sections."""
        lines = "".join("\n" if each.line in self._left_out else each.text for each in part)
        first = part[0].line if part else 1
        tokens = _markdown().parse(lines, found := dict[str, Mapping[str, Mapping[str, str]]]())
        # What stands deeper than the parser goes would be missing.
        if any(each.level >= _NESTING_MAX - 1 and each.block for each in tokens):
            return _as_written(lines)
        writer = _Writer(first, self._anchors, mark, events)
        body = Markup("").join(map(writer.block, tokens))
        return body + Markup("").join(_definitions(found.get("references", {})))

    def line_of(self, section: str) -> int:
        """The line of a section; 0 if there is none."""
        return next((line for line, each in self._anchors.items() if each.startswith(f"{section} v")), 0)

    @cached_property
    def _anchors(self) -> Mapping[int, str]:
        return {line: str(each.anchor) for each, _, line in self._document.places() if each.anchor}

    @cached_property
    def _left_out(self) -> frozenset[int]:
        """The lines that the page shows in another way: frontmatter, and anchors."""
        top = self._document.frontmatter
        count = self._document.text.count("\n", 0, top.span.end) if top and top.values else 0
        places = self._document.places()
        anchors = (line + each.head_lines - 1 for each, _, line in places if each.anchor)
        return frozenset(range(1, count + 1)) | frozenset(anchors)


@dataclass
class _Writer:
    """Writes the tokens of one part; knows which ids are given out, and the level of the last heading."""

    first: int
    anchors: Mapping[int, str]
    mark: Mark | None
    events: str
    used: set[str] = field(default_factory=lambda: {*_OWN_IDS})
    level: int = 1
    closing: Markup = _NOTHING

    def block(self, token: Token) -> Markup:
        """Write one token of the block structure."""
        name = token.type.removesuffix("_open").removesuffix("_close")
        if token.type == "inline":
            return _inline(token.children or (), token.content)
        if name == "heading":
            return self._heading(token) if token.nesting > 0 else self.closing
        if name in _TAGS:
            return self._element(token, _TAGS[name])
        if token.type == "hr":
            return Markup("<hr>\n")
        about = Markup('<p class="fine">{}</p>').format(seen(token.info)) if token.info else _NOTHING
        return about + _as_written(token.content, self._id(self._line(token)))

    def _element(self, token: Token, tag: str) -> Markup:
        if token.hidden:
            return _NOTHING
        if token.nesting < 0:
            return Markup("</{}>\n").format(tag)
        has_line = tag in ("p", "li")
        own_id = self._id(self._line(token)) if has_line else _NOTHING
        start = token.attrGet("start") if tag == "ol" else None
        number = Markup(' start="{}"').format(int(start)) if start is not None else _NOTHING
        return Markup("<{}{}{}>{}").format(tag, own_id, number, self._margin(token) if own_id else "")

    def _heading(self, token: Token) -> Markup:
        # Below the page's own heading, and without leaving a level out.
        self.level = min(_HEADINGS[token.tag] + 1, self.level + 1, 6)
        line = self._line(token)
        anchor = self.anchors.get(line)
        target = anchor.rpartition(" v")[0] if anchor else ""
        own_id = self._id(target) if anchor and not _is_line(target) else _NOTHING
        place = _PLACE.format(target, seen(anchor), self.events, quote(anchor or ""))
        self.closing = Markup("</span></h{}>\n{}").format(self.level, place if own_id else "")
        return Markup("<h{}{}><span{}>").format(self.level, own_id, self._id(line))

    def _margin(self, token: Token) -> Markup:
        start, end = token.map or (0, 0)
        line = self.first + start
        link = Markup('<a class="line" href="#L{0}" aria-label="Line {0}">{0}</a> ').format(line)
        return link + (self.mark(line, self.first + end) if self.mark else "")

    def _line(self, token: Token) -> int:
        return self.first + (token.map or [0])[0]

    def _id(self, name: str | int) -> Markup:
        """The attribute with an id; nothing if it was given out before."""
        wanted = f"L{name}" if isinstance(name, int) else name
        if wanted in self.used:
            return _NOTHING
        self.used.add(wanted)
        return Markup(' id="{}"').format(wanted)


def _inline(tokens: Sequence[Token], content: str) -> Markup:
    if not content.strip():
        return Markup('<span class="fine">(no words)</span>')
    written, addresses = list[Markup](), list[str]()
    for token in tokens:
        if token.type == "link_open":
            addresses.append("" if token.info == "auto" else _named(token, "href"))
            written.append(Markup('<span class="reference">'))
        elif token.type == "link_close":
            written.append(_address(addresses.pop()))
        else:
            written.append(_words(token))
    return Markup("").join(written)


def _words(token: Token) -> Markup:
    name = token.type.removesuffix("_open").removesuffix("_close")
    if token.type in ("softbreak", "hardbreak"):
        return Markup("\n") if token.type == "softbreak" else Markup("<br>")
    if token.type == "code_inline":
        return Markup("<code>{}</code>").format(seen(token.content))
    if token.type == "image":
        words, address = seen(token.content or "no words"), _address(_named(token, "src"))
        return Markup('<span class="reference">picture: {}{}').format(words, address)
    if name in _TAGS:
        return Markup("<{}{}>").format("/" if token.nesting < 0 else "", _TAGS[name])
    return seen(token.content)


def _named(token: Token, attribute: str) -> str:
    """The address of a link or picture, with its title."""
    href, title = str(token.attrGet(attribute) or ""), token.attrGet("title")
    return f"{href} “{title}”" if title else href


def _address(words: str) -> Markup:
    """What ends a link or picture: its address as words, unless its words are that already."""
    shown = Markup(' <span class="address">({})</span>').format(seen(words)) if words else ""
    return Markup("{}</span>").format(shown)


def _definitions(references: Mapping[str, Mapping[str, str]]) -> Iterator[Markup]:
    """The addresses that a text defines for its links, which Markdown itself leaves out."""
    for label, found in references.items():
        words = f"[{label}]: {found['href']} {found['title']}"
        yield Markup('<p class="fine">{}</p>\n').format(seen(words))


def _as_written(text: str, own_id: Markup = _NOTHING) -> Markup:
    return Markup('<pre{} tabindex="0">{}</pre>\n').format(own_id, seen(text))


def _is_line(name: str) -> bool:
    return name[:1] == "L" and name[1:].isdecimal()


def _as_words(value: object) -> str:
    words = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return words if len(words) <= 300 else f"{words[:299]}…"


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    """CommonMark as the grammar reads it, with raw HTML as text."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING_MAX})
    markdown.parse("compile the rules *now*, because that is not thread-safe")
    return markdown
