"""Properties that hold for every text."""

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from garden.grammar.canonical import canonical
from garden.grammar.document import Document
from garden.grammar.edits import WriteFile
from garden.grammar.guards import check_edit
from garden.grammar.kinds.declaration import Kind
from garden.grammar.parser import parse
from garden.lint.comparison import compare
from garden.lint.finding import Finding
from garden.lint.fixes import fix
from garden.lint.linter import lint
from tests.lint.cases import KINDS
from tests.lint.texts import texts

MARKDOWN = MarkdownIt("commonmark")
IDENTITY = {"id": "tea", "user_id": "sample-user"}

kinds = st.sampled_from([None, KINDS["card"], KINDS["part_profile"], KINDS["notes"]])


def body(document: Document) -> str:
    frontmatter = document.frontmatter
    text = document.text[frontmatter.span.end :] if frontmatter else document.text.removeprefix("\ufeff")
    return text.encode("utf-8", "replace").decode("utf-8")


def shown(document: Document) -> list[tuple[object, ...]]:
    """The rendered document: blocks, exact code, words and line breaks, without other white space."""
    return [
        (token.type, token.tag, token.level, token.hidden, _content(token))
        for token in MARKDOWN.parse(body(document))
    ]


def _content(token: Token) -> str:
    if token.type == "html_block":
        return token.content.rstrip()
    if token.type != "inline":
        return token.content.removesuffix("\n")
    rendered = MARKDOWN.renderer.render(token.children or [], MARKDOWN.options, {})
    return " ".join(rendered.split())


def in_its_place(finding: Finding, text: str) -> bool:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return 1 <= finding.line <= len(lines) and 1 <= finding.column <= len(lines[finding.line - 1]) + 2


@given(text=texts(), before=st.none() | texts(), kind=kinds)
def test_lint_never_raises_and_points_into_the_text(text: str, before: str | None, kind: Kind | None) -> None:
    previous = parse(before) if before is not None else None
    report = lint(parse(text), kind, identity=IDENTITY, previous=previous)
    places = [(finding.line, finding.column) for finding in report.findings]
    assert places == sorted(places)
    assert all(in_its_place(finding, text) for finding in report.findings)
    assert len({finding.key for finding in report.findings}) == len(report.findings)


@given(text=st.text(max_size=200), kind=kinds)
def test_lint_and_fix_never_raise_on_arbitrary_text(text: str, kind: Kind | None) -> None:
    lint(parse(text), kind)
    fix(parse(text), kind)


@given(text=texts())
@example("\n```\n  ")
@example("words\n\n```\ncode\n\t")
def test_a_fix_without_a_kind_changes_nothing_that_markdown_shows(text: str) -> None:
    document = parse(text)
    assert shown(parse(fix(document))) == shown(document)


@given(text=texts(), kind=kinds)
def test_a_fix_leaves_nothing_fixable_and_keeps_identity_anchors_and_words(
    text: str, kind: Kind | None
) -> None:
    document = parse(text)
    fixed = parse(fix(document, kind))
    assert not [finding for finding in lint(fixed, kind).findings if finding.fixable]
    assert fix(fixed, kind) == fixed.text
    assert fixed.values == document.values
    assert [section.anchor for section in fixed.sections] == [section.anchor for section in document.sections]
    for before, after in zip(document.sections, fixed.sections, strict=True):
        assert canonical(after.body).split() == canonical(before.body).split()
    if not document.malformed:
        check_edit(document, fixed, WriteFile(fixed.text), kind)


@given(before=texts(), after=texts(), kind=kinds)
def test_a_comparison_covers_every_finding_of_both_reports(
    before: str, after: str, kind: Kind | None
) -> None:
    old, new = lint(parse(before), kind), lint(parse(after), kind)
    assert compare(old, lint(parse(before), kind)).empty
    comparison = compare(old, new)
    assert set(comparison.worse) <= set(new.findings)
    assert set(comparison.gone) <= set(old.findings)
    assert len(old.findings) - len(comparison.gone) == len(new.findings) - len(comparison.new)
