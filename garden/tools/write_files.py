"""Tools that write files: `fs.ensure_dir`, `fs.write`, `fs.append`, `fs.edit`, `fs.patch`, `fs.move`."""

from typing import Any, Literal

from pydantic import Field

from garden.events.records import JOURNAL, Statement
from garden.events.wire import Wire
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.edits import AppendToFile, ApplyDiff, ArchiveDocument, ReplaceText, WriteFile
from garden.tools.declaration import MAINTAINERS, WRITERS, Call, Edits, Reply, Tool, Traits
from garden.tools.edits import edit_handler, intent_of, new_hash_of, request_identity, write_reply
from garden.tools.request_paths import document_path, new_folder_path
from garden.tools.wire import EditRequest, NewHash, WriteRequest
from garden.writing.moves import Move
from garden.writing.plan_refusals import check_precondition
from garden.writing.planner import ARCHIVE_OP, Intent, Plan, entity_of
from garden.writing.replays import replay_outcome


class EnsureDirRequest(WriteRequest):
    """The folder to make."""

    path: str = Field(description="A folder, such as users/{userId}/parts/{partId}.")


class FileWriteRequest(EditRequest):
    """The document and its new text."""

    content: str = Field(description="The whole new text, with frontmatter.")

    @property
    def own_fields(self) -> dict[str, Any]:
        """Empty: the event's splices hold the text already."""
        return {}


class FileAppendRequest(EditRequest):
    """The document and the text to add."""

    text: str = Field(description="The entry to add, after a blank line.")


class FileEditRequest(EditRequest):
    """The document, the text to find in it, and the text to put there."""

    find: str = Field(min_length=1, description="The text to replace.")
    replace: str = Field(description="What takes its place; may be empty.")


class FilePatchRequest(EditRequest):
    """The document and its diff."""

    diff_text: str = Field(description="A unified diff for this document; its context must match exactly.")


class FileMoveRequest(WriteRequest):
    """The document and its new path."""

    path: str = Field(description="The document's path.")
    new_path: str = Field(description="Its new path, where nothing may exist yet.")


class ArchiveRequest(EditRequest):
    """The document to archive."""

    path: str = Field(description="A free-form document.")


class NewSize(Wire):
    """The document's new size in bytes."""

    new_size: int


class Replaced(NewHash):
    """The new hash of the document, and how often the text was found."""

    match_count: Literal[1] = 1


class Moved(Wire):
    """The move is done."""

    ok: Literal[True] = True


def ensure_dir(call: Call, request: EnsureDirRequest) -> Reply:
    """Make a folder and its parents if they are missing."""
    path = new_folder_path(call.caller, request.path)
    files = call.services.files
    # A folder has no hash, so every ifMatch is wrong.
    check_precondition(request.if_match, None)
    asked = (
        request_identity(call, "fs.ensure_dir", path, request)
        if request.idempotency_key is not None
        else None
    )
    if asked is None and files.exists(path):
        return _folder_kept(files, path, request)
    with call.services.store.document(call.caller, JOURNAL, asked) as journal:
        if journal.earlier is not None:
            stands = files.exists(path)
            since = "The folder is still there." if stands else "The folder has gone since."
            return write_reply(replay_outcome(journal.earlier, since, stands=stands), dry_run=request.dry_run)
        if files.exists(path):
            return _folder_kept(files, path, request)
        statement = _folder_made(path, request)
        call.services.write_path.erased_text.refuse_statement(journal, statement)
        call.services.disk_space.check()
        if request.dry_run:
            return Reply(None, {"dryRun": True, "unchanged": False})
        # The folder comes before its event: a folder without an event is harmless, the opposite is untrue.
        files.ensure_folders(path)
        return Reply(None, {"eventId": str(journal.record(statement).event_id)})


def _folder_kept(files: GardenFiles, path: GardenPath, request: EnsureDirRequest) -> Reply:
    if request.dry_run:
        return Reply(None, {"dryRun": True, "unchanged": True})
    # The process that made it may have died before it was durable.
    files.ensure_folders(path)
    return Reply(None, {"unchanged": True})


def _folder_made(path: GardenPath, request: EnsureDirRequest) -> Statement:
    return Statement(
        type="folder_update",
        op="ensure_dir",
        tool="fs.ensure_dir",
        path=path.text,
        entity=entity_of(path),
        rationale=request.rationale,
        evidence_refs=request.evidence_refs,
    )


def _write_intent(_call: Call, path: GardenPath, request: FileWriteRequest) -> Intent:
    return intent_of(path, "fs.write", request, WriteFile(request.content), "write_file")


def _append_intent(_call: Call, path: GardenPath, request: FileAppendRequest) -> Intent:
    return intent_of(path, "fs.append", request, AppendToFile(request.text), "append_file")


def _edit_intent(_call: Call, path: GardenPath, request: FileEditRequest) -> Intent:
    edit = ReplaceText(request.find, request.replace)
    return intent_of(path, "fs.edit", request, edit, "replace_text")


def _patch_intent(_call: Call, path: GardenPath, request: FilePatchRequest) -> Intent:
    edit = ApplyDiff(request.diff_text, request.path)
    return intent_of(path, "fs.patch", request, edit, "apply_diff")


def _archive_intent(_call: Call, path: GardenPath, request: ArchiveRequest) -> Intent:
    return intent_of(path, "fs.archive", request, ArchiveDocument(), ARCHIVE_OP)


