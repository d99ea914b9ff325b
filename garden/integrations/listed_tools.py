"""The garden's tools for frameworks that call them by their names."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from garden.integrations.opening import UserGarden

Profile = Literal["full", "lean"]

# Codes of refusals that no change of the arguments turns into a yes.
LASTING = frozenset(
    {"document_damaged", "internal", "permission_denied", "permission_required", "unavailable"}
)


class ListedTool(NamedTuple):
    """A tool as a model is shown it."""

    name: str
    description: str
    schema: dict[str, Any]
    writes: bool


class ToolCallError(Exception):
    """A refusal in words for a model; `is_lasting` if the model cannot change that."""

    def __init__(self, message: str, *, is_lasting: bool) -> None:
        super().__init__(message)
        self.is_lasting = is_lasting


def list_tools(opening: UserGarden, profile: Profile) -> list[ListedTool]:
    """List the tools of a profile that this user's agent may use."""
    return [
        ListedTool(
            each["name"], each["description"], each["inputSchema"], not each["annotations"]["readOnlyHint"]
        )
        for each in opening.session.tool_list("mcp", profile)
    ]


def call_listed(
    opening: UserGarden, tool: ListedTool, args: Mapping[str, Any], call_id: str | None
) -> dict[str, Any]:
    """Call a tool; returns result and meta, or raises a `ToolCallError`."""
    # The event of a write names the call it came from.
    ids = {"toolCallId": call_id} if tool.writes and call_id and "toolCallId" not in args else {}
    envelope = opening.session.call(tool.name, {**args, **ids})
    if envelope["ok"]:
        return {"result": envelope["result"], "meta": envelope["meta"]}
    error = envelope["error"]
    words = [f"{error['code']}: {error['message']}", error["hint"]]
    if error["details"]:
        words.append(json.dumps(error["details"], ensure_ascii=False)[:2000])
    raise ToolCallError("\n".join(filter(None, words)), is_lasting=error["code"] in LASTING)
