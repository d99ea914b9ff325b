"""Every code that an error may bear, with what it means and what to do about it. Codes never change."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Code(NamedTuple):
    """What a code means, and what helps."""

    meaning: str
    remedy: str


CODES: Mapping[str, Code] = MappingProxyType(
    {
        "invalid_input": Code(
            "The arguments make no sense.", "Correct the named field; tools.help shows how."
        ),
        "not_found": Code("There is nothing of this name.", "List what there is."),
        "path_not_allowed": Code("No tool may go there.", "Use one of the allowed paths of your own user."),
        "delete_not_allowed": Code("Nothing is ever deleted.", "Replace or prune the words instead."),
        "anchor_not_found": Code(
            "The document has no such section.", "Take one of those that the hint lists."
        ),
        "anchor_ambiguous": Code("Several sections answer to the name.", "Name one exactly: concerns v1."),
        "anchor_changed": Code(
            "An anchor would be lost, altered or doubled.", "Leave anchor comments as they are."
        ),
        "anchor_in_text": Code(
            "The new text holds an anchor comment.", "Leave it out; the section has its own."
        ),
        "heading_in_section": Code("The new text would begin another section.", "Use H3 or deeper."),
        "identity_changed": Code("The identity in the frontmatter would change.", "Keep the identity keys."),
        "malformed_document": Code(
            "The frontmatter can't be trusted.", "A maintainer repairs it, or its owner does with an editor."
        ),
        "precondition_failed": Code(
            "It has changed since it was read.", "Read it again, then send its hash."
        ),
        "override_required": Code("A soft cap would be exceeded.", "Make room, or give overrideRationale."),
        "patch_conflict": Code("The edit does not fit what is there.", "Read the place again."),
        "already_exists": Code("Something stands there already.", "Edit it, or choose another place."),
        "idempotency_conflict": Code("The key was used for another request.", "Use a new key."),
        "in_progress": Code(
            "The same request, or one in its way, is not done yet.", "Send it again in a moment."
        ),
        "permission_denied": Code(
            "This is not for callers of this kind.", "Ask somebody whose role allows it."
        ),
        "permission_required": Code("A person has to allow this first.", "Wait for the answer."),
        "rate_limited": Code("Too many calls in too short a time.", "Come back after retryAfterMs."),
        "unknown_tool": Code("There is no such tool.", "tools.list names them all."),
        "too_large": Code("It is larger than a document may be.", "Move older entries elsewhere."),
        "not_text": Code("It is not plain UTF-8 text.", "Leave out what is not text."),
        "document_damaged": Code(
            "The document lacks what tools hold on to.",
            "A maintainer repairs it or restores a version; the details name what is missing.",
        ),
        "unavailable": Code(
            "The database or the disk can't be used now.", "Send the same request again later."
        ),
        "internal": Code("A fault of the service's own.", "The service's log says more."),
    }
)
