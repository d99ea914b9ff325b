"""Every error code with its meaning and remedy. A code never changes its meaning."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Code(NamedTuple):
    """What a code means and what to do about it."""

    meaning: str
    remedy: str


CODES: Mapping[str, Code] = MappingProxyType(
    {
        "invalid_input": Code(
            "The arguments are not valid.", "Correct the named field; tools.help explains the fields."
        ),
        "not_found": Code("Nothing has this name.", "List what exists."),
        "path_not_allowed": Code(
            "The tool may not use this path.", "Use one of the allowed paths of your own user."
        ),
        "delete_not_allowed": Code("No tool deletes.", "Replace or prune the text instead."),
        "anchor_not_found": Code("The document has no such section.", "Use one that the hint lists."),
        "anchor_ambiguous": Code("Several sections match the name.", "Name one exactly: concerns v1."),
        "anchor_changed": Code(
            "The edit would lose, change or duplicate an anchor.", "Keep anchor comments as they are."
        ),
        "anchor_in_text": Code(
            "The new text contains an anchor comment.", "Remove it; the section has its own."
        ),
        "heading_in_section": Code("The new text would begin another section.", "Use H3 or deeper."),
        "identity_changed": Code(
            "The edit would change the identity in the frontmatter.", "Keep the identity keys."
        ),
        "malformed_document": Code(
            "The frontmatter is malformed.", "A maintainer repairs it, or its owner does with an editor."
        ),
        "precondition_failed": Code(
            "It has changed since you read it.", "Read it again and send its new hash."
        ),
        "override_required": Code(
            "The edit would exceed a soft cap.", "Make room, or give overrideRationale."
        ),
        "patch_conflict": Code("The edit does not fit the current text.", "Read that part again."),
        "already_exists": Code("Something already exists there.", "Edit it, or choose another path."),
        "idempotency_conflict": Code("The key was used for another request.", "Use a new key."),
        "in_progress": Code(
            "This request, or one that blocks it, is still running.", "Send it again in a moment."
        ),
        "permission_denied": Code("The caller may not do this.", "Ask someone whose role allows it."),
        "permission_required": Code(
            "A person must allow this first.", "Have it approved, then send the same call again."
        ),
        "rate_limited": Code("Too many calls in too short a time.", "Come back after retryAfterMs."),
        "unknown_tool": Code("No tool has this name.", "tools.list names every tool."),
        "too_large": Code("It is larger than a document may be.", "Move older entries elsewhere."),
        "not_text": Code("It is not plain UTF-8 text.", "Remove what is not text."),
        "document_damaged": Code(
            "The document has lost an anchor or its identity.",
            "A maintainer repairs it or restores a version; the details name what is missing.",
        ),
        "erased": Code("These words were erased.", "Leave them out; a maintainer erased them for good."),
        "not_run": Code("Another call of the transaction was refused.", "Correct that one; send all again."),
        "unavailable": Code("The database or the disk is unavailable.", "Send the same request again later."),
        "internal": Code("The service has a bug.", "The service's log says more."),
    }
)
