"""The reasons for which the grammar refuses an edit, each with a stable code. Nothing was changed."""

from typing import ClassVar

from garden.grammar.errors import GardenError

_SHOWN_CHARACTERS_MAX = 200


def excerpt(words: str, characters_max: int = _SHOWN_CHARACTERS_MAX) -> str:
    """Shorten a caller's words for a message and escape lone surrogates."""
    cut = words if len(words) <= characters_max else words[: characters_max - 1] + "…"
    return cut.encode("utf-8", "backslashreplace").decode()


class RefusalError(GardenError):
    """An edit was refused; the document is unchanged."""


class InvalidInputError(RefusalError):
    """The edit is invalid: empty words, no list item, an unreadable diff."""

    code: ClassVar[str] = "invalid_input"


class ItemNotFoundError(RefusalError):
    """No list item matches; the details list the existing items."""

    code: ClassVar[str] = "not_found"


class AnchorNotFoundError(RefusalError):
    """No section has this name; the details list the existing sections."""

    code: ClassVar[str] = "anchor_not_found"


class AnchorAmbiguousError(RefusalError):
    """More than one section has this name."""

    code: ClassVar[str] = "anchor_ambiguous"


class AnchorChangedError(RefusalError):
    """The result would lose, alter or duplicate an anchor, or move it to another heading."""

    code: ClassVar[str] = "anchor_changed"


class AnchorInTextError(RefusalError):
    """The new text contains an anchor comment."""

    code: ClassVar[str] = "anchor_in_text"


class HeadingInSectionError(RefusalError):
    """The new text of a section contains a top-level H1 or H2, which would begin another section."""

    code: ClassVar[str] = "heading_in_section"


class IdentityChangedError(RefusalError):
    """The result would change the identity of the document."""

    code: ClassVar[str] = "identity_changed"


class MalformedDocumentError(RefusalError):
    """The frontmatter can't be trusted, before the edit or after it."""

    code: ClassVar[str] = "malformed_document"


class NotRepairableError(RefusalError):
    """A repair would have to guess."""

    code: ClassVar[str] = "document_damaged"


class PatchConflictError(RefusalError):
    """A diff or an edit matches the current text nowhere, or in more than one place."""

    code: ClassVar[str] = "patch_conflict"


class AlreadyExistsError(RefusalError):
    """A document already exists where a new one should be created."""

    code: ClassVar[str] = "already_exists"


class ArchiveNotAllowedError(RefusalError):
    """Only free-form documents can be archived."""

    code: ClassVar[str] = "delete_not_allowed"


class NoDocumentError(RefusalError):
    """The edit needs a document, and there is none."""

    code: ClassVar[str] = "not_found"


class DiffDeletesFileError(RefusalError):
    """A diff would delete the file; no tool does that."""

    code: ClassVar[str] = "delete_not_allowed"


class ChangeLogIsAppendOnlyError(RefusalError):
    """The edit would remove something from the Change Log, which only grows."""

    code: ClassVar[str] = "permission_denied"
