"""The commands that bring back what a document was, or where: `repair`, `restore`, `undo`, `mv`."""

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
    OverrideRationale,
    Rationale,
    User,
    Version,
    complete_paths,
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
    """Restore an earlier version as a new one.

    Works on missing and damaged files too. The current text stays a version of its own and can be restored in
    the same way. `garden log` lists the versions, and `garden show` shows one. Times without an offset are in
    the time zone of the settings, else in UTC.

    Examples:
    garden restore parts/critic/profile.md --version 1 --dry-run

    garden restore parts/critic/profile.md --version 1 -m "Too much was lost."

    garden restore notes.md --at 2026-11-18T08:25

    garden restore parts/critic/profile.md --event 3f9a21c4
    """
    if sum(each is not None for each in (version, at, event)) != 1:
        fail_usage(context, "Give one of --version, --at and --event.")
    time = read_time(context, "--at", at).isoformat() if at else None
    fields = edit_fields(rationale, None, evidence, if_match, key)
    with open_desk(context, user, path, actor=actor) as desk:
        args = {"path": desk.path(path), "version": version, "at": time, "event": event, **fields}
        send_edit(desk, "md.restore", args, dry_run=dry_run, as_json=as_json)


def undo(
    context: typer.Context,
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="The event's id, or its last six or more characters.")
    ],
    rationale: Rationale = None,
    override_rationale: OverrideRationale = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Take back the change of one event, as a new edit.

    Later changes elsewhere in the document stay. If one of them changed the same lines, nothing is written,
    and the conflict names the words and the events. Lines of the Change Log stay. `garden log` and
    `garden blame` give the ids of events.

    Examples:
    garden undo 3f9a21c4 --dry-run

    garden undo 3f9a21c4 -m "She took it back."
    """
    from garden.surfaces.cli.answers import exit_if_refused, show_edit
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import show_diff

    fields = edit_fields(rationale, override_rationale, None, if_match, key)
    with open_desk(context, user, actor=actor) as desk, delay_interrupt():
        envelope = desk.call("md.undo", event=event, dryRun=dry_run or None, **fields)
        if envelope["ok"] and not as_json:
            if dry_run:
                show_diff(envelope["meta"]["diff"])
            else:
                show_edit(envelope, desk.short(envelope["result"]["path"]))
        exit_if_refused(envelope, as_json=as_json)


def mv(
    context: typer.Context,
    path: DocumentPath,
    new_path: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="Its new path, where nothing may exist yet.", autocompletion=complete_paths
        ),
    ],
    rationale: Rationale = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Move a document to another path, with its history.

    It stays a document of its kind: notes move to notes, a part's profile to a part's. The frontmatter of a
    profile must fit the new path; `garden call fs.move` does the same.

    Examples:
    garden mv parts/critik/notes.md parts/judge/notes.md --dry-run

    garden mv parts/critik/notes.md parts/judge/notes.md -m "She calls it the judge."
    """
    from garden.surfaces.cli.answers import exit_if_refused
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import say

    fields = edit_fields(rationale, None, None, if_match, key)
    with open_desk(context, user, path, actor=actor) as desk, delay_interrupt():
        old, new = desk.path(path), desk.path(new_path)
        envelope = desk.call("fs.move", path=old, newPath=new, dryRun=dry_run or None, **fields)
        if envelope["ok"] and not as_json:
            places = f"{desk.short(old)} to {desk.short(new)}"
            event = envelope["meta"].get("eventId")
            say(f"Would move: {places}" if dry_run else f"Moved: {places} (event {event})")
        exit_if_refused(envelope, as_json=as_json)
