"""Checks each section once: the result is kept with its content, for as long as that stays the same."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from garden.grammar.document import Document, SectionContent
from garden.lint.catalogue import CATALOGUE
from garden.lint.declarations import Declarations
from garden.lint.rule import Found, SectionRule, first_hits
from garden.lint.section_context import SectionContext
from garden.lint.section_facts import SectionFacts, facts_of
from garden.lint.signs import Signs

SECTION_RULES = tuple(rule for rule in CATALOGUE if isinstance(rule, SectionRule))
_SIGNS = Signs(sign for rule in SECTION_RULES for sign in sorted(rule.signs))


@dataclass(frozen=True, slots=True)
class CheckedSection:
    """What the section rules found in a section, in order, and its facts for the document rules.

    `name` is None for text that is in no section. `left_out` counts the findings beyond the limit per rule.
    `below` is what was below it; `underlined` is its heading, if it is of that form.
    """

    name: str | None
    found: tuple[Found, ...]
    left_out: int
    facts: SectionFacts | None
    below: str | None
    underlined: str | None


def check_sections(
    document: Document, declarations: Declarations, rules: Iterable[SectionRule] = SECTION_RULES
) -> list[CheckedSection]:
    """Check every section, but take the result of the usual rules that was kept with its content."""
    if rules is not SECTION_RULES:
        return [_check(section, rules) for section in section_contexts(document, declarations)]
    *contents, last = document.contents
    # No step here makes a call for each section: there can be thousands, of which an edit changes a few.
    for content in [content for content in contents if declarations not in content.kept]:
        _kept(content, declarations, "")
    checked = cast("list[CheckedSection]", [content.kept[declarations] for content in contents])
    checked.append(_kept(last, declarations, None))
    for place, below in [(place, each.underlined) for place, each in enumerate(checked) if each.underlined]:
        checked[place - 1] = _kept(document.contents[place - 1], declarations, below)
    return checked


def _kept(content: SectionContent, declarations: Declarations, below: str | None) -> CheckedSection:
    """Check a section once for all that its findings depend on: its content, its kind and what is below."""
    # Three results at most for a kind: a section above an underlined heading keeps the last.
    key = declarations if below == "" else (declarations, below is None)
    checked = cast("CheckedSection | None", content.kept.get(key))
    if checked is None or checked.below != below:
        checked = content.kept[key] = _check(_context(content, declarations, below), SECTION_RULES)
    return checked


def section_contexts(document: Document, declarations: Declarations) -> list[SectionContext]:
    """Return the context of every section, in order."""
    below = [_underlined(content) or "" for content in document.contents[1:]]
    pairs = zip(document.contents, [*below, None], strict=True)
    return [_context(content, declarations, each) for content, each in pairs]


def _underlined(content: SectionContent) -> str | None:
    has_heading = content.level and content.heading.setext
    return content.text[: content.heading.span.end] if has_heading else None


def _context(content: SectionContent, declarations: Declarations, below: str | None) -> SectionContext:
    signs = _SIGNS.found_in(content.text + below if below else content.text)
    return SectionContext(content, declarations, below, signs)


def _check(section: SectionContext, rules: Iterable[SectionRule]) -> CheckedSection:
    signs, skips = section.signs, section.declarations.skips
    if skips:
        rules = [rule for rule in rules if not rule.id.startswith(skips)]
    hits, left_out = first_hits([rule for rule in rules if not rule.signs or rule.signs & signs], section)
    ordered = sorted([(hit.offset, rule.id, number, rule, hit) for number, (rule, hit) in enumerate(hits)])
    return CheckedSection(
        section.name,
        tuple([(offset, rule, hit) for offset, _, _, rule, hit in ordered]),
        left_out,
        facts_of(section),
        section.below,
        _underlined(section.content),
    )
