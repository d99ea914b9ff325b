"""docs/events.md, generated from the migrations: every column of the events and what it means."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from garden.events.views import AnnotationView, EventView

REPOSITORY = Path(__file__).parents[1]
TARGET = REPOSITORY / "docs" / "events.md"
HEAD = """\
# Events

Made from the migrations and the code by `make docs`. The event log of a garden is in the schema `garden` of
its Postgres. `events.query` returns the events of one user as JSON objects; the column "on the wire" gives
the name of each field. The [reviewer's first steps](start/reviewer.md) show how to read them with SQL.

## How an event records a change

An event of a document holds the change as a short list of **splices**: each an offset in bytes into the old
text, the bytes removed and the bytes inserted. The offsets ascend. Applied to an empty text in the order of
`sequence`, the splices of a document's `committed` events give the document byte for byte; those of the first
event insert the whole text. The event also holds the edit that the caller asked for.

A statement without a change (`events.log`) is recorded in the user's **journal**, a chain of its own: such an
event may name a `path` too, but has no `documentVersion` and no splices.

Only the state of an event ever changes, and no row can be removed: triggers of the database refuse anything
else, and the chain of seals shows it if someone got past them. Only an [erasure](erasing.md) takes words out.

The chain does not cover an event's words themselves, but **commitments** to them: a salted hash for each
part. The parts are the reasons and evidence, the edit, the texts of the splices, the findings, the content
hashes, and the names (section, correlation ids and key). A part is checked against its commitment while its
salt is there.

| `status` | meaning |
|---|---|
| `pending` | planned and recorded; the file may or may not have been written |
| `written` | the file has been replaced; the commit is not recorded yet |
| `committed` | done: the file and the event log agree |
| `failed` | it did not happen, or an edit from outside undid it; `error` says why |

"""
TABLES: Mapping[str, str] = {
    "events": "An event is one change of one document, or a statement in the user's journal.",
    "event_annotations": "An annotation is a later note about an event: `events.log` about a recorded "
    "write. It is sealed into the journal's chain.",
    "documents": "The heads: the version and hashes that the event log believes each document to have. The "
    "row with an empty path is the end of the journal's chain.",
}
_COMMON = {
    "user_id": "The user whose garden it is.",
    "type": "The kind of event: `profile_update`, `observation`, `external_edit`, ...",
    "op": "The operation: `replace_section`, `append_item`, `note`, ...",
    "rationale": "The reason, in the caller's words.",
    "override_rationale": "The reason for exceeding a cap; one line.",
    "evidence_refs": "The evidence, as the caller names it.",
    "actor": "The actor: the name the session was opened with; `external` for an edit from outside.",
    "role": "The actor's role: `agent`, `reviewer` or `maintainer`.",
    "tool_call_id": "The agent's own id of the call.",
    "transaction_id": "The agent's own id of a group of calls.",
    "agent_action_id": "The agent's own id of the action.",
    "created_at": "When it was recorded.",
    "salts": "The salts of its parts, 16 bytes each; zeros for a part that was erased.",
    "commitments": "The salted hashes of its parts, 32 bytes each; the chain covers them.",
    "chain_hash": "A seal over the columns that never change, the commitments, and the chain hash before it.",
    "integrity_salt_version": "The version of the key that sealed it.",
}
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "events": {
        **_COMMON,
        "event_id": "Its id, a UUID of version 7: ids sort by time.",
        "stream": "Its chain: the document's path, or empty for the journal.",
        "sequence": "Its place in that chain, from 1, without gaps.",
        "tool": "The tool that was called.",
        "path": "The document.",
        "entity": "The subject of the document: a part, a relationship, or the user.",
        "section_anchor": "The section that was edited: `concerns v1`.",
        "sections": "The sections that an edit of the whole document changed, also an edit from outside.",
        "edit": "The edit that the caller asked for. For `events.log`: its details and hashes.",
        "salts": "The salts of its parts, 16 bytes each; zeros for a part that was erased. On the wire the "
        "names of those parts: `reason`, `edit`, `splices`, `findings`, `hashes`, `names`.",
        "splice_offsets": "The offsets of the changes in the old text, in bytes, ascending.",
        "splices_removed": "The bytes removed there.",
        "splices_inserted": "The bytes inserted there.",
        "leaves_file": "Whether the document has a file afterwards; not if it was moved away or erased.",
        "document_version": "The version of the document that the change makes, from 1.",
        "before_hash": "The hash of the canonical text before; empty if there was no file.",
        "before_raw_hash": "The same over the file's bytes.",
        "intended_hash": "The hash that the canonical text is to have afterwards.",
        "intended_raw_hash": "The same over the file's bytes.",
        "lint": "The number of findings of each severity, the caps exceeded, the findings that got worse; "
        "for an edit from outside also the damage.",
        "idempotency_key": "The key that a resent request has in common with the first one.",
        "line_hash": "A seal over the canonical text after the edit: the edited section's, or the whole "
        "document's.",
        "status": "The state of the change; see above.",
        "after_hash": "The hash of the canonical text once it was written.",
        "error": "The reason of a failure: a code and a message.",
        "written_at": "When the file was replaced.",
        "committed_at": "When the change was committed.",
        "failed_at": "When it failed.",
        "state_seal": "A seal over the state and the chain hash, renewed with each step.",
        "state_salt_version": "The version of the key that made it.",
    },
    "event_annotations": {
        **_COMMON,
        "annotation_id": "Its id, a UUID of version 7.",
        "event_id": "The event it is about.",
        "sequence": "Its place in the journal's chain.",
        "details": "Further details from the caller.",
    },
    "documents": {
        "user_id": "The user whose garden it is.",
        "path": "The document; empty for the journal.",
        "version": "The number of versions.",
        "content_hash": "The hash of the canonical text.",
        "raw_hash": "The hash of the file's bytes; a file with another one has been edited outside.",
        "has_file": "Whether there should be a file; false before the first version, and after a move away "
        "or an erasure.",
        "head_event_id": "The event that made this version.",
        "open_event_id": "The event that is not finished, if there is one.",
        "tail_sequence": "The last sequence number of the chain.",
        "tail_chain_hash": "The last chain hash.",
        "updated_at": "When the head last changed.",
        "seal": "A seal over the whole head.",
        "seal_salt_version": "The version of the key that made it.",
    },
}
_SPLICE_FIELDS = {"splice_offsets": "offset", "splices_removed": "removed", "splices_inserted": "inserted"}
VIEWS: Mapping[str, type[BaseModel]] = {"events": EventView, "event_annotations": AnnotationView}


def files() -> dict[Path, str]:
    """Text of the page."""
    sections = "\n".join("\n".join(_section(table, summary)) + "\n" for table, summary in TABLES.items())
    return {TARGET: (HEAD + sections).rstrip() + "\n"}


def columns(table: str) -> dict[str, str]:
    """Give the columns of a table and their types, as the migrations make them."""
    text = "\n".join(path.read_text("utf-8") for path in sorted((REPOSITORY / "migrations").glob("*.sql")))
    created = re.search(rf"^create table garden\.{table} \((.*?)^\)", text, re.DOTALL | re.MULTILINE)
    if created is None:
        raise LookupError(f"no migration creates garden.{table}")
    added = re.findall(rf"^alter table garden\.{table} add column (\w+) +(\S+)", text, re.MULTILINE)
    lines = re.findall(r"^    ([a-z_]+) +(\S+?),?(?: .*)?$", created[1], re.MULTILINE)
    no_columns = {"primary", "unique", "check", "foreign", "then", "else", "and"}
    return {name: kind for name, kind in [*lines, *added] if name not in no_columns}


def _section(table: str, summary: str) -> Iterator[str]:
    yield f"## garden.{table}\n\n{summary}\n"
    yield "| column | type | on the wire | meaning |\n|---|---|---|---|"
    for name, kind in columns(table).items():
        wire = wire_name(table, name)
        shown = kind.removeprefix("garden.")
        yield f"| `{name}` | `{shown}` | {f'`{wire}`' if wire else '-'} | {MEANINGS[table][name]} |"


def wire_name(table: str, column: str) -> str | None:
    """Name of a column in the JSON of an event, or None if it is not sent."""
    view = VIEWS.get(table)
    if view is None:
        return None
    if column == "salts" and "erased" in view.model_fields:
        return "erased"
    if column.startswith("splice"):
        return f"splices[].{_SPLICE_FIELDS[column]}"
    return to_camel(column) if column in view.model_fields else None
