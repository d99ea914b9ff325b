"""An envelope as the protocol's answer: whole, for programs, and in words, for models that read no more."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from garden.access.dispatcher import Envelope
from garden.surfaces.mcp.tool_names import in_wire_names
from garden.tools.requests import UnknownToolError

Answer = dict[str, Any]

_DETAILS_CHARACTERS_MAX = 2000
# Told by themselves, or of no use to whoever goes on from here.
_UNTOLD = frozenset({"warnings", "hint", "tookMs"})


def answered(envelope: Envelope) -> Answer:
    """Wrap an envelope; the same words in a text, for clients that show nothing else."""
    texts = _told(envelope) if envelope["ok"] else _refused(envelope["error"])
    return {
        "content": [{"type": "text", "text": text} for text in texts],
        "structuredContent": envelope,
        "isError": not envelope["ok"],
        "resultType": "complete",
    }


def _told(envelope: Envelope) -> Iterator[str]:
    yield _in_words(envelope["result"])
    notes = "\n".join(_notes(envelope["meta"]))
    if notes:
        yield notes


def _notes(meta: Mapping[str, Any]) -> Iterator[str]:
    yield from (in_wire_names(f"Warning: {warning}") for warning in meta["warnings"])
    if "hint" in meta:
        yield in_wire_names(str(meta["hint"]))
    told = {name: value for name, value in meta.items() if name not in _UNTOLD}
    if told:
        yield _as_json(told)


def _in_words(result: Any) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, list) and all(isinstance(each, str) for each in result):
        return "\n".join(result) or "There is nothing."
    return "Done." if result is None else _as_json(result)


def _refused(error: Mapping[str, Any]) -> Iterator[str]:
    yield in_wire_names("\n".join(filter(None, (f"{error['code']}: {error['message']}", error["hint"]))))
    if error["details"]:
        details = _as_json(error["details"])
        if error["code"] == UnknownToolError.code:
            # Of all details only these name tools; others may quote a document.
            details = in_wire_names(details)
        cut = len(details) > _DETAILS_CHARACTERS_MAX
        yield details[:_DETAILS_CHARACTERS_MAX] + ("…" if cut else "")


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
