"""The text of a new document: frontmatter, title, and every section of its kind, empty."""

from collections.abc import Iterator, Mapping

import yaml

from garden.grammar.kinds.declaration import Kind
from garden.grammar.parser import parse
from garden.grammar.refusals import InvalidInputError


def template_text(kind: Kind, title: str, identity: Mapping[str, object]) -> str:
    """Return the text of a new document; the schema version comes from the kind unless given."""
    entries = _entries(kind, identity)
    text = "".join(_lines(kind, title.strip() or kind.title, entries))
    document = parse(text)
    read_back = {key: _plain(value) for key, value in document.values.items()}
    if document.title != (title.strip() or kind.title) or document.problems or read_back != entries:
        raise InvalidInputError(
            "A document can't have this title and identity.",
            hint="A title is one line without Markdown's heading marks; identity values are plain words.",
            details={"title": title, "identity": entries},
        )
    return text


def _entries(kind: Kind, identity: Mapping[str, object]) -> dict[str, object]:
    given = {"schema": kind.schema_version, **identity}
    missing = [key for key in kind.identity if key not in given]
    if missing:
        raise InvalidInputError(
            f"A {kind.kind} needs {', '.join(missing)} in its frontmatter.",
            hint="Give a value for each.",
            details={"missing": missing},
        )
    ordered = [*kind.identity, *(key for key in given if key not in kind.identity)]
    return {key: _plain(given[key]) for key in ordered}


def _plain(value: object) -> object:
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _lines(kind: Kind, title: str, entries: Mapping[str, object]) -> Iterator[str]:
    yield "---\n"
    yield yaml.safe_dump(dict(entries), sort_keys=False, allow_unicode=True, width=10_000)
    yield f"---\n\n# {title}\n"
    for section in kind.sections:
        yield f"\n## {section.heading}\n<!-- @anchor: {section.anchor} -->\n"
