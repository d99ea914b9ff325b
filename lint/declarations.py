"""What a kind declares, indexed once for all documents of the kind."""

from garden.grammar.kinds.declaration import Kind, is_free

NO_STRUCTURE = ("MG1", "MG2", "MG4", "MG6")
"""Begins the ids of the rules about form, which a free-form document has none of."""
_KINDS_MAX = 256


class Declarations:
    """The sections that a kind declares, by anchor and by case-folded heading; none without a kind."""

    def __init__(self, kind: Kind | None) -> None:
        sections = kind.sections if kind else ()
        self.kind = kind
        self.skips = NO_STRUCTURE if is_free(kind) else ()
        self.by_anchor = {section.anchor: section for section in sections}
        self.by_heading = {section.heading.casefold(): section for section in sections}
        self.places = {section.anchor: place for place, section in enumerate(sections)}


_KNOWN: dict[int, Declarations] = {}


def declarations_of(kind: Kind | None) -> Declarations:
    """Return the declarations of a kind, the same object for the same kind."""
    # By identity, because hashing a kind costs more than this saves; what is known keeps its kind alive.
    known = _KNOWN.get(id(kind))
    if known is None:
        if len(_KNOWN) >= _KINDS_MAX:
            _KNOWN.clear()
        known = _KNOWN.setdefault(id(kind), Declarations(kind))
    return known
