"""Tools that read files: `fs.list`, `fs.read`, `fs.search`, `fs.hash`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictInt

from garden.events.wire import Wire
from garden.files.errors import FileError, FileMissingError
from garden.files.paths import GardenPath, parse_path
from garden.grammar.errors import GardenError
from garden.grammar.lines import split_any_lines
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.documents import read_document, warnings_of_copy
from garden.tools.globs import matcher
from garden.tools.request_paths import document_or_copy_path, folder_path
from garden.tools.search import LineMatch, Searcher
from garden.tools.wire import Request

RANGES_MAX = 50
MATCHES_MAX = 100
CONTEXT_LINES_MAX = 20
SEARCH_CHARACTERS_MAX = 256 * 1024

_NOTHING_YET = {"hint": "This garden is still empty; md.plant creates a document."}

Count = Annotated[StrictInt, Field(ge=1)]


class InvalidRangeError(GardenError):
    """The file does not have these lines."""

    code = "invalid_input"


class ListRequest(Request):
    """The folder to list."""

    path: str = Field(description="A folder: users/{userId}, a folder below it, or history/{userId}/...")
    glob: Annotated[str, Field(max_length=200)] | None = Field(
        None,
        description="Only paths that match, relative to the folder: *.md, parts/*/notes.md, **/profile.md. A "
        "pattern with / or ** also searches the folders below.",
    )


class LineRange(Wire):
    """Lines of a file, from 1, both ends included."""

    start_line: Count
    end_line: Count


class ReadRequest(Request):
    """The document and lines to read."""

    path: str = Field(description="A document or a history copy.")
    ranges: Annotated[tuple[LineRange, ...], Field(min_length=1, max_length=RANGES_MAX)] | None = Field(
        None, description="Lines to read; by default the file from its beginning."
    )


class Slice(Wire):
    """The lines of one range."""

    start_line: int
    end_line: int
    text: str


class Slices(Wire):
    """The lines of several ranges."""

    range_slices: tuple[Slice, ...]


class SearchRequest(Request):
    """The pattern and where to search."""

    root: str = Field(description="A folder or document; users/{userId} for the whole garden.")
    pattern: Annotated[str, Field(min_length=1, max_length=1000)] = Field(
        description="A regular expression in RE2 syntax, matched line by line."
    )
    glob: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="Only files that match, relative to the root: **/notes.md."
    )
    ignore_case: StrictBool = Field(False, description="Ignore the case of letters.")
    literal: StrictBool = Field(False, description="Treat the pattern as plain text.")
    context: Annotated[StrictInt, Field(ge=0, le=CONTEXT_LINES_MAX)] = Field(
        0, description="Lines to show before and after each match."
    )
    max_matches: Annotated[StrictInt, Field(ge=1, le=MATCHES_MAX)] = Field(
        MATCHES_MAX, description="Maximum number of matching lines."
    )


class Match(Wire):
    """A matching line with its context."""

    path: str
    line: int
    match: str


class HashRequest(Request):
    """The document or section to hash."""

    path: str = Field(description="A document or a history copy.")
    section_anchor: str | None = Field(None, description="Only this section, such as concerns v1.")


def list_names(call: Call, request: ListRequest) -> Reply:
    """List the paths in a folder."""
    folder = folder_path(call.caller, request.path)
    if _is_unplanted(call, folder):
        return Reply([], _NOTHING_YET)
    files, limit = call.services.files, call.services.limits.list_names
    if request.glob is None:
        found = [path.text for path in files.list_folder(folder)]
    else:
        matches = matcher(request.glob)
        deep = "/" in request.glob or "**" in request.glob
        paths = _below(call, folder) if deep else iter(files.list_folder(folder))
        found = [path.text for path in paths if matches(path.text.removeprefix(f"{folder.text}/"))]
    if len(found) <= limit:
        return Reply(found)
    return Reply(
        found[:limit],
        {"truncated": {"shown": limit, "total": len(found)}},
        (f"Only the first {limit} of {len(found)} names are listed; narrow the list with glob.",),
    )


def _is_unplanted(call: Call, place: GardenPath) -> bool:
    """Whether this is the top folder of a garden that does not exist yet; it counts as empty."""
    return place.is_top and not call.services.files.exists(place)


def _below(call: Call, folder: GardenPath) -> Iterator[GardenPath]:
    call.progress.step()
    for path in call.services.files.list_folder(folder):
        yield path
        if path.is_folder:
            yield from _below(call, path)


def read(call: Call, request: ReadRequest) -> Reply:
    """Return a file's text or some of its lines."""
    path = document_or_copy_path(call.caller, request.path)
    services = call.services
    standing = read_document(services, path)
    lines = split_any_lines(standing.text)
    limit = services.limits.read_lines
    if request.ranges is not None:
        reply = _slices(lines, request.ranges, limit)
        is_whole = _covers(reply.result, len(lines))
    else:
        reply = _beginning(standing.text, lines, limit)
        is_whole = len(lines) <= limit
    warnings = (*reply.warnings, *warnings_of_copy(services, path, standing))
    # The hash of the whole would let a caller who has seen only a part replace the rest.
    meta = {"documentHash": standing.document.hash} if is_whole else reply.meta
    return replace(reply, meta=meta, warnings=warnings)


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


