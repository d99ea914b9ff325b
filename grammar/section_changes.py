"""Which sections an edit of the whole document changed."""

from collections import defaultdict

from garden.grammar.document import SECTION_LEVEL, Document, SectionContent


def changed_sections(before: Document | None, after: Document) -> tuple[str, ...]:
    """Name the sections whose heading or words changed; an empty one that comes or goes does not count."""
    old, new = _contents(before), _contents(after)
    return tuple(name for name in {**new, **old} if _differs(old.get(name, []), new.get(name, [])))


def _contents(document: Document | None) -> dict[str, list[SectionContent]]:
    """The sections by their name, which several may have."""
    contents = defaultdict(list)
    for content in document.contents if document else ():
        if content.level == SECTION_LEVEL:
            contents[content.name].append(content)
    return dict(contents)


def _differs(old: list[SectionContent], new: list[SectionContent]) -> bool:
    if not old or not new:
        return any(content.body.strip() for content in old or new)
    return old != new and _words(old) != _words(new)


def _words(contents: list[SectionContent]) -> list[tuple[str, str]]:
    return [(content.heading.text, content.body.strip()) for content in contents]
