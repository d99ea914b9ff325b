"""The rows of a document's passages, and what a change of the document does to them."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import chain, zip_longest
from operator import ne

from garden.events.passages import PassageChanges, PassageRow
from garden.grammar.change_log import USUAL_ANCHOR_ID
from garden.grammar.document import Document, SectionContent
from garden.grammar.kinds.declaration import Kind
from garden.grammar.values import Anchor
from garden.passages.extraction import ANALYSIS, PIECE_TEXT, Passage, Piece, kept_pieces, passages_in
from garden.passages.languages import language_code
from garden.passages.naming import Naming
from garden.passages.words import word_hashes

# Equal passages are looked for around a change; around a larger one everything is read.
_CHANGED_MAX = 128


def rows_of(
    document: Document, kind: Kind | None, path: str, today: date, naming: Naming, language: str | None = None
) -> dict[int, PassageRow]:
    """Return the rows of all passages by number; those without a day get today's."""
    changes = changes_between(None, document, kind, path, 1, today, naming, language)
    return {row.passage: row for row in changes.come}


def changes_between(
    before: Document | None,
    after: Document | None,
    kind: Kind | None,
    path: str,
    version: int,
    today: date,
    naming: Naming,
    language: str | None = None,
) -> PassageChanges:
    """Return what turns the rows of one version into those of a later one.

    Sections that both share are not read, and of the others only what is around the change.
    """
    versions, rows = (before, after), (dict[int, PassageRow](), dict[int, PassageRow]())
    languages = [_language_of(each, language) for each in versions]
    titles = [_title(each.title if each else None, path) for each in versions]
    contents = [each.contents if each else () for each in versions]
    is_same = languages[0] == languages[1] and titles[0] == titles[1]
    moved = [pair for pair in zip_longest(*contents) if not is_same or pair[0] is not pair[1]]
    names = {each.section_name: None for pair in moved for each in pair if each is not None}
    earlier, later = (_contents_by_name(each, names, kind) for each in contents)
    for name in names:
        old, new = earlier.get(name, []), later.get(name, [])
        if is_same and old == new:
            continue
        pieces = _pieces(old, languages[0]), _pieces(new, languages[1], old)
        passages = _passages_around_change(*pieces) if titles[0] == titles[1] else map(_passages, pieces)
        for side, title, found in zip(rows, titles, passages, strict=True):
            side |= _rows(found, path, title, today, naming)
    return PassageChanges(path, version, ANALYSIS, *_difference(*rows))


def _difference(
    old: Mapping[int, PassageRow], new: Mapping[int, PassageRow]
) -> tuple[tuple[int, ...], tuple[PassageRow, ...]]:
    # A day that the text no longer names gives way to that of the change.
    gone = [number for number in old if number not in new or old[number].is_dated > new[number].is_dated]
    left: dict[tuple[str, bool], list[int]] = {}
    for number in reversed(gone):
        if number not in new:
            left.setdefault((old[number].text, old[number].is_dated), []).append(number)
    come = []
    for number, row in new.items():
        if old.get(number) != row:
            # A passage dated by its heading moves only to a place that dates it too.
            was = left.get((row.text, row.is_dated)) or left.get((row.text, False))
            come.append(_with_words(row, was.pop() if was and number not in old else None))
    return tuple(gone), tuple(come)


def _with_words(row: PassageRow, was: int | None = None) -> PassageRow:
    return row._replace(words=word_hashes(row.text, row.language), was=was)


def _language_of(document: Document | None, language: str | None) -> str | None:
    """The language that a document names in its frontmatter, or else that of the garden."""
    named = document.values.get("language") if document else None
    return language_code(named if isinstance(named, str) else None) or language_code(language)


@lru_cache(256)
def _title(title: str | None, path: str) -> str:
    """The title of a document if it says more than its path; that of an overview is a name."""
    if title is None or path.endswith("/overview.md"):
        return ""
    known = set(re.findall(r"[a-z0-9]+", path))
    words = re.findall(r"\w+", title.casefold())
    return title if any(len(word.encode()) > 3 and word not in known for word in words) else ""


def _contents_by_name(
    contents: Iterable[SectionContent], names: Collection[str], kind: Kind | None
) -> dict[str, list[SectionContent]]:
    """Group the contents with these names, other than Change Logs."""
    found: dict[str, list[SectionContent]] = {}
    for content in contents:
        anchor, name = content.anchor, content.section_name
        if name in names and (anchor is None or not _is_log(anchor, kind)):
            found.setdefault(name, []).append(content)
    return found


def _is_log(anchor: Anchor, kind: Kind | None) -> bool:
    return anchor in kind.log_anchors if kind else anchor.id == USUAL_ANCHOR_ID


def _pieces(
    contents: Sequence[SectionContent], language: str | None, above: Sequence[SectionContent] = ()
) -> list[Piece]:
    pairs = zip_longest(contents, above[: len(contents)])
    return [*chain.from_iterable([kept_pieces(content, language, before) for content, before in pairs])]


def _passages(pieces: Iterable[Piece]) -> list[Passage]:
    return [passage for text, place in pieces for passage in passages_in(text, place)]


def _passages_around_change(old: list[Piece], new: list[Piece]) -> tuple[list[Passage], list[Passage]]:
    """List the passages that a change may have touched, with those of one piece on each side of them."""
    top = [*map(ne, old, new), True].index(True)
    end = [*map(ne, old[: top - len(old) - 1 : -1], new[: top - len(new) - 1 : -1]), True].index(True)
    before, after = old[top : len(old) - end], new[top : len(new) - end]
    above: list[Passage] = []
    below: list[Passage] = []
    while top and not above:
        top -= 1
        above = passages_in(*old[top])
    while end and not below:
        end -= 1
        below = passages_in(*new[len(new) - end - 1])
    passages = [*above, *_passages(before), *below], [*above, *_passages(after), *below]
    outside = "\n".join(map(PIECE_TEXT, old[:top] + old[len(old) - end :]))
    return (_passages(old), _passages(new)) if outside and _has_equals(*passages, outside) else passages


def _has_equals(old: Sequence[Passage], new: Sequence[Passage], outside: str) -> bool:
    """Whether some passages of a version may be equal, which are numbered together, or are too many."""
    texts = [{passage.text for passage in passages} for passages in (old, new)]
    if len(texts[0]) < len(old) or len(texts[1]) < len(new) or len(old) + len(new) > _CHANGED_MAX:
        return True
    lines = [max(text.split("\n"), key=len) if "\n" in text else text for text in texts[0] | texts[1]]
    return any(line in outside and re.search(rf"{re.escape(line)}[ \t]*(?:\n|\Z)", outside) for line in lines)


def _rows(
    passages: Iterable[Passage], path: str, title: str, today: date, naming: Naming
) -> dict[int, PassageRow]:
    """The rows of passages by number, without the words."""
    rows: dict[int, PassageRow] = {}
    counts: dict[str, int] = {}
    previous = None
    for passage in passages:
        anchor, heading, text, day, language = passage[:5]
        name = naming.name(text)
        counts[name] = count = counts.get(name, 0) + 1
        if count > 1:
            name = f"{name}~{count}"
        number = naming.number(path, anchor, name)
        if title and not heading.startswith(title):
            heading = f"{title} > {heading}" if heading else title
        place = number, path, anchor, name, heading, language, previous
        rows[number] = PassageRow(*place, day or today, *passage[5:9], text, b"", None, day is not None)
        previous = number
    return rows
