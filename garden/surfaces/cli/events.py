"""The commands that look up what happened: `events`, `event`."""

from typing import Annotated

import typer

from garden.events.saga import Status
from garden.surfaces.cli.desk import Desk, open_desk
from garden.surfaces.cli.options import AsJson, Since, Until, User, complete_paths, complete_tools, read_time

_PAGE = 500


def events(
    context: typer.Context,
    path: Annotated[
        str | None, typer.Argument(help="Only of this document.", autocompletion=complete_paths)
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="ANCHOR", help="Only of this section: 'concerns v1', or concerns.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Only of this type: profile_update, external_edit, ..."),
    ] = None,
    op: Annotated[
        str | None, typer.Option(metavar="OP", help="Only with this op: replace_section, append_item, ...")
    ] = None,
    tool: Annotated[
        str | None,
        typer.Option(metavar="TOOL", help="Only of this tool: fs.append, ...", autocompletion=complete_tools),
    ] = None,
    status: Annotated[list[Status] | None, typer.Option(help="Only with this status; repeatable.")] = None,
    since: Since = None,
    until: Until = None,
    actor: Annotated[str | None, typer.Option(metavar="NAME", help="Only by this actor.")] = None,
    evidence: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="Only with this evidence: ev:s12-m40.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only with all of these words in a rationale.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Show at most N events.")] = 20,
    every: Annotated[bool, typer.Option("--all", help="Show all events.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show the diff of each event.")] = False,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """List events, newest first.

    A list that was cut says so, and an actor, type, op or tool that no event has is an error.
    The first column is the end of an event's id, which `garden event` accepts. Times without an offset are in
    the time zone of the settings, else in UTC; 90m, 12h, 3d, 2w and '3 weeks ago' are ages. Times are shown
    in that zone too, and on a terminal without the setting in the machine's.

    Examples:
    garden events

    garden events notes.md --since 3d

    garden events --actor companion --text "harvest" --diff

    garden events --all --json
    """
    from garden.surfaces.cli.answers import exit_if_refused
    from garden.surfaces.cli.pages import cursor_after, join_pages, read_pages
    from garden.surfaces.cli.render import say, show_hint
    from garden.surfaces.cli.views import show_events

    filters = {
        "sectionAnchor": section,
        "type": kind,
        "op": op,
        "tool": tool,
        "status": status or None,
        "since": read_time(context, "--since", since).isoformat() if since else None,
        "until": read_time(context, "--until", until).isoformat() if until else None,
        "actor": actor,
        "evidenceRef": evidence,
        "text": text,
    }
    with open_desk(context, user, *([path] if path else [])) as desk:
        query = {"path": desk.path(path) if path else None, **filters}
        wanted = None if every else limit
        pages = read_pages(desk, "events.query", query, rows="rows", limit=wanted, page_max=_PAGE)
        found, shown = [], 0
        for page in pages:
            rows = page["result"]["rows"] if page["ok"] else []
            if page["ok"] and not rows:
                names = {"actor": actor, "type": kind, "op": op, "tool": tool}
                desk.garden.lookups.check_filters(desk.session.caller, names)
            if as_json:
                found.append(page)
                continue
            exit_if_refused(page)
            show_events(desk, rows, headed=shown == 0, diff=diff)
            shown += len(rows)
    if as_json:
        exit_if_refused(join_pages(found, "rows"), as_json=True)
    elif not shown:
        say("No events found.", error=True)
    elif cursor_after(page):
        show_hint(f"more than {shown} events; --limit N or --all shows more.")


def event(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="ID", help="The event's id, or its last six or more characters.")
    ],
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Show one event in full, with its diff.

    `garden events`, the answer to every edit, and Change Log lines give the id.

    Examples:
    garden event 3f9a21c4

    garden event 0199a7c2-5d1e-7c55-b3aa-0c2d3f9a21c4 --json
    """
    with open_desk(context, user) as desk:
        show_event_named(desk, name, as_json=as_json)


def show_event_named(desk: Desk, name: str, *, as_json: bool) -> None:
    """Show the event with this id, or with this end of it."""
    from garden.surfaces.cli.render import say, show_json
    from garden.surfaces.cli.views import show_event

    lookups, caller = desk.garden.lookups, desk.session.caller
    row = lookups.event_named(desk.session.access, name).model_dump(mode="json", by_alias=True)
    if as_json:
        show_json({"ok": True, "result": row, "meta": {"warnings": []}})
    else:
        show_event(desk, row, lookups.diff(caller, row["eventId"]))
        if back := lookups.way_back(caller, row["eventId"]):
            say(back)
