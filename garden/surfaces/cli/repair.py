"""The commands that bring a document back: `repair`, `restore`."""

from typing import Annotated

import typer

from garden.surfaces.cli.desk import fail_usage, open_desk
from garden.surfaces.cli.edit import edit_fields, send_edit
from garden.surfaces.cli.options import (
    Actor,
    AsJson,
    AtTime,
    DocumentPath,
    DryRun,
    Evidence,
    IfMatch,
    Key,
    Rationale,
    User,
    Version,
    read_time,
)


def repair(
    context: typer.Context,
    path: DocumentPath,
    rationale: Rationale = None,
    evidence: Evidence = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Put back anchors and identity keys that an edit removed.

    Keeps every line of the text. The last whole version shows what is missing; an ambiguous place is refused
    with instructions for a repair by hand. `garden status` lists the damaged documents.

    Examples:
    garden repair parts/critic/profile.md --dry-run

    garden repair parts/critic/profile.md -m "Edited on the phone."
    """
    fields = edit_fields(rationale, None, evidence, if_match, key)
    with open_desk(context, user, path, actor=actor) as desk:
        send_edit(desk, "md.repair", {"path": desk.path(path), **fields}, dry_run=dry_run, as_json=as_json)


def restore(
    context: typer.Context,
    path: DocumentPath,
    version: Version = None,
    at: AtTime = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="The version after this event: its id, or the last six or more characters."
        ),
    ] = None,
    rationale: Rationale = None,
    evidence: Evidence = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Restore an earlier version of a document, as a new version.

    Works on missing and damaged files too. The current text stays a version of its own and can be restored in
    the same way. `garden cat` shows an earlier version; `garden events --json` gives each documentVersion.
    Times without an offset are in the time zone
    of the settings, else in UTC.

    Examples:
    garden restore parts/critic/profile.md --version 1 --dry-run

    garden restore parts/critic/profile.md --version 1 -m "Too much was lost."

    garden restore notes.md --at 2026-11-18T08:25

    garden restore parts/critic/profile.md --event 3f9a21c4
    """
    if sum(each is not None for each in (version, at, event)) != 1:
        fail_usage(context, "Give one of --version, --at and --event.")
    time = read_time(context, at).isoformat() if at else None
    fields = edit_fields(rationale, None, evidence, if_match, key)
    with open_desk(context, user, path, actor=actor) as desk:
        args = {"path": desk.path(path), "version": version, "at": time, "event": event, **fields}
        send_edit(desk, "md.restore", args, dry_run=dry_run, as_json=as_json)
