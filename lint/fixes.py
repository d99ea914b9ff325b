"""Mending what is mechanical: the cures of the rules, applied until nothing is left to cure."""

from collections.abc import Iterator

from markdown_it.token import Token

from garden.grammar.blocks import block_tokens
from garden.grammar.document import Document
from garden.grammar.kinds.declaration import Kind
from garden.grammar.lines import with_newlines
from garden.grammar.parser import parse
from garden.lint.catalogue import CATALOGUE
from garden.lint.context import Context
from garden.lint.finding import Replacement
from garden.lint.rule import Rule

# A cure may leave work for a rule before it, such as blank lines where white space stood.
_MAX_ROUNDS = 4


def fix(document: Document, kind: Kind | None = None) -> str:
    """Give the document's text with every fixable finding mended and everything else as it was.

    Anchors, frontmatter, code and HTML blocks stay; only their lines may come to end like the others.
    Mending twice is mending once.
    """
    for _ in range(_MAX_ROUNDS):
        mended = _round(document, kind)
        if mended is document:
            break
        document = mended
    return document.text


def _round(document: Document, kind: Kind | None) -> Document:
    for rule in CATALOGUE:
        if rule.fixable:
            document = _mended(document, kind, rule)
    return document


def _mended(document: Document, kind: Kind | None, rule: Rule) -> Document:
    cures = [cure for hit in rule.check(Context(document, kind)) for cure in hit.cures]
    text = spliced(document.text, cures)
    if text == document.text:
        return document
    mended = parse(text)
    # The last word against a cure that would change what the text means: then it stays as it is.
    return mended if _essence(mended) == _essence(document) else document


def spliced(text: str, replacements: list[Replacement]) -> str:
    """Put replacements, which don't overlap, into a text."""
    return "".join(_pieces(text, sorted(replacements)))


def _pieces(text: str, replacements: list[Replacement]) -> Iterator[str]:
    position = 0
    for span, put in replacements:
        yield text[position : span.start]
        yield put
        position = span.end
    yield text[position:]


def _essence(document: Document) -> tuple[object, ...]:
    """What no cure may change: identity, anchors, the headings' levels, code and HTML."""
    frontmatter = with_newlines(document.frontmatter.raw, "\n") if document.frontmatter else None
    anchors = [section.anchor for section in document.sections]
    levels = [heading.level for heading in document.headings]
    start = Context(document).body_start
    blocks = [
        (token.type, token.level, token.hidden, _verbatim_content(token))
        for token in block_tokens(with_newlines(document.text[start:], "\n"))
    ]
    return frontmatter, anchors, levels, blocks


def _verbatim_content(token: Token) -> str:
    if token.type == "html_block":
        return token.content.rstrip()  # the white space behind an anchor is no part of it
    # Where code ends with the text, neither is the last line end.
    return token.content.removesuffix("\n") if token.type in ("fence", "code_block") else ""