def search(call: Call, request: SearchRequest) -> Reply:
    """Find the lines that match, document by document."""
    root = parse_path(request.root, owner=call.caller.user_id)
    searcher = Searcher(request.pattern, ignore_case=request.ignore_case, literal=request.literal)
    wanted = min(request.max_matches, call.services.limits.search_matches)
    if _is_unplanted(call, root):
        return Reply([], _NOTHING_YET)
    found: list[Match] = []
    unread: list[str] = []
    characters = 0
    files, searched = call.services.files, _documents_to_search(call, root, request.glob)
    for number, path in enumerate(searched):
        call.progress.step(number, len(searched), path.text)
        try:
            content = files.content(path)
        except FileError as error:
            # A document named by the caller must be readable; among many, one is skipped.
            if path == root:
                raise
            if isinstance(error, FileMissingError):
                continue
            unread.append(f"{path} was skipped: {error.message}")
            continue
        for hit in searcher.lines(content, request.context, wanted + 1 - len(found)):
            found.append(_match(path, hit))
            characters += len(hit.text)
            if characters > SEARCH_CHARACTERS_MAX:
                wanted = min(wanted, len(found) - 1)
                break
        if len(found) > wanted:
            break
    warnings = tuple(unread)
    if len(found) <= wanted:
        return Reply(found, {}, warnings)
    return Reply(
        found[:wanted],
        {"truncated": {"shown": wanted}},
        (f"There are more than {wanted} matches; narrow the pattern, the root or the glob.", *warnings),
    )


def _match(path: GardenPath, hit: LineMatch) -> Match:
    return Match(path=path.text, line=hit.line, match=hit.text)


def _documents_to_search(call: Call, root: GardenPath, glob: str | None) -> Sequence[GardenPath]:
    if not root.is_folder:
        return (root,) if glob is None or matcher(glob)(root.name) else ()
    if not call.services.files.exists(root):
        raise FileMissingError
    paths = call.services.files.documents(root)
    if glob is None:
        return tuple(paths)
    matches = matcher(glob)
    return [path for path in paths if matches(path.text.removeprefix(f"{root.text}/"))]


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
        "returned; a longer list is marked as truncated.",
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
        "fs.search",
        "Search documents",
        "Find lines that match a regular expression, in one document or a whole folder.",
        "RE2 syntax, matched line by line. Set literal for plain text, ignoreCase to ignore case, context "
        f"for surrounding lines. At most {MATCHES_MAX} matches are returned.",
        SearchRequest,
        list[Match],
        search,
        Traits(cost="many_documents"),
        {"root": "users/ada", "pattern": "deadline|late", "ignoreCase": True},
        positional="opts",
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
