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

Made from the migrations and the code by `make docs`. The account of a garden stands in the schema `garden`
of its Postgres. `events.query` gives the events of one user as JSON objects; the column "on the wire" says
under which name. The [reviewer's first steps](start/reviewer.md) show how to read them with SQL.

## How a change is told

An event of a document holds the change as one **splice**: so many bytes into the old text, take these bytes
out, put those in. Applied in the order of `sequence`, from an empty text, the splices of a document's
events whose status is `committed` give the document byte for byte; the first one puts the whole text in.
Beside the splice stands the edit as it was asked for.

What is said without a change (`events.log`) stands in the user's **journal**, a chain of its own: such an
event may name a `path` too, but has no `documentVersion` and no splice.

Nothing of an event ever changes but its state, and no row can be removed: the database's own triggers
refuse both, and the chain of seals shows it where somebody went around them.

| `status` | what it means |
|---|---|
| `pending` | planned and recorded; the file may or may not have been written |
| `written` | the file has been replaced, and the end is not recorded yet |
| `committed` | done: the file says it, and so does the account |
| `failed` | it did not happen, or was undone by an edit from outside; `error` says why |

"""
TABLES: Mapping[str, str] = {
    "events": "An event is one change of one document, or something said in the user's journal.",
    "event_annotations": "An annotation is what was said later about an event that stands: `events.log` with "
    "the correlation ids of a write. It is sealed into the journal's chain.",
    "documents": "The heads: what the account believes each document to be. The row with an empty path is "
    "the end of the journal's chain.",
}
_COMMON = {
    "user_id": "Whose garden it is.",
    "type": "What it is: `profile_update`, `observation`, `external_edit`, ...",
    "op": "What was done: `replace_section`, `append_item`, `note`, ...",
    "rationale": "Why, in the caller's words.",
    "evidence_refs": "What it rests on, as the caller names it.",
    "actor": "Who did it: the name the session was opened with; `external` where a file was edited outside.",
    "role": "In which role: `agent`, `reviewer` or `maintainer`.",
    "tool_call_id": "The agent's own id of the call.",
    "transaction_id": "The agent's own id of what belongs together.",
    "agent_action_id": "The agent's own id of the action.",
    "created_at": "When it was recorded.",
    "chain_hash": "A seal over all of the row that never changes and over the chain hash before it.",
    "integrity_salt_version": "The version of the key that sealed it.",
}
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "events": {
        **_COMMON,
        "event_id": "Its id, a UUID of version 7: ids sort by time.",
        "stream": "The chain it belongs to: the document's path, or empty for the journal.",
        "sequence": "Its place in that chain, from 1 on, without gaps.",
        "tool": "The tool that was called.",
        "path": "The document it is about.",
        "entity": "What the document is about: a part, a relationship, or the user.",
        "section_anchor": "The section that was edited: `concerns v1`.",
        "override_rationale": "Why a cap was exceeded; one line.",
        "edit": "The edit as it was asked for. For `events.log`: its details and hashes.",
        "splice_offset": "The change: so many bytes into the old text,",
        "splice_removed": "these bytes are taken out,",
        "splice_inserted": "and these put in.",
        "document_version": "Which version of the document the change makes, from 1 on.",
        "before_hash": "The hash of the canonical text before; empty where the document begins.",
        "before_raw_hash": "The same over the file's bytes.",
        "intended_hash": "What the canonical text is to hash to afterwards.",
        "intended_raw_hash": "The same over the file's bytes.",
        "lint": "How many findings of each severity there are, which caps were exceeded, what got worse; for "
        "an edit from outside also what it damaged.",
        "idempotency_key": "The key under which a second request is the same one.",
        "line_hash": "A seal over the canonical text that the edit left: the section's where one was edited.",
        "status": "Where the change stands; see above.",
        "after_hash": "What the canonical text hashed to once it was written.",
        "error": "Why it failed: a code and a message.",
        "written_at": "When the file was replaced.",
        "committed_at": "When the change was done.",
        "failed_at": "When it failed.",
        "state_seal": "A seal over the state and the chain hash, renewed with each step.",
        "state_salt_version": "The version of the key that made it.",
    },
    "event_annotations": {
        **_COMMON,
        "annotation_id": "Its id, a UUID of version 7.",
        "event_id": "The event it speaks of.",
        "sequence": "Its place in the journal's chain.",
        "details": "Whatever else was to be kept.",
    },
    "documents": {
        "user_id": "Whose garden it is.",
        "path": "The document; empty for the journal.",
        "version": "How many versions there have been.",
        "content_hash": "The hash of the canonical text.",
        "raw_hash": "The hash of the file's bytes; a file with another one has been edited outside.",
        "head_event_id": "The event that made this version.",
        "open_event_id": "The event that was begun and not ended, if there is one.",
        "tail_sequence": "Where the chain ends: its last sequence number,",
        "tail_chain_hash": "and its last chain hash.",
        "updated_at": "When the head last changed.",
        "seal": "A seal over all of the head.",
        "seal_salt_version": "The version of the key that made it.",
    },
}
VIEWS: Mapping[str, type[BaseModel]] = {"events": EventView, "event_annotations": AnnotationView}


def files() -> dict[Path, str]:
    """Text of the page."""
    sections = "\n".join("\n".join(_section(table, told)) + "\n" for table, told in TABLES.items())
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


def _section(table: str, told: str) -> Iterator[str]:
    yield f"## garden.{table}\n\n{told}\n"
    yield "| column | type | on the wire | what it is |\n|---|---|---|---|"
    for name, kind in columns(table).items():
        wire = wire_name(table, name)
        shown = kind.removeprefix("garden.")
        yield f"| `{name}` | `{shown}` | {f'`{wire}`' if wire else '-'} | {MEANINGS[table][name]} |"


def wire_name(table: str, column: str) -> str | None:
    """Name of a column in the JSON of an event, or None if it is not sent."""
    view = VIEWS.get(table)
    if view is None:
        return None
    first, _, rest = column.partition("_")
    nested = first == "splice" and rest
    known = "splice" if nested else column
    if known not in view.model_fields:
        return None
    return f"splice.{rest}" if nested else to_camel(column)
