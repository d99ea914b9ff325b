"""Applies the fixes of the rules until nothing fixable is left."""

from collections.abc import Iterator

from markdown_it.token import Token

from garden.grammar.blocks import block_tokens
from garden.grammar.document import Document
from garden.grammar.kinds.declaration import Kind
from garden.grammar.lines import with_newlines
from garden.grammar.parser import parse
from garden.lint.catalogue import CATALOGUE
from garden.lint.checked_section import check_sections, section_contexts
from garden.lint.declarations import Declarations, declarations_of
from garden.lint.document_context import NOTHING, DocumentContext
from garden.lint.finding import TextReplacement
from garden.lint.rule import DocumentRule, Rule

# A fix may leave work for an earlier rule, such as blank lines in place of white space.
_MAX_ROUNDS = 4


def fix(document: Document, kind: Kind | None = None) -> str:
    """Return the document's text with every fixable finding fixed and everything else unchanged.

    Of anchors, frontmatter, code and HTML blocks only the line ends may change. Fixing twice is the same as
    fixing once.
    """
    for _ in range(_MAX_ROUNDS):
        fixed = _fix_once(document, kind)
        if fixed is document:
            break
        document = fixed
    return document.text


def _fix_once(document: Document, kind: Kind | None) -> Document:
    declarations = declarations_of(kind)
    for rule in CATALOGUE:
        if rule.fixable and not rule.id.startswith(declarations.skips):
            document = _apply_rule(document, declarations, rule)
    return document


def _apply_rule(document: Document, declarations: Declarations, rule: Rule) -> Document:
    replacements = list(_fixes(document, declarations, rule))
    text = _replace_spans(document.text, replacements)
    if text == document.text:
        return document
    fixed = parse(text)
    # A fix that would change what the text means is dropped.
    return fixed if _essence(fixed) == _essence(document) else document


def _fixes(document: Document, declarations: Declarations, rule: Rule) -> Iterator[TextReplacement]:
    if isinstance(rule, DocumentRule):
        facts = [each.facts for each in check_sections(document, declarations)]
        hits = rule.check(DocumentContext(document, declarations, NOTHING, None, facts))
        yield from (fix for hit in hits for fix in hit.fixes)
        return
    for start, section in zip(document.starts, section_contexts(document, declarations), strict=False):
        for hit in rule.check(section):
            yield from (TextReplacement(span.moved(start), text) for span, text in hit.fixes)


def _replace_spans(text: str, replacements: list[TextReplacement]) -> str:
    """Apply replacements that do not overlap."""
    return "".join(_pieces(text, sorted(replacements)))


def _pieces(text: str, replacements: list[TextReplacement]) -> Iterator[str]:
    position = 0
    for span, new in replacements:
        yield text[position : span.start]
        yield new
        position = span.end
    yield text[position:]


def _essence(document: Document) -> tuple[object, ...]:
    """What no fix may change: identity, anchors, heading levels, code and HTML."""
    frontmatter = with_newlines(document.frontmatter.raw, "\n") if document.frontmatter else None
    anchors = [section.anchor for section in document.sections]
    levels = [heading.level for heading in document.headings]
    blocks = [
        (token.type, token.level, token.hidden, _verbatim_content(token))
        for token in block_tokens(with_newlines(document.text[document.contents[0].head_end :], "\n"))
    ]
    return frontmatter, anchors, levels, blocks


def _verbatim_content(token: Token) -> str:
    if token.type == "html_block":
        return token.content.rstrip()  # white space behind an anchor does not count
    # Code at the end of the text may lack its last line end.
    return token.content.removesuffix("\n") if token.type in ("fence", "code_block") else ""
