"""Lints a document: runs every rule over one shared context and reports the findings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice

from garden.grammar.document import Document
from garden.grammar.kinds.declaration import Kind
from garden.lint.catalogue import CATALOGUE
from garden.lint.context import NOTHING, LintContext
from garden.lint.finding import Finding, Hit
from garden.lint.report import Report
from garden.lint.rule import Rule

MAX_FINDINGS_PER_RULE = 100

_Found = tuple[Rule, Hit]


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
    context = LintContext(document, kind, identity, previous)
    found: list[_Found] = []
    left_out = 0
    for rule in rules:
        hits = rule.check(context)
        found.extend((rule, hit) for hit in islice(hits, MAX_FINDINGS_PER_RULE))
        left_out += sum(1 for _ in hits)
    found.sort(key=lambda pair: (pair[1].offset, pair[0].id))
    return Report(tuple(_findings(context, found)), left_out)


def _findings(context: LintContext, found: list[_Found]) -> Iterator[Finding]:
    seen: Counter[str] = Counter()
    for rule, hit in found:
        anchor = hit.section or _section_name(context, hit)
        key = _key(rule, anchor, hit.subject)
        seen[key] += 1
        line, column = context.position(hit.offset)
        yield Finding(
            rule.id,
            rule.name,
            rule.severity,
            hit.message,
            anchor,
            line,
            column,
            bool(hit.fixes),
            key if seen[key] == 1 else f"{key}#{seen[key]}",
            hit.amount,
        )


def _section_name(context: LintContext, hit: Hit) -> str | None:
    section = context.section_at(hit.offset)
    return section.name if section else None


def _key(rule: Rule, anchor: str | None, subject: str) -> str:
    # A digest, because keys are stored and must not contain words of the document.
    digest = sha256(f"{anchor}\0{subject}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{rule.id}:{digest[:12]}"
