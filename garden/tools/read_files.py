"""Tools that read files: `fs.list`, `fs.read`, `fs.hash`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool, StrictInt

from garden.events.wire import Wire
from garden.files.errors import FileMissingError
from garden.files.garden_files import FileText
from garden.files.paths import GardenPath
from garden.files.plain_files import time_of
from garden.grammar.errors import GardenError
from garden.grammar.lines import split_any_lines
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.documents import read_document, read_file, warnings_of_copy
from garden.tools.globs import Glob, matcher
from garden.tools.request_paths import document_or_copy_path, folder_path
from garden.tools.wire import Request

RANGES_MAX = 50
DEPTH_MAX = 10
READ_LINES_MAX = 500

NOTHING_YET = {"hint": "This garden is still empty; md.plant creates a document."}
_SORT_KEYS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "name": lambda _: 0,
    "change": lambda each: -each["changedAt"].timestamp(),
    "size": lambda each: -(each["sizeBytes"] or 0),
}

Count = Annotated[StrictInt, Field(ge=1)]


class InvalidRangeError(GardenError):
    """The file does not have these lines."""

    code = "invalid_input"


class ListRequest(Request):
    """The folder to list."""

    rare: ClassVar[frozenset[str]] = frozenset({"depth", "sort", "details", "archived"})

    path: str = Field(description="Such as users/{userId} or history/{userId}/...")
    glob: Glob | None = Field(
        None,
        description="Only paths that match, such as *.md, or **/profile.md for folders below as well.",
    )
    depth: Annotated[StrictInt, Field(ge=1, le=DEPTH_MAX)] | None = Field(
        None, description="Levels of folders to list; 1 unless the glob searches below."
    )
    sort: Literal["name", "change", "size"] = Field(
        "name", description="By name; or by change or size, newest or largest first."
    )
    details: StrictBool = Field(
        False, description="Also give kind, size and time of the last change, in meta.entries."
    )

    archived: StrictBool = Field(False, description="Also list archived documents.")


class LineRange(Wire):
    """Lines of a file, from 1, both ends included."""

    start_line: Count
    end_line: Count


class ReadRequest(Request):
    """The document and lines to read."""

    rare: ClassVar[frozenset[str]] = frozenset({"maxLines"})

    path: str = Field(description="A document or a history copy.")
    ranges: Annotated[tuple[LineRange, ...], Field(min_length=1, max_length=RANGES_MAX)] | None = Field(
        None, description="By default the file from its beginning."
    )
    max_lines: Annotated[StrictInt, Field(ge=1, le=READ_LINES_MAX)] | None = Field(
        None, description="Most lines to return."
    )


class Slice(Wire):
    """The lines of one range."""

    start_line: int
    end_line: int
    text: str


class Slices(Wire):
    """The lines of several ranges."""

    range_slices: tuple[Slice, ...]


class HashRequest(Request):
    """The document or section to hash."""

    path: str = Field(description="A document or a history copy.")
    section_anchor: str | None = Field(None, description="Only this section, such as concerns v1.")


def list_names(call: Call, request: ListRequest) -> Reply:
    """List the paths in a folder."""
    folder = folder_path(call.caller, request.path)
    if is_unplanted(call, folder):
        return Reply([], NOTHING_YET)
    is_deep = request.glob is not None and ("/" in request.glob or "**" in request.glob)
    found = list(_below(call, folder, request.depth or (DEPTH_MAX if is_deep else 1)))
    if request.glob is not None:
        matches = matcher(request.glob)
        found = [path for path in found if matches(path.text.removeprefix(f"{folder.text}/"))]
    if not request.archived:
        found = [path for path in found if not call.services.files.is_archived(path)]
    names, limit, meta = [path.text for path in found], call.services.limits.list_names, dict[str, Any]()
    if request.details or request.sort != "name":
        entries = sorted(_entries(call, found), key=_SORT_KEYS[request.sort])
        names = [each["path"] for each in entries]
        meta = {"entries": entries[:limit]} if request.details else {}
    if len(names) <= limit:
        return Reply(names, meta)
    return Reply(
        names[:limit],
        meta | {"truncated": {"shown": limit, "total": len(names)}},
        (f"Only the first {limit} of {len(names)} names are listed; narrow the list with glob.",),
    )


def _entries(call: Call, paths: list[GardenPath]) -> Iterator[dict[str, Any]]:
    for path in paths:
        # It may have gone meanwhile.
        with suppress(FileMissingError):
            stamp = call.services.files.stamp(path)
            yield {
                "path": path.text,
                "kind": "folder" if path.is_folder else path.kind,
                **({"archived": True} if call.services.files.is_archived(path) else {}),
                "sizeBytes": None if path.is_folder else stamp.size_bytes,
                "changedAt": time_of(stamp.written_ns),
            }


def is_unplanted(call: Call, place: GardenPath) -> bool:
    """Whether this is the top folder of a garden that does not exist yet; it counts as empty."""
    return place.is_top and not call.services.files.exists(place)


def _below(call: Call, folder: GardenPath, depth: int) -> Iterator[GardenPath]:
    call.progress.step()
    for path in call.services.files.list_folder(folder):
        yield path
        if path.is_folder and depth > 1:
            yield from _below(call, path, depth - 1)


def read(call: Call, request: ReadRequest) -> Reply:
    """Return a file's text or some of its lines."""
    path = document_or_copy_path(call.caller, request.path)
    services = call.services
    file, standing = read_file(services, path)
    lines = split_any_lines(standing.text)
    limit = min(services.limits.read_lines, request.max_lines or services.limits.read_lines)
    if request.ranges is not None:
        reply = _slices(lines, request.ranges, limit)
        is_whole = _covers(reply.result, len(lines))
    else:
        reply = _beginning(standing.text, lines, limit)
        is_whole = len(lines) <= limit
    warnings = (*reply.warnings, *warnings_of_copy(services, path, standing))
    # The hash of the whole would let a caller who has seen only a part replace the rest.
    meta = {"documentHash": standing.document.hash} if is_whole else reply.meta
    if path.free is not None and not file.size_bytes:
        warnings += ("This document is archived; history.log names its versions.",)
    return replace(reply, meta={**meta, **_about(file, len(lines))}, warnings=warnings)


