"""Tool results as the protocol carries them: the whole envelope for programs, and its words for models."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from garden.gateway.dispatcher import Envelope
from garden.grammar.fences import fence_around
from garden.tools.registry import with_wire_names
from garden.tools.requests import UnknownToolError

ToolAnswer = dict[str, Any]

_DETAILS_CHARACTERS_MAX = 2000
# Shown on lines of their own, or of no use to a model.
_NOT_IN_NOTES = frozenset(
    {
        "warnings", "hint", "diff", "tookMs", "summary", "tokens", "columns", "totalMatches", "filesSearched",
        "totalLines", "sizeBytes", "changedAt", "encoding",
    }
)  # fmt: skip


def tool_answer(envelope: Envelope, *, writes: bool = False) -> ToolAnswer:
    """Wrap an envelope, and repeat it as text for clients that show only text.

    What a tool that writes answers is the garden's own; all else may hold words of documents, and is fenced.
    """
    texts = _success_texts(envelope, writes) if envelope["ok"] else _refusal_texts(envelope["error"])
    return {
        "content": [{"type": "text", "text": text} for text in texts],
        "structuredContent": envelope,
        "isError": not envelope["ok"],
        "resultType": "complete",
    }


def _success_texts(envelope: Envelope, writes: bool) -> Iterator[str]:
    result, meta = envelope["result"], envelope["meta"]
    if "totalLines" in meta and isinstance(result, str):
        yield _fenced("document", result)
    elif _is_text(result):
        yield result if isinstance(result, str) else "\n".join(result) or "There is nothing."
    else:
        yield "\n".join((meta.get("summary", "Done."), *_json_texts(result, writes)))
    if meta.get("diff"):
        yield _fenced("diff", meta["diff"])
    notes = "\n".join(_notes(meta))
    if notes:
        yield notes


def _json_texts(result: Any, writes: bool) -> Iterator[str]:
    if result is not None:
        yield _as_json(result) if writes else _fenced("data", _as_json(result))


def _notes(meta: Mapping[str, Any]) -> Iterator[str]:
    yield from (with_wire_names(f"Warning: {warning}") for warning in meta["warnings"])
    if "hint" in meta:
        yield with_wire_names(str(meta["hint"]))
    rest = {name: value for name, value in meta.items() if name not in _NOT_IN_NOTES}
    if rest:
        yield _as_json(rest)


def _is_text(result: Any) -> bool:
    return isinstance(result, str) or (
        isinstance(result, list) and all(isinstance(each, str) for each in result)
    )


def _fenced(name: str, text: str) -> str:
    """Words of documents between fences that they cannot close: they are data."""
    fence = fence_around([text])
    return f"{fence} {name}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _refusal_texts(error: Mapping[str, Any]) -> Iterator[str]:
    yield with_wire_names("\n".join(filter(None, (f"{error['code']}: {error['message']}", error["hint"]))))
    if error["details"]:
        details = _as_json(error["details"])
        if error["code"] == UnknownToolError.code:
            # Only these details name tools; others may quote a document, which must stay as it is.
            details = with_wire_names(details)
        cut = len(details) > _DETAILS_CHARACTERS_MAX
        yield _fenced("data", details[:_DETAILS_CHARACTERS_MAX] + ("…" if cut else ""))


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
