"""`history.*`: the versions of documents, their differences, and where lines and phrases came from."""

from itertools import islice
from typing import Any

from garden.events.reader import InvalidQueryError, Query
from garden.events.versions import Version
from garden.files.paths import GardenPath, PathNotAllowedError, Place, parse_path
from garden.grammar.canonical import decoded
from garden.grammar.lines import split_lines, without_line_end
from garden.grammar.lookup import find_section
from garden.grammar.parser import parse
from garden.history.blame import blame_lines
from garden.history.differences import cut_warning, difference, section_text
from garden.history.gardens import garden_at
from garden.history.lineage import Lineage
from garden.history.log import check_names, read_log
from garden.history.phrases import find_phrase
from garden.history.references import find_version
from garden.home.local_day import now_in
from garden.home.times import parse_time
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.documents import kinds_of, read_document, section_names
from garden.tools.history_shapes import (
    Blame,
    BlamedLine,
    BlameRequest,
    DiffRequest,
    LoggedVersion,
    LogRequest,
    PhraseHit,
    PhraseHits,
    PhraseRequest,
    ShownVersion,
    ShowRequest,
    VersionDiff,
    VersionName,
    VersionPage,
)
from garden.tools.request_paths import document_path
from garden.writing.origins import origin_of

HITS_MAX = 100
_MORE = "There are more versions. Send cursor back for the next page, or narrow the log."


def log(call: Call, request: LogRequest) -> Reply:
    """List versions, newest first."""
    services, now = call.services, now_in(call.services.timezone)
    path = _place(call, request.path) if request.path is not None else None
    document = path if path and not path.is_folder else None
    query = Query(
        section=section_names(services, document, request.anchor) if request.anchor is not None else None,
        since=parse_time(request.from_time, now) if request.from_time else None,
        until=parse_time(request.to, now) if request.to else None,
        actor=request.actor,
        text=request.text,
        limit=request.limit,
        cursor=request.cursor,
    )
    page = read_log(services, call.caller.user_id, path, query)
    if not page.versions:
        declared = {str(each.anchor) for kind in kinds_of(services, document) for each in kind.sections}
        check_names(services, call.caller.user_id, document.text if document else None, query, declared)
    rows = tuple(
        LoggedVersion(
            path=version.path,
            **_name(version),
            **_author(version),
            tool=version.tool,
            op=version.op,
            anchor=version.section_anchor,
            added=added,
            removed=removed,
        )
        for version, added, removed in page.versions
    )
    cursor = str(rows[-1].event_id) if page.has_more else None
    return Reply(VersionPage(versions=rows, cursor=cursor), warnings=(_MORE,) if cursor else ())


def show(call: Call, request: ShowRequest) -> Reply:
    """Show a version of a document, or a folder at a time."""
    path = _place(call, request.path)
    if path.is_folder:
        return _show_folder(call, path, request)
    version = _find(call, path, request.at)
    text = _text(call, version)
    if request.anchor is not None:
        text = section_text(text, request.anchor)
    warnings = () if version.leaves_file else ("The document had no file after this version.",)
    return Reply(ShownVersion(path=version.path, **_name(version), text=text), warnings=warnings)


def _show_folder(call: Call, path: GardenPath, request: ShowRequest) -> Reply:
    now = now_in(call.services.timezone)
    try:
        at = now if request.at.strip().lower() in ("now", "head") else parse_time(request.at, now)
    except ValueError as problem:
        raise InvalidQueryError(
            f"A folder is shown at a time, and {request.at!r} is none: {problem}.",
            hint="Name a time, or a document to show one of its versions.",
        ) from None
    if request.anchor is not None:
        raise InvalidQueryError("A folder has no sections.", hint="Name a document, or leave out the anchor.")
    found = garden_at(call.services.versions, call.services.reader, path, at)
    names = tuple(VersionName(path=each.path, **_name(each)) for each in found.documents)
    left_out = ", ".join(each.path for each in found.left_out[:10])
    cut = (f"{len(found.left_out)} documents are left out of the text; show each by its path: {left_out}.",)
    shown = ShownVersion(path=path.text, time=at, text=found.text, documents=names)
    return Reply(shown, warnings=cut if found.left_out else ())


def diff(call: Call, request: DiffRequest) -> Reply:
    """Compare two versions, or a version with the file."""
    path = document_path(call.caller, request.path)
    before = _text(call, _find(call, path, request.from_version))
    if request.to is not None:
        after = _text(call, _find(call, path, request.to))
    else:
        after = read_document(call.services, path).text
    found = difference(before, after, path.text, request.anchor, words=request.words)
    result = VersionDiff(
        added=found.added, removed=found.removed, diff=found.text, truncated=True if found.lines_cut else None
    )
    counts = {"linesAdded": found.added, "linesRemoved": found.removed}
    return Reply(result, counts, cut_warning(found.lines_cut, "With anchor, compare section by section."))


