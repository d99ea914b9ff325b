"""Long random sequences of edits, checked by code that is independent of the guards."""

import re

import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from garden.grammar.apply import apply
from garden.grammar.change_log import log_entry
from garden.grammar.diffs import unified_diff
from garden.grammar.edits import (
    AppendItem,
    AppendToFile,
    AppendToSection,
    ApplyDiff,
    CurateList,
    Edit,
    MergeItems,
    PruneItem,
    ReplaceSection,
    ReplaceText,
    WriteFile,
)
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.parser import parse
from garden.grammar.refusals import RefusalError
from garden.grammar.splice import apply_splices, reverse_splices
from tests.grammar.strategies import markdown, profiles
from tests.support.hypothesis_profiles import NIGHTLY

STEPS = 50
SEQUENCES = 2_000 if NIGHTLY else 10
NAMES = ("summary v1", "concerns", "change_log v1", "nothing v1")
MATCHES = ("1: a", "ev:s1-m2", "a", "2: b", "1. one", "1: x", "3: c")
BLOCK = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
ANCHOR_LINE = re.compile(r"[\r\n]<!-- @anchor: (?:summary|concerns|change_log) v1 -->[ \t]*\Z")
IDENTITY = {"id": "anxious", "user_id": "u1", "schema": 1}

Pieces = list[tuple[str, str]]


def split(text: str) -> tuple[str, str]:
    """Split a text into the YAML of its frontmatter and the Markdown below."""
    # A lone carriage return ends a line, but `re` does not treat it so.
    match = BLOCK.match(re.sub(r"\r(?!\n)", "\n", text))
    assert match
    return match[1], text[match.end() :]


def pieces(text: str) -> Pieces:
    """Cut a text at its H1 and H2, as markdown-it-py parses it: (heading and anchor lines, the rest)."""
    _, body = split(text)
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", body)
    tokens = MarkdownIt("commonmark").parse(body.replace("\ud800", "\ufffd"))
    heads = [
        token.map
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.tag in ("h1", "h2") and token.map
    ]
    ends = [*(start for start, _ in heads[1:]), len(lines)]
    lead = "".join(lines[: heads[0][0]] if heads else lines)
    # An underlined heading has several lines; its anchor is on the next one.
    cut = [
        (lines[start : min(below + 1, end)], lines[below + 1 : end])
        for (start, below), end in zip(heads, ends, strict=True)
    ]
    return [(lead, ""), *(("".join(head).rstrip("\r\n"), "".join(rest)) for head, rest in cut)]


def edits(text: str) -> st.SearchStrategy[Edit]:
    name, words, match = st.sampled_from(NAMES), markdown(4), st.sampled_from(MATCHES)
    op = st.one_of(
        st.builds(AppendItem, words),
        st.builds(PruneItem, match),
        st.builds(MergeItems, match, st.tuples(match), st.none() | words),
    )
    other = st.tuples(st.integers(0, len(text)), st.integers(0, 40), words).map(
        lambda cut: text[: cut[0]] + cut[2] + text[cut[0] + cut[1] :]
    )
    return st.one_of(
        st.builds(ReplaceSection, name, words),
        st.builds(ReplaceSection, name, words),
        st.builds(AppendToSection, name, words),
        st.builds(CurateList, name, st.lists(op, min_size=1, max_size=2).map(tuple)),
        st.builds(AppendToFile, words),
        st.builds(WriteFile, other),
        st.tuples(st.integers(0, len(text)), st.integers(1, 60), words).map(
            lambda cut: ReplaceText(text[cut[0] : cut[0] + cut[1]], cut[2])
        ),
        other.map(lambda after: ApplyDiff(unified_diff(text, after).text)),
    )


# No shrinking: it takes minutes, and the failing edit is the last one drawn anyway.
@settings(max_examples=SEQUENCES, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(profiles(), st.data())
def test_fifty_edits_in_a_row_break_no_invariant(profile: str, data: st.DataObject) -> None:
    kind = load_kinds()["part_profile"]
    document = parse(profile)
    for step in range(STEPS):
        edit = data.draw(edits(document.text))
        entry = log_entry(f"t{step}", "s", "op", "why", str(step)) if data.draw(st.booleans()) else None
        try:
            applied = apply(document, edit, kind=kind, entry=entry)
        except RefusalError:
            continue
        check(document.text, applied.text, edit)
        assert apply_splices(document.text, applied.splices) == applied.text
        assert apply_splices(applied.text, reverse_splices(applied.splices)) == document.text
        document = applied.after


def check(before: str, after: str, edit: Edit) -> None:
    values = yaml.safe_load(split(after)[0])
    assert {key: values[key] for key in IDENTITY} == IDENTITY
    assert after.startswith("\ufeff") == before.startswith("\ufeff")
    assert anchored(before) <= anchored(after)
    if isinstance(edit, ReplaceSection | AppendToSection | CurateList):
        check_section_edit(pieces(before), pieces(after), edit.section.removesuffix(" v1"))


def anchored(text: str) -> set[str]:
    # White space behind an anchor may change.
    return {match[0].rstrip() for head, _ in pieces(text) if (match := ANCHOR_LINE.search(head))}


def check_section_edit(old: Pieces, new: Pieces, name: str) -> None:
    assert [head for head, _ in new] == [head for head, _ in old]
    for (head, before), (_, after) in zip(old, new, strict=True):
        if "change_log" in head:
            assert after.rstrip().startswith(before.rstrip()) or not before.strip()
        elif f"@anchor: {name} v1" not in head:
            assert after == before