def _about(file: FileText, lines: int) -> dict[str, Any]:
    return {
        "totalLines": lines,
        "sizeBytes": file.size_bytes,
        "changedAt": time_of(file.stamp.written_ns),
        "encoding": "utf-8-sig" if file.text.startswith("\ufeff") else "utf-8",
    }


def _beginning(text: str, lines: list[str], limit: int) -> Reply:
    if len(lines) <= limit:
        return Reply(text)
    return _truncated("".join(lines[:limit]), LineRange(start_line=limit + 1, end_line=len(lines)), limit)


def _covers(slices: Slices, lines: int) -> bool:
    """Whether slices show every line of a file."""
    shown = {line for each in slices.range_slices for line in range(each.start_line, each.end_line + 1)}
    return len(shown) == lines


def _slices(lines: list[str], ranges: tuple[LineRange, ...], limit: int) -> Reply:
    slices: list[Slice] = []
    left = limit
    for wanted in ranges:
        check_lines(wanted.start_line, wanted.end_line, len(lines))
        if left == 0:
            return _truncated(Slices(range_slices=tuple(slices)), wanted, limit)
        end = min(wanted.end_line, len(lines))
        last = min(end, wanted.start_line + left - 1)
        text = "".join(lines[wanted.start_line - 1 : last])
        slices.append(Slice(start_line=wanted.start_line, end_line=last, text=text))
        left -= last - wanted.start_line + 1
        if last < end:
            rest = LineRange(start_line=last + 1, end_line=end)
            return _truncated(Slices(range_slices=tuple(slices)), rest, limit)
    return Reply(Slices(range_slices=tuple(slices)))


def check_lines(first: int, last: int, lines: int) -> None:
    """Refuse a range of lines that a file of so many lines does not have."""
    if last < first or first > max(lines, 1):
        raise InvalidRangeError(
            f"There are no lines {first} to {last}: the file has {lines}.",
            hint="Lines count from 1, and endLine is not before startLine.",
        )


def _truncated(result: Any, rest: LineRange, limit: int) -> Reply:
    following = rest.model_dump(by_alias=True)
    return Reply(
        result,
        {"truncated": {"shownLines": limit, "next": following}},
        (f"Only {limit} lines are returned at once; continue with ranges [{_as_json(rest)}].",),
    )


def _as_json(wanted: LineRange) -> str:
    return wanted.model_dump_json(by_alias=True)


def hash_of(call: Call, request: HashRequest) -> Reply:
    """Hash a document, or one section of it, in canonical form."""
    path = document_or_copy_path(call.caller, request.path)
    document = read_document(call.services, path).document
    if request.section_anchor is None:
        return Reply(document.hash)
    from garden.grammar.lookup import find_section

    return Reply(find_section(document, request.section_anchor).hash)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "fs.list",
        "List documents",
        "List the documents and folders in a folder of the garden or its history.",
        "Start with users/{userId}. Folders have no suffix, documents end in .md. At most 500 names are "
        "returned; a longer list is marked as truncated. With sort change and depth 10 the latest work comes "
        "first.",
        ListRequest,
        list[str],
        list_names,
        Traits(cost="light"),
        {"path": "users/ada", "glob": "**/*.md"},
        positional="glob",
    ),
    Tool(
        "fs.read",
        "Read a document",
        "Read a document or some of its lines.",
        "Without ranges, at most the first 500 lines are returned; with ranges, one slice for each. An "
        "answer with every line has meta.documentHash; send it back as ifMatch of an fs.* edit. An "
        "answer with a part has none.",
        ReadRequest,
        str | Slices,
        read,
        Traits(),
        {"path": "users/ada/notes.md", "ranges": [{"startLine": 1, "endLine": 40}]},
        positional="ranges",
    ),
    Tool(
        "fs.hash",
        "Hash a document",
        "Hash a document or one section; white space at line ends does not change the hash.",
        "Send the hash as ifMatch to refuse an edit if the text has changed since.",
        HashRequest,
        str,
        hash_of,
        Traits(),
        {"path": "users/ada/parts/critic/profile.md", "sectionAnchor": "concerns v1"},
        positional="section_anchor",
    ),
)
