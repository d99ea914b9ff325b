"""Which HTTP status an error has: one table over all error codes."""

from collections.abc import Mapping
from types import MappingProxyType

STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "invalid_input": 400,
        "not_found": 404,
        "path_not_allowed": 403,
        "delete_not_allowed": 403,
        "anchor_not_found": 404,
        "anchor_ambiguous": 409,
        "anchor_changed": 422,
        "anchor_in_text": 422,
        "heading_in_section": 422,
        "identity_changed": 422,
        "malformed_document": 409,
        "precondition_failed": 412,
        "override_required": 422,
        "patch_conflict": 409,
        "already_exists": 409,
        "idempotency_conflict": 422,
        "in_progress": 409,
        "permission_denied": 403,
        "permission_required": 403,
        "rate_limited": 429,
        "unknown_tool": 404,
        "too_large": 413,
        "not_text": 422,
        "document_damaged": 409,
        "unavailable": 503,
        "internal": 500,
    }
)
"""The status of every code; where HTTP itself is at fault (401, 405, 408, 415) the status is chosen there."""

RETRY_SECONDS: Mapping[str, int] = MappingProxyType({"in_progress": 1, "rate_limited": 1, "unavailable": 1})
"""The codes after which the same request may well succeed, and how long to wait before it."""
