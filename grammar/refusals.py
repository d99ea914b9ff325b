"""The refusals of the grammar: what an edit can run into, each with its stable code.

All of them mean that nothing was changed.
"""

from typing import ClassVar

from garden.grammar.errors import GardenError

_SHOWN_CHARACTERS_MAX = 200


def shown(words: str, characters_max: int = _SHOWN_CHARACTERS_MAX) -> str:
    """Repeat a caller's words in a refusal: not all of them where they are many, and none that is no text."""
    cut = words if len(words) <= characters_max else words[: characters_max - 1] + "…"
    return cut.encode("utf-8", "backslashreplace").decode()


class RefusalError(GardenError):
    """An edit was refused; the document stays as it is."""


class InvalidInputError(RefusalError):
    """The edit itself makes no sense: empty words, a list item that is none, a diff that can't be read."""

    code: ClassVar[str] = "invalid_input"


class ItemNotFoundError(RefusalError):
    """No list item answers to the given match; the details list the items there are."""

    code: ClassVar[str] = "not_found"


class AnchorNotFoundError(RefusalError):
    """No section has this name; the details list the sections there are."""

    code: ClassVar[str] = "anchor_not_found"


class AnchorAmbiguousError(RefusalError):
    """More than one section has this name."""

    code: ClassVar[str] = "anchor_ambiguous"


class AnchorChangedError(RefusalError):
    """The result would lose an anchor, alter it, repeat it or hang it under another heading."""

    code: ClassVar[str] = "anchor_changed"


class AnchorInTextError(RefusalError):
    """The new text holds an anchor comment."""

    code: ClassVar[str] = "anchor_in_text"


class HeadingInSectionError(RefusalError):
    """The new text of a section holds a top-level H1 or H2, which would begin another section."""

    code: ClassVar[str] = "heading_in_section"


class IdentityChangedError(RefusalError):
    """The result would say something else about whose document this is."""

    code: ClassVar[str] = "identity_changed"


class MalformedDocumentError(RefusalError):
    """The frontmatter can't be trusted, before the edit or after it."""

    code: ClassVar[str] = "malformed_document"


class NotRepairableError(RefusalError):
    """What is missing can't be put back without guessing."""

    code: ClassVar[str] = "document_damaged"


class PatchConflictError(RefusalError):
    """A diff or an edit doesn't fit the text that is there, or fits in more than one place."""

    code: ClassVar[str] = "patch_conflict"


class AlreadyExistsError(RefusalError):
    """A document stands where a new one should begin."""

    code: ClassVar[str] = "already_exists"


class NoDocumentError(RefusalError):
    """The edit needs a document, and there is none."""

    code: ClassVar[str] = "not_found"


class DeleteNotAllowedError(RefusalError):
    """A diff would delete the file; no tool does that."""

    code: ClassVar[str] = "delete_not_allowed"


class ChangeLogIsAppendOnlyError(RefusalError):
    """The Change Log is the account of what was done: it grows, and nobody may rewrite it."""

    code: ClassVar[str] = "permission_denied"
