"""The commands that change documents: `plant`, `append`, `patch`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.desk import Desk, fail_usage, open_desk, read_file, read_text, resolve_user
from garden.surfaces.cli.options import (
    Actor,
    AsJson,
    DocumentPath,
    DryRun,
    Evidence,
    IfMatch,
    Key,
    OverrideRationale,
    Rationale,
    User,
)

if TYPE_CHECKING:
    from garden.gateway.dispatcher import Envelope


def append(
    context: typer.Context,
    path: DocumentPath,
    text: Annotated[str, typer.Argument(metavar="TEXT | -", help="The entry, or - to read it from stdin.")],
    timezone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            help="Time zone of the date, such as Europe/Berlin. Default: the setting, else the machine's.",
        ),
    ] = None,
    no_date: Annotated[
        bool, typer.Option("--no-date", help="Add the entry as it is, without a date.")
    ] = False,
    rationale: Rationale = None,
    override_rationale: OverrideRationale = None,
    evidence: Evidence = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Append a dated entry to a document, usually to notes.

    The entry goes to the end of the Inbox, or of the file if its kind names no section for entries. It begins
    with today's date unless the text begins with a date itself.

    Examples:
    garden append notes.md "Slept well."

    garden append notes.md "- Slept well." --timezone Europe/Berlin

    date | garden append notes.md - --no-date --rationale "A sign of life."
    """
    from garden.grammar.dated_entry import dated_entry
    from garden.home.local_day import today_in

    fields = edit_fields(rationale, override_rationale, evidence, if_match, key)
    entry = read_text(context, text)
    with open_desk(context, user, path, actor=actor) as desk:
        if not no_date:
            entry = dated_entry(entry, today_in(timezone or desk.garden.settings.timezone))
        args = {"path": desk.path(path), "text": entry, **fields}
        send_edit(desk, "fs.append", args, dry_run=dry_run, as_json=as_json)


