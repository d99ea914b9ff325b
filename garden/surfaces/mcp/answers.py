"""Tool results as the protocol carries them: the whole envelope for programs, and its words for models."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from garden.access.dispatcher import Envelope
from garden.surfaces.mcp.tool_list import with_wire_names
from garden.tools.requests import UnknownToolError

ToolAnswer = dict[str, Any]

_DETAILS_CHARACTERS_MAX = 2000
# Shown on lines of their own, or of no use to a model.
_NOT_IN_NOTES = frozenset({"warnings", "hint", "tookMs"})


def tool_answer(envelope: Envelope) -> ToolAnswer:
    """Wrap an envelope, and repeat it as text for clients that show only text."""
    texts = _success_texts(envelope) if envelope["ok"] else _refusal_texts(envelope["error"])
    return {
        "content": [{"type": "text", "text": text} for text in texts],
        "structuredContent": envelope,
        "isError": not envelope["ok"],
        "resultType": "complete",
    }


def _success_texts(envelope: Envelope) -> Iterator[str]:
    yield _result_text(envelope["result"])
    notes = "\n".join(_notes(envelope["meta"]))
    if notes:
        yield notes


def _notes(meta: Mapping[str, Any]) -> Iterator[str]:
    yield from (with_wire_names(f"Warning: {warning}") for warning in meta["warnings"])
    if "hint" in meta:
        yield with_wire_names(str(meta["hint"]))
    rest = {name: value for name, value in meta.items() if name not in _NOT_IN_NOTES}
    if rest:
        yield _as_json(rest)


def _result_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, list) and all(isinstance(each, str) for each in result):
        return "\n".join(result) or "There is nothing."
    return "Done." if result is None else _as_json(result)


def _refusal_texts(error: Mapping[str, Any]) -> Iterator[str]:
    yield with_wire_names("\n".join(filter(None, (f"{error['code']}: {error['message']}", error["hint"]))))
    if error["details"]:
        details = _as_json(error["details"])
        if error["code"] == UnknownToolError.code:
            # Only these details name tools; others may quote a document, which must stay as it is.
            details = with_wire_names(details)
        cut = len(details) > _DETAILS_CHARACTERS_MAX
        yield details[:_DETAILS_CHARACTERS_MAX] + ("…" if cut else "")


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