def _new_size(plan: Plan) -> dict[str, Any]:
    return {"newSize": len(plan.content)}


def move(call: Call, request: FileMoveRequest) -> Reply:
    """Move a document to another path."""
    wanted = Move(
        path=document_path(call.caller, request.path),
        new_path=document_path(call.caller, request.new_path),
        tool="fs.move",
        rationale=request.rationale,
        evidence_refs=request.evidence_refs,
        if_match=request.if_match,
        dry_run=request.dry_run,
        sees_file=call.sees_file,
    )
    asked = request_identity(call, wanted.tool, wanted.path, request, needs_key=True)
    return write_reply(call.services.mover.move(call.caller, wanted, asked), dry_run=request.dry_run)


_WRITE = Edits(_write_intent, new_hash_of)
_APPEND = Edits(_append_intent, _new_size)
_EDIT = Edits(_edit_intent, new_hash_of)
_PATCH = Edits(_patch_intent, new_hash_of)
_ARCHIVE = Edits(_archive_intent, new_hash_of)

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "fs.archive",
        "Archive a document",
        "Empty a free-form document instead of deleting it; its history stays.",
        "It leaves the lists and recall. md.restore or md.undo brings it back; a write to its path begins it "
        "anew. Profiles, notes and the overview can't be archived.",
        ArchiveRequest,
        NewHash,
        edit_handler(_ARCHIVE),
        Traits(writes=True, replaces=True, roles=WRITERS),
        {"path": "users/ada/memories/tea.md", "rationale": "She drinks coffee now."},
        edits=_ARCHIVE,
    ),
    Tool(
        "fs.ensure_dir",
        "Make a folder",
        "Make a folder in the garden unless it exists.",
        "Rarely needed, because creating a document makes its folder.",
        EnsureDirRequest,
        None,
        ensure_dir,
        Traits(writes=True, roles=WRITERS, cost="light"),
        {"path": "users/ada/parts/critic"},
    ),
    Tool(
        "fs.write",
        "Write a whole document",
        "Replace a document's whole text, or create it; md.patch_section changes one section.",
        "Anchors, identity and the Change Log must stay as they are. Prefer md.plant to "
        "create a document. Send the document's hash as ifMatch, or you also "
        "replace what others wrote since you read it.",
        FileWriteRequest,
        NewHash,
        edit_handler(_WRITE),
        Traits(writes=True, replaces=True, roles=WRITERS),
        {
            "path": "users/ada/notes.md",
            "content": "---\nid: ada\nuser_id: ada\nschema: 1\n---\n\n# Notes\n\n## Inbox\n"
            "<!-- @anchor: inbox v1 -->\n\n- 2026-11-18: slept well\n\n## Summaries\n"
            "<!-- @anchor: summaries v1 -->\n",
            "rationale": "She asked for a fresh page.",
        },
        edits=_WRITE,
        positional="opts",
    ),
    Tool(
        "fs.append",
        "Append to a document",
        "Add an entry to a document, usually to the Inbox of notes.",
        "The entry goes, as given, to the end of the section that the kind of the document declares for "
        "entries: the Inbox of notes. Without such a section it goes to the end of the file, but never "
        "into a Change Log. A blank line separates entries. Use md.patch_section to append to another "
        "section. The same text sent twice by one actor within ten minutes is recorded once if nothing else "
        "changed the document in between, unless the second request has its own "
        "idempotencyKey or toolCallId.",
        FileAppendRequest,
        NewSize,
        edit_handler(_APPEND),
        Traits(writes=True, roles=WRITERS),
        {"path": "users/ada/notes.md", "text": "2026-11-18: laughed about the deadline, for the first time."},
        edits=_APPEND,
    ),
    Tool(
        "fs.edit",
        "Replace a text in a document",
        "Replace a text that stands in a document exactly once.",
        "The text is taken literally and may span lines; line ends need not be the document's. A text that "
        "is not there, or is there more than once, is refused, with matchCount and the nearest lines. "
        "Anchors, identity and the Change Log must stay as they are.",
        FileEditRequest,
        Replaced,
        edit_handler(_EDIT),
        Traits(writes=True, replaces=True, roles=WRITERS),
        {"path": "users/ada/notes.md", "find": "slept well", "replace": "slept very well"},
        edits=_EDIT,
    ),
    Tool(
        "fs.patch",
        "Apply a diff",
        "Apply a unified diff to one document.",
        "Context lines must match exactly. Line numbers may be off if the context is unique. A diff that "
        "fits nowhere or in two places is refused, with the nearest text.",
        FilePatchRequest,
        NewHash,
        edit_handler(_PATCH),
        Traits(writes=True, replaces=True, roles=WRITERS),
        {
            "path": "users/ada/notes.md",
            "diffText": "@@ -9,2 +9,4 @@\n ## Inbox\n <!-- @anchor: inbox v1 -->\n+\n"
            "+- 2026-11-18: slept well\n",
        },
        edits=_PATCH,
    ),
    Tool(
        "fs.move",
        "Move a document",
        "Move a document to another path.",
        "A profile's frontmatter must fit the new path. The history stays at the old path.",
        FileMoveRequest,
        Moved,
        move,
        Traits(writes=True, maintains=True, replaces=True, roles=MAINTAINERS),
        {"path": "users/ada/parts/critik/notes.md", "newPath": "users/ada/parts/critic/notes.md"},
    ),
)