def blame(call: Call, request: BlameRequest) -> Reply:
    """Name the event that each line came with."""
    user_id, version = call.caller.user_id, _find(call, document_path(call.caller, request.path), request.at)
    lines = blame_lines(call.services.reader, user_id, version)
    numbered = list(enumerate(lines, 1))
    if request.anchor is not None:
        text = decoded(b"".join(each.line for each in lines))
        section = find_section(parse(text), request.anchor)
        # As above, only line feeds end a line.
        first = len(split_lines(text[: section.start]))
        numbered = numbered[first : first + len(split_lines(section.text))]
    events = call.services.versions.named(user_id, list({each.event_id for _, each in numbered}))
    return Reply(
        Blame(
            lines=tuple(
                BlamedLine(
                    **_name(events[each.event_id]),
                    **_author(events[each.event_id]),
                    line=number,
                    text=without_line_end(decoded(each.line)),
                )
                for number, each in numbered
            )
        )
    )


def search(call: Call, request: PhraseRequest) -> Reply:
    """Find when a phrase came and went."""
    user_id = call.caller.user_id
    path = _place(call, request.path).text if request.path is not None else f"users/{user_id}"
    paths = call.services.versions.documents(user_id, path)
    found = list(islice(find_phrase(call.services.reader, user_id, paths, request.text), HITS_MAX + 1))
    hits = tuple(
        PhraseHit(path=each.path, anchor=each.section, came_with=each.came_with, went_with=each.went_with)
        for each in found[:HITS_MAX]
    )
    more = f"There are more than {HITS_MAX} hits. Narrow the search with a path or a longer phrase."
    return Reply(PhraseHits(hits=hits), warnings=(more,) if len(found) > HITS_MAX else ())


def _name(version: Version) -> dict[str, Any]:
    return {"version": version.number, "event_id": version.event_id, "time": version.time}


def _author(version: Version) -> dict[str, Any]:
    return {"actor": version.actor, "origin": origin_of(version), "rationale": version.rationale}


def _place(call: Call, text: str) -> GardenPath:
    """A document or a folder of the garden, which may exist no more."""
    path = parse_path(text, owner=call.caller.user_id)
    if path.place not in (Place.DOCUMENT, Place.FOLDER):
        raise PathNotAllowedError("the history of a document has the document's own path")
    return path


def _find(call: Call, path: GardenPath, reference: str) -> Version:
    lineage = Lineage(call.services.versions, call.caller.user_id, path.text)
    return find_version(lineage, reference, now_in(call.services.timezone))


def _text(call: Call, version: Version) -> str:
    return call.services.reader.text_at(call.caller.user_id, version.path, version.number)


_READING = Traits(cost="document")

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "history.log",
        "List versions",
        "List the versions of a section, a document, a folder or the whole garden, newest first.",
        "Each comes with its event, time, author, rationale, and the lines it added and removed. A document "
        "that was moved is followed to its earlier path. Every filter narrows the log. Send cursor back for "
        "the next page.",
        LogRequest,
        VersionPage,
        log,
        Traits(cost="light"),
        {"path": "users/ada/parts/critic/profile.md", "anchor": "concerns v1", "from": "3 weeks ago"},
    ),
    Tool(
        "history.show",
        "Show a version",
        "Show a document or a section as it was, or a whole garden at a time.",
        "A version is named by its number, its event, a time, or a count back from the newest. Of a folder, "
        "text holds every document under a line with its path.",
        ShowRequest,
        ShownVersion,
        show,
        _READING,
        {"path": "users/ada/parts/critic/profile.md", "at": "1", "anchor": "concerns v1"},
    ),
    Tool(
        "history.diff",
        "Compare versions",
        "Compare two versions of a document, or a version with the file as it is now.",
        "The diff is at most 50 KB; truncated and a warning say what was cut. With words, changed words are "
        "marked in place.",
        DiffRequest,
        VersionDiff,
        diff,
        _READING,
        {"path": "users/ada/parts/critic/profile.md", "from": "v1", "anchor": "concerns v1"},
    ),
    Tool(
        "history.blame",
        "Show who wrote each line",
        "Show who wrote each line of a document, when and why.",
        "Lines are followed when they move within the document, when items merge, and when a document is "
        "moved, restored or repaired.",
        BlameRequest,
        Blame,
        blame,
        _READING,
        {"path": "users/ada/parts/critic/profile.md", "anchor": "concerns v1"},
    ),
    Tool(
        "history.search",
        "Find when a phrase came and went",
        "Find when a phrase came into a section, and when it went.",
        "Each hit names the section and the events. Every version is searched, in any case of letters. "
        "Erased words are not found.",
        PhraseRequest,
        PhraseHits,
        search,
        Traits(cost="many_documents"),
        {"text": "sleeps badly", "path": "users/ada"},
    ),
)
