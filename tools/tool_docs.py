"""docs/tools.md and docs/errors.md, generated from the registry and the error codes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from garden.tools.declaration import Tool
from garden.tools.error_codes import CODES
from garden.tools.registry import REGISTRY
from garden.tools.wire import RecordedRequest, WriteRequest
from tools.markdown import prose

DOCS = Path(__file__).parents[1] / "docs"
ERRORS = """\
# Errors

Made by `make docs`. Whatever is refused changes nothing, on disk or in the account. A code never changes its
meaning; the message is for people, and the hint says what to do next.

| code | what it means | what helps |
|---|---|---|
"""
HEAD = """\
# The tools

Made from the registry by `make docs`. On the command line `garden call TOOL JSON --user ID` calls any of
them, in Python `session.call(tool, args)`, and each has a typed method: `session.md.patch_section(...)`.

Every answer is an envelope: `{"ok": true, "result": ..., "meta": {...}}`, or
`{"ok": false, "error": {"code", "message", "hint", "details"}}`. [errors.md](errors.md) lists the codes.
`meta` always holds `warnings` and `tookMs`; where it applies also `eventId`, `documentHash`, `replayed`,
`unchanged`, `truncated`, `adoptedEventId`, `annotated`, `hint`, `cursor`, and for a dry run `dryRun` and
`diff`.

Field names are camelCase; snake_case is understood too. An object `opts` may hold any of the fields.
"""


def files() -> dict[Path, str]:
    """Text of each page."""
    rows = [f"| `{name}` | {prose(code.meaning)} | {prose(code.remedy)} |" for name, code in CODES.items()]
    return {DOCS / "tools.md": _tools(), DOCS / "errors.md": ERRORS + "\n".join(rows) + "\n"}


def _tools() -> str:
    lines = [HEAD, "## Fields that many tools take", ""]
    lines += ["Tools that record something take:", "", *_fields(RecordedRequest, set()), ""]
    lines += [
        "Tools that edit take these as well:",
        "",
        *_fields(WriteRequest, set(RecordedRequest.model_fields)),
        "",
    ]
    for tool in REGISTRY.values():
        lines += _tool(tool)
    return "\n".join(lines).rstrip() + "\n"


def _tool(tool: Tool[Any]) -> Iterator[str]:
    traits = tool.traits
    shared = set(WriteRequest.model_fields) if issubclass(tool.request, RecordedRequest) else set()
    also = "It takes what edits take as well." if issubclass(tool.request, WriteRequest) else ""
    yield f"## {tool.name}\n"
    yield f"{prose(tool.summary)} {prose(tool.description)}\n"
    yield f"{'Writes' if traits.writes else 'Reads'}; for the roles {', '.join(sorted(traits.roles))}.\n"
    fields = list(_fields(tool.request, shared))
    if len(fields) > len(_TABLE):
        yield "\n".join(fields)
        yield f"\n{also}\n" if also else ""
    yield f"```json\n{json.dumps(dict(tool.example), indent=2)}\n```\n"


_TABLE = ["| field | needed | what it is |", "|---|---|---|"]


def _fields(model: Any, without: set[str]) -> Iterator[str]:
    yield from _TABLE
    for name, field in model.model_fields.items():
        if name not in without:
            needed = "yes" if field.is_required() else ""
            yield f"| `{to_camel(name)}` | {needed} | {prose(field.description or '')} |"
