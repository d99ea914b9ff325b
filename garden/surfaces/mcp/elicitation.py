"""Asking the person at the client whether a call may be carried out."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

_KEY = "approve"
_FORM = {
    "type": "object",
    "properties": {_KEY: {"type": "boolean", "title": "Carry it out", "default": False}},
    "required": [_KEY],
}


async def ask_person(
    context: ServerRequestContext, params: types.CallToolRequestParams, error: Mapping[str, Any]
) -> bool | dict[str, Any] | None:
    """Ask in a form of the client: the answer, None without an answer, or a result that asks.

    The newer protocol ends the call with such a result; its client sends the call again with the answer.
    """
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    if elicitation is None or (elicitation.url and not elicitation.form) or not error["details"]:
        return None
    approval_id, message = error["details"]["approvalId"], _message(error)
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        left = datetime.fromisoformat(error["details"]["expiresAt"]) - datetime.now(UTC)
        try:
            async with asyncio.timeout(left.total_seconds()):
                return _answer_of(await context.session.elicit_form(message, _FORM, context.request_id))
        except TimeoutError:
            return False
        except MCPError:
            return None
    # An answer to another question, such as one before the document changed, counts for nothing.
    given = (params.input_responses or {}).get(_KEY) if params.request_state == approval_id else None
    if isinstance(given, types.ElicitResult):
        return _answer_of(given)
    form = types.ElicitRequestFormParams(message=message, requested_schema=_FORM)
    asking = types.InputRequiredResult(
        input_requests={_KEY: types.ElicitRequest(params=form)}, request_state=approval_id
    )
    return asking.model_dump(mode="json", by_alias=True, exclude_none=True)


def _answer_of(answered: types.ElicitResult) -> bool | None:
    """Whether the person agreed; None for a form that was put away."""
    if answered.action == "cancel":
        return None
    return answered.action == "accept" and (answered.content or {}).get(_KEY) is True


def _message(error: Mapping[str, Any]) -> str:
    details = error["details"]
    counts = f"+{details['linesAdded']} -{details['linesRemoved']}"
    return f"{details['tool']} wants to change this ({counts}):\n{details['diff']}"
