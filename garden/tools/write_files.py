"""The raw tools that change something: `fs.ensure_dir`, `fs.write`, `fs.append`, `fs.patch`, `fs.move`."""

from typing import Any, Literal

from pydantic import Field

from garden.events.records import JOURNAL, Statement
from garden.events.wire import Wire
from garden.files.paths import GardenPath
from garden.grammar.edits import AppendToFile, ApplyDiff, WriteFile
from garden.tools.declaration import MAINTAINERS, TENDERS, Call, Edits, Reply, Tool, Traits
from garden.tools.edits import editing, intent_of, reply, request_of
from garden.tools.places import document_to_edit, folder_to_make
from garden.tools.wire import NewHash, WriteRequest
from garden.writing.moves import Move
from garden.writing.planner import Intent, Plan, check_precondition, entity_of


class EnsureDirRequest(WriteRequest):
    """Which folder is to be there."""

    path: str = Field(description="A folder of the garden: users/{userId}/parts/{partId}, for example.")


class FileWriteRequest(WriteRequest):
    """What a document is to say from now on."""

    path: str = Field(description="The document.")
    content: str = Field(description="The whole new text, frontmatter included.")

    @property
    def asked(self) -> dict[str, Any]:
        """Nothing: the event's splice holds the text, and twice would be too much."""
        return {}


class FileAppendRequest(WriteRequest):
    """What is to be added to a document."""

    path: str = Field(description="The document.")
    text: str = Field(description="The entry that goes to the end, after a blank line.")


class FilePatchRequest(WriteRequest):
    """How a document is to change, as a diff."""

    path: str = Field(description="The document.")
    diff_text: str = Field(
        description="A unified diff for this one document; its context must match exactly."
    )


class FileMoveRequest(WriteRequest):
    """Which document is to go where."""

    path: str = Field(description="Where the document is.")
    new_path: str = Field(description="Where it is to be; there must be nothing yet.")


class NewSize(Wire):
    """How many bytes the document has now."""

    new_size: int


class Moved(Wire):
    """That it was done."""

    ok: Literal[True] = True


def ensure_dir(call: Call, request: EnsureDirRequest) -> Reply:
    """Make a folder, and those on the way to it, unless they are there."""
    path = folder_to_make(call.caller, request.path)
    files, asked = call.services.files, None
    # A folder has no hash that could be the right one.
    check_precondition(request.if_match, None)
    if request.dry_run:
        return Reply(None, {"dryRun": True, "unchanged": files.exists(path)})
    if request.idempotency_key is not None:
        asked = request_of(call, "fs.ensure_dir", path, request)
    elif files.exists(path):
        # Whoever made it may have died before it was durable.
        files.ensure_folders(path)
        return Reply(None, {"unchanged": True})
    with call.services.store.document(call.caller, JOURNAL, asked) as journal:
        if journal.earlier is not None:
            return Reply(None, {"eventId": str(journal.earlier.event_id), "replayed": True})
        if files.exists(path):
            files.ensure_folders(path)
            return Reply(None, {"unchanged": True})
        call.services.disk_space.check()
        # The folder comes first: one without an event is made again for nothing, an event without a folder is
        # untrue.
        files.ensure_folders(path)
        return Reply(None, {"eventId": str(journal.record(_folder_made(path, request)).event_id)})


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


def _write_intent(call: Call, request: FileWriteRequest) -> Intent:
    return intent_of(call, "fs.write", request, WriteFile(request.content), "write_file")


def _append_intent(call: Call, request: FileAppendRequest) -> Intent:
    return intent_of(call, "fs.append", request, AppendToFile(request.text), "append_file")


def _patch_intent(call: Call, request: FilePatchRequest) -> Intent:
    edit = ApplyDiff(request.diff_text, request.path)
    return intent_of(call, "fs.patch", request, edit, "apply_diff")


def _new_hash(plan: Plan) -> dict[str, Any]:
    return {"newHash": plan.after.document.hash}


def _new_size(plan: Plan) -> dict[str, Any]:
    return {"newSize": len(plan.after.text.encode())}


def move(call: Call, request: FileMoveRequest) -> Reply:
    """Give a document another path."""
    wanted = Move(
        path=document_to_edit(call.caller, request.path),
        new_path=document_to_edit(call.caller, request.new_path),
        tool="fs.move",
        rationale=request.rationale,
        evidence_refs=request.evidence_refs,
        if_match=request.if_match,
        dry_run=request.dry_run,
    )
    asked = request_of(call, "fs.move", wanted.path, request)
    answer = reply(call.services.mover.move(call.caller, wanted, asked))
    return Reply(answer.result, {**answer.meta, "dryRun": True}) if request.dry_run else answer


_WRITE = Edits(_write_intent, _new_hash)
_APPEND = Edits(_append_intent, _new_size)
_PATCH = Edits(_patch_intent, _new_hash)

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "fs.ensure_dir",
        "Make a folder",
        "Makes a folder of the garden, unless it is there.",
        "Seldom needed: documents make the folders they stand in. Nothing is ever deleted.",
        EnsureDirRequest,
        None,
        ensure_dir,
        Traits(writes=True, roles=TENDERS, cost="light"),
        {"path": "users/ada/parts/critic"},
    ),
    Tool(
        "fs.write",
        "Write a whole document",
        "Puts a new text in the place of a document, or begins one with it.",
        "Anchors, identity and the Change Log must stay as they are. To change one section, "
        "md.patch_section is "
        "safer; to begin a document, md.plant writes the right frontmatter and anchors. Send the hash "
        "that you "
        "read as ifMatch, or what others wrote since is replaced as well.",
        FileWriteRequest,
        NewHash,
        editing(_WRITE),
        Traits(writes=True, replaces=True, roles=TENDERS),
        {
            "path": "users/ada/notes.md",
            "content": "---\nid: ada\nuser_id: ada\nschema: 1\n---\n\n# Notes\n\n## Inbox\n"
            "<!-- @anchor: inbox v1 -->\n\n- 2026-11-18: slept well\n\n## Summaries\n"
            "<!-- @anchor: summaries v1 -->\n",
            "rationale": "She asked for a fresh page.",
        },
        edits=_WRITE,
    ),
    Tool(
        "fs.append",
        "Append to a document",
        "Adds an entry at the end of a document, most of all to notes.",
        "A blank line stands between entries. The end of a document is the end of its last section; "
        "md.patch_section appends to another one, such as inbox. The same words sent twice are recorded "
        "once, unless the second request has an idempotencyKey or toolCallId of its own.",
        FileAppendRequest,
        NewSize,
        editing(_APPEND),
        Traits(writes=True, roles=TENDERS),
        {"path": "users/ada/notes.md", "text": "2026-11-18: laughed about the deadline, for the first time."},
        edits=_APPEND,
    ),
    Tool(
        "fs.patch",
        "Apply a diff",
        "Applies a unified diff to one document.",
        "Context lines must match exactly. Where the place is unique, line numbers may be off; a diff "
        "that fits "
        "nowhere, or in two places, is refused, with the nearest text.",
        FilePatchRequest,
        NewHash,
        editing(_PATCH),
        Traits(writes=True, replaces=True, roles=TENDERS),
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
        "Gives a document another path. For maintainers only.",
        "A profile's frontmatter must fit the new path, so this mends a document that stands in the wrong "
        "place. Its history stays where it is.",
        FileMoveRequest,
        Moved,
        move,
        Traits(writes=True, replaces=True, roles=MAINTAINERS),
        {"path": "users/ada/parts/critik/notes.md", "newPath": "users/ada/parts/critic/notes.md"},
    ),
)
