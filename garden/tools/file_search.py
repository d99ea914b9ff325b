"""`fs.search` finds the lines of documents that match an expression."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import islice
from typing import Annotated, Any, ClassVar
from zlib import crc32

from pydantic import Field, StrictBool, StrictInt

from garden.events.reader import InvalidQueryError
from garden.events.wire import Wire
from garden.files.errors import FileError, FileMissingError
from garden.files.paths import GardenPath, parse_path
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.globs import Glob, matcher
from garden.tools.read_files import NOTHING_YET, is_unplanted
from garden.tools.search import Place, Searcher, column_of, text_around, with_plain_ends
from garden.tools.wire import Line, Request

MATCHES_MAX = 100
COUNTED_MAX = 10_000
TOP_FILES = 5
CONTEXT_LINES_MAX = 20
SEARCH_CHARACTERS_MAX = 256 * 1024

_Position = tuple[str, int]
_Found = tuple[GardenPath, bytes, list[Place]]
# Before the first line of every document.
_TOP: _Position = ("", 0)


class SearchRequest(Request):
    """The pattern and where to search."""

    rare: ClassVar[frozenset[str]] = frozenset(
        {"roots", "exclude", "context", "maxMatches", "groupByFile", "cursor"}
    )

    root: str = Field(description="A folder or document; users/{userId} for the whole garden.")
    pattern: Annotated[str, Field(min_length=1, max_length=1000)] = Field(
        description="A regular expression (RE2)."
    )
    glob: Glob | None = Field(None, description="Only such files: **/notes.md.")
    ignore_case: StrictBool = Field(False, description="In any case of letters.")
    literal: StrictBool = Field(False, description="The pattern is plain text.")
    context: Annotated[StrictInt, Field(ge=0, le=CONTEXT_LINES_MAX)] = Field(
        0, description="Lines around each match."
    )
    max_matches: Annotated[StrictInt, Field(ge=1, le=MATCHES_MAX)] = Field(
        MATCHES_MAX, description="Most lines that match."
    )
    roots: Annotated[tuple[str, ...], Field(max_length=20)] = Field(
        (), description="Further folders or documents to search."
    )
    exclude: Annotated[tuple[Glob, ...], Field(max_length=20)] = Field(
        (), description="No files that match one of these, relative to the root."
    )
    group_by_file: StrictBool = Field(
        False, description=f"Put the {TOP_FILES} files with the most matches first; meta.files counts theirs."
    )
    cursor: Line | None = Field(None, description="meta.cursor of the same search, for its next matches.")


class Match(Wire):
    """A matching line with its context."""

    path: str
    line: int
    match: str


@dataclass
class _Hunt:
    """One search: the documents that it could not read, and what it counted and shows."""

    call: Call
    request: SearchRequest
    roots: Sequence[GardenPath]
    unread: dict[GardenPath, str] = field(default_factory=dict)
    counts: dict[GardenPath, int] = field(default_factory=dict)
    matches: list[Match] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)

    @property
    def top_files(self) -> list[GardenPath]:
        """The documents with the most matches."""
        return nlargest(TOP_FILES, filter(self.counts.get, self.counts), key=self.counts.__getitem__)

    def count(self, documents: Sequence[GardenPath], after: _Position) -> Iterator[_Found]:
        """Count the matching lines of documents, and give them; those of the first one after a line."""
        asked = self.request
        searcher = Searcher(asked.pattern, ignore_case=asked.ignore_case, literal=asked.literal)
        left = COUNTED_MAX
        for number, path in enumerate(documents):
            self.call.progress.step(number, len(documents), path.text)
            if left > 0 and (content := self._content(path)) is not None:
                data = with_plain_ends(content)
                first = after[1] if path.text == after[0] else 0
                places = list(islice((each for each in searcher.places(data) if each.line > first), left))
                self.counts[path] = len(places)
                left -= len(places)
                yield path, data, places

    def show(self, documents: Sequence[GardenPath], after: _Position, room: int) -> None:
        """Show the first matches; the others are only counted."""
        characters = 0
        for path, data, places in self.count(documents, after):
            lines = data.split(b"\n") if places and room > 0 else []
            for place in islice(places, max(room, 0)):
                text = text_around(lines, place, self.request.context)
                characters += len(text)
                if characters > SEARCH_CHARACTERS_MAX:
                    room = 0
                    break
                self.matches.append(Match(path=path.text, line=place.line, match=text))
                self.columns.append(column_of(data, place))
                room -= 1

    def _content(self, path: GardenPath) -> bytes | None:
        try:
            return self.call.services.files.content(path)
        except FileError as error:
            # A document named by the caller must be readable; among many, one is skipped.
            if path in self.roots:
                raise
            if not isinstance(error, FileMissingError):
                self.unread[path] = f"{path} was skipped: {error.message}"
            return None


def search(call: Call, request: SearchRequest) -> Reply:
    """Find the lines that match, document by document."""
    given = dict.fromkeys((request.root, *request.roots))
    roots = [parse_path(each, owner=call.caller.user_id) for each in given]
    after = _place_in(request)
    begun = [root for root in roots if not is_unplanted(call, root)]
    documents = [path for path in _documents_in(call, request, begun) if _order(path) >= _order(after[0])]
    hunt = _Hunt(call, request, roots)
    room = min(request.max_matches, call.services.limits.search_matches)
    if request.group_by_file:
        found = [path for path, _, places in hunt.count(documents, _TOP) if places]
        documents = list(dict.fromkeys([*hunt.top_files, *found]))[:room]
    hunt.show(documents, after, room)
    return _reply(hunt) if begun else Reply([], NOTHING_YET)


def _documents_in(call: Call, request: SearchRequest, roots: Sequence[GardenPath]) -> list[GardenPath]:
    """The documents in the roots that the globs leave, sorted."""
    wanted = matcher(request.glob) if request.glob is not None else lambda _: True
    excluded = [matcher(glob) for glob in request.exclude]
    found: dict[GardenPath, None] = {}
    for root in roots:
        if root.is_folder and not call.services.files.exists(root):
            raise FileMissingError
        for path in call.services.files.documents(root) if root.is_folder else (root,):
            name = path.text.removeprefix(f"{root}/") if root.is_folder else root.name
            if wanted(name) and not any(matches(name) for matches in excluded):
                found[path] = None
    return sorted(found, key=_order)


def _order(path: GardenPath | str) -> list[str]:
    """Documents come folder by folder."""
    return str(path).split("/")


def _reply(hunt: _Hunt) -> Reply:
    shown, total, request = len(hunt.matches), sum(hunt.counts.values()), hunt.request
    meta: dict[str, Any] = {
        "totalMatches": total,
        "filesSearched": len(hunt.counts),
        "columns": hunt.columns,
    }
    warnings = list(hunt.unread.values())
    if request.group_by_file:
        meta["files"] = [{"path": each.text, "matches": hunt.counts[each]} for each in hunt.top_files]
    if shown < total:
        meta["truncated"] = {"shown": shown, "total": total}
        go_on = "narrow the pattern, the root or the glob."
        if not request.group_by_file:
            meta["cursor"] = f"{_fingerprint(request)}:{hunt.matches[-1].line}:{hunt.matches[-1].path}"
            go_on = f"send meta.cursor back for the next ones, or {go_on}"
        warnings.insert(0, f"There are more than {shown} matches; {go_on}")
    if total >= COUNTED_MAX:
        warnings.append(f"Counting ended at {COUNTED_MAX} matches; there may be more.")
    return Reply(hunt.matches, meta, tuple(warnings))


def _place_in(request: SearchRequest) -> tuple[str, int]:
    """The document and line after which a cursor goes on."""
    if request.cursor is None:
        return _TOP
    fingerprint, line, path = [*request.cursor.split(":", 2), "", ""][:3]
    is_own = fingerprint == _fingerprint(request) and not request.group_by_file
    if not is_own or re.fullmatch("[0-9]{1,9}", line) is None:
        raise InvalidQueryError(
            "The cursor does not come from this search.",
            hint="Send meta.cursor of the last answer unchanged, with the same pattern, roots, globs and "
            "options; a search with groupByFile has none.",
        )
    return path, int(line)


def _fingerprint(request: SearchRequest) -> str:
    """A short mark of everything that decides which lines match."""
    asked = request.model_dump_json(exclude={"context", "max_matches", "cursor"})
    return f"{crc32(asked.encode()):08x}"


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "fs.search",
        "Search documents",
        "Find lines that match a regular expression, in one document or several folders.",
        "RE2 syntax, matched line by line. Set literal for plain text, ignoreCase to ignore case, context "
        f"for surrounding lines. At most {MATCHES_MAX} matches are returned; meta.cursor gets the next. "
        "meta.columns has the column of each match, meta.totalMatches their number from the cursor on.",
        SearchRequest,
        list[Match],
        search,
        Traits(cost="many_documents"),
        {"root": "users/ada", "pattern": "deadline|late", "ignoreCase": True},
        positional="opts",
    ),
)
