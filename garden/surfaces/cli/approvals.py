"""The commands `garden approvals ...`: list, show, approve and deny calls that were asked about."""

from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import open_desk, parse_json, read_file
from garden.surfaces.cli.options import Actor, AsJson, User

if TYPE_CHECKING:
    from garden.events.approvals import Approval
    from garden.surfaces.cli.desk import Desk

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Answer calls that were asked about.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The approval's id.", show_default=False)]
Reason = Annotated[str | None, typer.Option("--reason", "-m", metavar="WORDS", help="Why; it is kept.")]


@app.command("list")
def list_approvals(
    context: typer.Context,
    state: Annotated[str | None, typer.Option(metavar="STATE", help="Only in this state: pending.")] = None,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """List approvals, newest first.

    Example: garden approvals list --state pending
    """
    from garden.surfaces.cli.render import show_json, show_table

    with open_desk(context, user) as desk:
        found = desk.garden.decisions.list(desk.session.caller, state=state)
        if as_json:
            show_json([each.model_dump(mode="json", by_alias=True) for each in found])
            return
        rows = (
            (each.approval_id, each.state, each.actor, each.tool, desk.time(each.asked_at.isoformat()))
            for each in found
        )
        show_table(("id", "state", "actor", "tool", "asked"), rows)


@app.command("show")
def show_approval(context: typer.Context, approval: Id, user: User = None, as_json: AsJson = False) -> None:
    """Show who asked for what, and what it would change.

    Example: garden approvals show 019a3f5c-0000-7000-8000-000000000000
    """
    with open_desk(context, user) as desk:
        _show(desk, desk.garden.decisions.find(desk.session.caller, approval), as_json=as_json)


@app.command("approve")
def approve(
    context: typer.Context,
    approval: Id,
    args: Annotated[
        str | None,
        typer.Option(metavar="FILE | -", help="Carry it out yourself, with these arguments as JSON."),
    ] = None,
    reason: Reason = None,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Approve a call; its asker then sends it again.

    With --args the changed call is carried out at once, as yours, and the one that was asked about is denied.

    Examples:
    garden approvals approve 019a3f5c-0000-7000-8000-000000000000 --args better.json
    """
    from garden.surfaces.cli.answers import exit_if_refused
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import say

    given = None if args is None else parse_json(read_file(context, args), args)
    with open_desk(context, user, actor=actor) as desk, delay_interrupt():
        decisions, session = desk.garden.decisions, desk.session
        if given is None:
            _show(desk, decisions.decide(session.caller, approval, "approved", reason), as_json=as_json)
            return
        envelope = decisions.carry_out_edited(session.access, approval, given, reason)
        exit_if_refused(envelope, as_json=as_json)
        if not as_json:
            say(f"Carried out as yours (event {envelope['meta'].get('eventId', '-')}).")


@app.command("deny")
def deny(
    context: typer.Context,
    approval: Id,
    reason: Reason = None,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Deny a call.

    Example: garden approvals deny 019a3f5c-0000-7000-8000-000000000000 --reason "Not without her."
    """
    with open_desk(context, user, actor=actor) as desk:
        found = desk.garden.decisions.decide(desk.session.caller, approval, "denied", reason)
        _show(desk, found, as_json=as_json)


@app.command("undo")
def undo(
    context: typer.Context,
    approval: Id,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Take your answer back, within 30 seconds and before the call is carried out.

    Example: garden approvals undo 019a3f5c-0000-7000-8000-000000000000
    """
    with open_desk(context, user, actor=actor) as desk:
        _show(desk, desk.garden.decisions.undo(desk.session.caller, approval), as_json=as_json)


def _show(desk: "Desk", found: "Approval", *, as_json: bool) -> None:
    import json

    from garden.surfaces.cli.render import say, show_diff, show_json

    if as_json:
        show_json(found.model_dump(mode="json", by_alias=True))
        return
    decided = f" by {found.decided_by}" if found.decided_by else ""
    reason = f": {found.reason}" if found.reason else ""
    at = desk.time(found.asked_at.isoformat())
    say(f"{found.tool}, asked by {found.actor} ({found.role}) at {at}: {found.state}{decided}{reason}")
    if found.args is not None:
        say(json.dumps(found.args, ensure_ascii=False))
    if found.diff:
        say(f"+{found.lines_added} -{found.lines_removed}")
        show_diff(found.diff)
