"""Which sections an edit of the whole document changed."""

from collections import defaultdict

from garden.grammar.document import Document


def changed_sections(before: Document | None, after: Document) -> tuple[str, ...]:
    """Name the sections whose heading or words changed; an empty one that comes or goes does not count."""
    old, new = _contents(before), _contents(after)
    return tuple(name for name in {**new, **old} if _differs(old.get(name, []), new.get(name, [])))


def _contents(document: Document | None) -> dict[str, list[tuple[str, str]]]:
    """Heading and words of each section by its name, which several sections may have."""
    contents = defaultdict(list)
    for section in document.sections if document else ():
        contents[section.name].append((section.heading.text, section.body.strip()))
    return dict(contents)


def _differs(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> bool:
    if old and new:
        return old != new
    return any(words for _, words in old or new)
