"""The commands that bring a document back: `repair`, `restore`."""

from typing import Annotated, Any

import typer

from garden.surfaces.cli.common import Actor, AsJson, Document, User, at_work, misused
from garden.surfaces.cli.edit import DryRun, Evidence, IfMatch, Key, Rationale, edit, said


def repair(
    context: typer.Context,
    path: Document,
    rationale: Rationale = None,
    evidence: Evidence = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Put back the anchors and the identity that an edit outside the tools took away.

    Every line of the text stays. The last whole version says what is missing; what can't be told for certain
    is refused, with what to do by hand. `garden status` shows which documents are damaged.

    Examples:
    garden repair parts/critic/profile.md --dry-run

    garden repair parts/critic/profile.md -m "Edited on the phone."
    """
    given = said(rationale, None, evidence, if_match, key)
    with at_work(context, user, path, actor=actor) as desk:
        edit(desk, "md.repair", {"path": desk.path(path), **given}, dry_run=dry_run, as_json=as_json)


def restore(
    context: typer.Context,
    path: Document,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The version of this number.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="What it said at this time: 2026-11-18, 2026-11-18T08:25, 3d ago as 3d."
        ),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="What it said after this event: its id, or the last six or more signs of it."
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
    """Put an earlier version of a document in its place, as a new version.

    It works where the file is missing or damaged as well. Nothing is lost: what stands there now is a version
    like the others, and can come back in the same way. `garden cat` shows a version before, `garden events
    --json` has the documentVersion of each. Times without an offset are in UTC.

    Examples:
    garden restore parts/critic/profile.md --version 1 --dry-run

    garden restore parts/critic/profile.md --version 1 -m "Too much was lost."

    garden restore notes.md --at 2026-11-18T08:25

    garden restore parts/critic/profile.md --event 3f9a21c4
    """
    from garden.surfaces.cli.lookup import time_of

    if sum(each is not None for each in (version, at, event)) != 1:
        misused(context, "Give one of --version, --at and --event.")
    wanted = {"version": version, "at": time_of(context, at).isoformat() if at else None, "event": event}
    named: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    given = said(rationale, None, evidence, if_match, key)
    with at_work(context, user, path, actor=actor) as desk:
        args = {"path": desk.path(path), **named, **given}
        edit(desk, "md.restore", args, dry_run=dry_run, as_json=as_json)
