"""The shape of an answer: what a reader with little room needs to know about it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic_core import to_json

from garden.tools.declaration import OnWire, Reply, Tool
from garden.tools.wire import Request

_CHARACTERS_PER_TOKEN = 4
_RANGES_SHOWN = 5


def shape(tool: Tool[Any], request: Request, reply: Reply) -> Mapping[str, Any]:
    """The fields that every answer's `meta` gains: one line that sums it up, and the tokens that it takes.

    A summary holds names, numbers and paths only, never words of a document.
    """
    result = reply.result.value if isinstance(reply.result, OnWire) else reply.result
    text = result if isinstance(result, str) else to_json(result, fallback=str).decode()
    summarize = _SUMMARIES.get(tool.name, partial(_title, tool.title))
    return {
        "summary": summarize(request, result, reply.meta),
        "tokens": tokens_of(text),
    }


def tokens_of(text: str) -> int:
    """About how many tokens a text is to a model."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


_Meta = Mapping[str, Any]


def _title(title: str, request: Any, _result: Any, _meta: _Meta) -> str:
    path = getattr(request, "path", None)
    return f"{title}: {path}." if path else f"{title}."


def _lines_read(request: Any, result: Any, meta: _Meta) -> str:
    if isinstance(result, str):
        last = meta["truncated"]["next"]["startLine"] - 1 if "truncated" in meta else meta["totalLines"]
        ranges = [f"{min(last, 1)}-{last}"]
    else:
        ranges = [f"{each.start_line}-{each.end_line}" for each in result.range_slices]
    shown = ", ".join(ranges[:_RANGES_SHOWN]) + (", …" if ranges[_RANGES_SHOWN:] else "")
    return f"Read lines {shown} of {meta['totalLines']} of {request.path}."


def _matches_found(_request: Any, result: Any, meta: _Meta) -> str:
    files, total = len({each.path for each in result}), meta.get("totalMatches", 0)
    searched = meta.get("filesSearched", 0)
    return f"{len(result)} of {_count(total, 'matches')}, in {_count(files, 'files')} of {searched} searched."


def _counted(things: str, request: Any, result: Any, meta: _Meta) -> str:
    """How many things a result lists, as a whole or in the field with their name."""
    named = result if isinstance(result, list) else dict(result)[things]
    path, cut = getattr(request, "path", None), meta.get("truncated")
    shown = f"The first {len(named)} of {cut['total']} {things}" if cut else _count(len(named), things)
    return f"{shown} in {path}." if path else f"{shown}."


def _diff_shown(_request: Any, _result: Any, meta: _Meta) -> str:
    added, removed = meta.get("linesAdded", 0), meta.get("linesRemoved", 0)
    return f"{_count(added, 'lines')} added, {removed} removed."


def _changed(done: str, request: Any, _result: Any, meta: _Meta) -> str:
    if meta.get("dryRun"):
        return f"Preview only: {request.path} stays as it is."
    if meta.get("unchanged"):
        return f"Nothing changed in {request.path}."
    return f"{'Replayed: ' * ('replayed' in meta)}{done} {request.path}."


def _count(number: int, things: str) -> str:
    one = {"memories": "memory", "matches": "match"}.get(things, things[:-1])
    return f"{number} {one if number == 1 else things}"


# What a tool has done, before the path; or the things that it lists.
_CHANGES = {
    "fs.append": "Appended to", "fs.archive": "Archived", "fs.edit": "Edited",
    "fs.ensure_dir": "Made the folder", "fs.move": "Moved",
    "fs.patch": "Patched", "fs.write": "Wrote", "md.curate_list": "Changed a list of", "md.fix": "Fixed",
    "md.patch_section": "Changed a section of", "md.plant": "Created", "md.repair": "Repaired",
    "md.restore": "Restored", "md.snapshot_history": "Kept a copy of",
}  # fmt: skip
_COUNTS = {
    "events.query": "rows", "fs.list": "names", "history.blame": "lines", "history.log": "versions",
    "history.search": "hits", "lint.check": "warnings", "md.lint": "warnings", "md.list_sections": "sections",
    "memory.context": "items", "memory.list": "memories", "memory.recall": "memories",
}  # fmt: skip
_SUMMARIES: Mapping[str, Callable[[Any, Any, _Meta], str]] = {
    **{tool: partial(_changed, done) for tool, done in _CHANGES.items()},
    **{tool: partial(_counted, things) for tool, things in _COUNTS.items()},
    "fs.read": _lines_read,
    "fs.search": _matches_found,
    "history.diff": _diff_shown,
    "propose_change": _diff_shown,
}
