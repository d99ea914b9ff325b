"""Lints a document: checks the sections that changed, then the document as a whole."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping

from garden.grammar.document import Document
from garden.grammar.kinds.declaration import Kind
from garden.lint.catalogue import CATALOGUE
from garden.lint.checked_section import SECTION_RULES, check_sections
from garden.lint.declarations import declarations_of
from garden.lint.document_context import NOTHING, DocumentContext
from garden.lint.report import PlacedFound, Report
from garden.lint.rule import (
    MAX_FINDINGS_PER_RULE,
    DocumentRule,
    Found,
    Rule,
    SectionRule,
    first_hits,
)

_DOCUMENT_RULES = tuple(rule for rule in CATALOGUE if isinstance(rule, DocumentRule))


def lint(
    document: Document,
    kind: Kind | None = None,
    *,
    identity: Mapping[str, object] = NOTHING,
    previous: Document | None = None,
    rules: Iterable[Rule] = CATALOGUE,
) -> Report:
    """Run the rules over a document.

    Without a kind, only rules that hold for any document report. `identity` holds the frontmatter values that
    the path requires. `previous` is the document before the edit.
    """
    section_rules, document_rules = SECTION_RULES, _DOCUMENT_RULES
    if rules is not CATALOGUE:
        section_rules = tuple(rule for rule in rules if isinstance(rule, SectionRule))
        document_rules = tuple(rule for rule in rules if isinstance(rule, DocumentRule))
    declarations = declarations_of(kind)
    checked = check_sections(document, declarations, section_rules)
    context = DocumentContext(document, declarations, identity, previous, [each.facts for each in checked])
    if declarations.skips:
        document_rules = tuple(rule for rule in document_rules if not rule.id.startswith(declarations.skips))
    hits, left_out = first_hits(document_rules, context)
    in_sections = {place: each.found for place, each in enumerate(checked) if each.found}
    for rule, hit in hits:
        place = bisect_right(document.starts, hit.offset, 0, len(checked)) - 1
        here = [*in_sections.get(place, ()), (hit.offset - document.starts[place], rule, hit)]
        in_sections[place] = tuple(sorted(here, key=_offset_and_rule))
    found, surplus = _limited(
        [(place, checked[place].name, *each) for place, own in sorted(in_sections.items()) for each in own]
    )
    return Report(document, found, left_out + surplus + sum([each.left_out for each in checked]))


def _offset_and_rule(found: Found) -> tuple[int, str]:
    return found[0], found[1].id


def _limited(found: list[PlacedFound]) -> tuple[list[PlacedFound], int]:
    """Leave out what is beyond the limit of each rule, and count it."""
    if len(found) <= MAX_FINDINGS_PER_RULE:
        return found, 0
    ids = [rule.id for _, _, _, rule, _ in found]
    beyond = [rule_id for rule_id, count in Counter(ids).items() if count > MAX_FINDINGS_PER_RULE]
    gone = {
        number
        for rule_id in beyond
        for number in [number for number, each in enumerate(ids) if each == rule_id][MAX_FINDINGS_PER_RULE:]
    }
    return [each for number, each in enumerate(found) if number not in gone] if gone else found, len(gone)