def patch(
    context: typer.Context,
    path: DocumentPath,
    anchor: Annotated[
        str | None, typer.Argument(help="The section: 'concerns v1' or concerns. Not with --diff.")
    ] = None,
    replace: Annotated[
        str | None,
        typer.Option(metavar="TEXT | -", help="New body of the section; - reads it from stdin."),
    ] = None,
    append_text: Annotated[
        str | None,
        typer.Option("--append", metavar="TEXT | -", help="Text to add to the body; - reads it from stdin."),
    ] = None,
    diff: Annotated[
        str | None,
        typer.Option(metavar="FILE | -", help="Unified diff of the whole document; - reads it from stdin."),
    ] = None,
    rationale: Rationale = None,
    override_rationale: OverrideRationale = None,
    evidence: Evidence = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Change one section of a document, or apply a diff.

    The rest of the document stays as it is, byte for byte. In a profile the edit adds its own line to the
    Change Log, so give a --rationale.

    Examples:
    garden patch parts/critic/profile.md "concerns v1" --append "- Says yes too soon" -m "She named it."

    garden patch parts/critic/profile.md concerns --replace "- Says yes too soon" --dry-run

    cat new.md | garden patch overview.md "summary v1" --replace - -m "Brought up to date."

    garden patch notes.md --diff change.diff
    """
    changes = [change for change in (replace, append_text, diff) if change is not None]
    if len(changes) != 1:
        fail_usage(context, "Give one of --replace, --append and --diff.")
    if (anchor is None) != (diff is not None):
        fail_usage(
            context,
            "Name the section, as in: garden patch PATH 'concerns v1' --replace TEXT; or give --diff alone.",
        )
    fields = edit_fields(rationale, override_rationale, evidence, if_match, key)
    text = read_file(context, diff) if diff is not None else read_text(context, changes[0])
    with open_desk(context, user, path, actor=actor) as desk:
        args: dict[str, Any] = {"path": desk.path(path), **fields}
        if diff is not None:
            send_edit(desk, "fs.patch", {**args, "diffText": text}, dry_run=dry_run, as_json=as_json)
            return
        args |= {"sectionAnchor": anchor, "change": {"replace" if replace is not None else "append": text}}
        send_edit(desk, "md.patch_section", args, dry_run=dry_run, as_json=as_json)


def edit_fields(
    rationale: str | None,
    override: str | None,
    evidence: list[str] | None,
    if_match: str | None,
    key: str | None,
) -> dict[str, Any]:
    """Fields that every edit may have; without a key given it gets a fresh one."""
    from uuid import uuid4

    return {
        "rationale": rationale,
        "overrideRationale": override,
        "evidenceRefs": evidence or None,
        "ifMatch": if_match,
        # A person who types the same text twice wants it twice.
        "idempotencyKey": key or f"garden-{uuid4()}",
    }


def send_edit(desk: Desk, tool: str, args: dict[str, Any], *, dry_run: bool, as_json: bool) -> None:
    """Send an edit without the arguments that are None, or with `dry_run` propose it; show the answer."""
    from garden.surfaces.cli.answers import exit_if_refused, show_edit, show_proposal
    from garden.surfaces.cli.interrupts import delay_interrupt

    given = {name: value for name, value in args.items() if value is not None}
    with delay_interrupt():
        envelope = (
            desk.session.call("propose_change", {"tool": tool, "args": given})
            if dry_run
            else desk.session.call(tool, given)
        )
        if envelope["ok"] and not as_json:
            (show_proposal if dry_run else show_edit)(envelope, desk.short(args["path"]))
        exit_if_refused(envelope, as_json=as_json)


def plant(
    context: typer.Context,
    part: Annotated[
        str | None, typer.Option(metavar="ID", help="Plant a part: its profile and notes.")
    ] = None,
    relationship: Annotated[
        str | None, typer.Option(metavar="ID", help="Plant a relationship: its profile and notes.")
    ] = None,
    participants: Annotated[
        str | None, typer.Option(metavar="A,B", help="Participants of the relationship: part ids or names.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="T", help="Title of the profile or overview.")] = None,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Begin a garden, a part or a relationship.

    Without --part and --relationship it plants the user's overview and notes. A document that exists already
    is left as it is, without an error.

    Examples:
    garden plant --user ada --title "Ada"

    garden plant --user ada --part critic --title "The Critic"

    garden plant --user ada --relationship critic-and-child --participants critic,child
    """
    from garden.surfaces.cli.interrupts import delay_interrupt

    if part is not None and relationship is not None:
        fail_usage(context, "Give either --part or --relationship.")
    if (relationship is None) != (participants is None):
        fail_usage(context, "Give --relationship and --participants together.")
    below = f"/parts/{part}" if part is not None else f"/relationships/{relationship}" if relationship else ""
    user = resolve_user(context, user)
    first: dict[str, Any] = {"path": f"users/{user}{below}/{'profile' if below else 'overview'}.md"}
    if title is not None:
        first["title"] = title
    if participants is not None:
        first["participants"] = [each.strip() for each in participants.split(",") if each.strip()]
    notes = {"path": f"users/{user}{below}/notes.md"}
    if title is not None:
        notes["title"] = f"Notes: {title}"
    with open_desk(context, user, actor=actor, may_begin=True, may_create=True) as desk, delay_interrupt():
        answers = [(each["path"], desk.session.call("md.plant", each)) for each in (first, notes)]
        _show_planted(answers, as_json=as_json)


def _show_planted(answers: "list[tuple[str, Envelope]]", *, as_json: bool) -> None:
    from garden.surfaces.cli.answers import exit_if_refused
    from garden.surfaces.cli.render import show_json

    if as_json:
        show_json([{"path": path, **envelope} for path, envelope in answers])
        if not all(envelope["ok"] or _exists_already(envelope) for _, envelope in answers):
            raise typer.Exit(1)
        return
    for path, envelope in answers:
        if _exists_already(envelope):
            print(f"Exists already: {path}")
        elif envelope["ok"]:
            print(f"Planted: {path}")
    for path, envelope in answers:
        if not _exists_already(envelope):
            exit_if_refused(envelope, path)


def _exists_already(envelope: "Envelope") -> bool:
    return not envelope["ok"] and envelope["error"]["code"] == "already_exists"
