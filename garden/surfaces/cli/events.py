"""The commands that look up what happened: `events`, `event`."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from garden.surfaces.cli.common import AsJson, Desk, User, at_work, complete_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from garden.access.dispatcher import Envelope

StatusName = Literal["pending", "written", "committed", "failed"]
_PAGE = 500


def events(
    context: typer.Context,
    path: Annotated[
        str | None, typer.Argument(help="Only of this document.", autocompletion=complete_paths)
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="ANCHOR", help="Only of this section: 'concerns v1'.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Only of this type: profile_update, external_edit, ..."),
    ] = None,
    op: Annotated[
        str | None, typer.Option(metavar="OP", help="Only with this op: replace_section, append_item, ...")
    ] = None,
    status: Annotated[StatusName | None, typer.Option(help="Only those in this state.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="From this time on: 2026-11-18, 2026-11-18T08:25, 3d.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before this time.")] = None,
    actor: Annotated[str | None, typer.Option(metavar="NAME", help="Only by this actor.")] = None,
    text: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only with all of these words in a rationale.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="So many at most.")] = 20,
    every: Annotated[bool, typer.Option("--all", help="All of them, however many.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Also what each of them changed.")] = False,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """List what happened, newest first: when, who, what, where.

    The first column is the end of an event's id; `garden event` takes it and shows the event whole. Times
    without an offset are in UTC; 90m, 12h, 3d and 2w are so long ago.

    Examples:
    garden events

    garden events notes.md --since 3d

    garden events --actor companion --text "harvest" --diff

    garden events --all --json
    """
    from garden.surfaces.cli.answers import refuse
    from garden.surfaces.cli.event_view import show_events
    from garden.surfaces.cli.lookup import time_of
    from garden.surfaces.cli.render import say, show_json

    filters = {
        "sectionAnchor": section,
        "type": kind,
        "op": op,
        "status": status,
        "since": time_of(context, since).isoformat() if since else None,
        "until": time_of(context, until).isoformat() if until else None,
        "actor": actor,
        "text": text,
    }
    with at_work(context, user, *([path] if path else [])) as desk:
        asked = {"path": desk.path(path) if path else None, **filters}
        pages = _pages(desk, asked, None if every else limit)
        if as_json:
            envelope = _joined(list(pages))
            show_json(envelope)
            refuse(envelope, as_json=True)
            return
        shown = 0
        for page in pages:
            refuse(page)
            rows = page["result"]["rows"]
            show_events(desk, rows, headed=shown == 0, diff=diff)
            shown += len(rows)
    if not shown:
        say("There are no such events.", error=True)


def _pages(desk: Desk, asked: dict[str, Any], limit: int | None) -> "Iterator[Envelope]":
    """Ask page by page, until there are as many as were wanted; a refusal is the last page."""
    cursor: str | None = None
    while limit is None or limit > 0:
        envelope = desk.call("events.query", **asked, limit=min(limit or _PAGE, _PAGE), cursor=cursor)
        yield envelope
        cursor = envelope["meta"].get("cursor") if envelope["ok"] else None
        if cursor is None:
            return
        if limit is not None:
            limit -= len(envelope["result"]["rows"])


def _joined(pages: "list[Envelope]") -> "Envelope":
    last = pages[-1]
    if not last["ok"]:
        return last
    return {**last, "result": {"rows": [row for page in pages for row in page["result"]["rows"]]}}


def event(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="ID", help="The event's id, or the last six or more signs of it.")
    ],
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Show one event whole, with what it changed.

    The id stands in what `garden events` lists, in the answer of every edit, and in Change Log lines.

    Examples:
    garden event 3f9a21c4

    garden event 0199a7c2-5d1e-7c55-b3aa-0c2d3f9a21c4 --json
    """
    from garden.surfaces.cli.event_view import show_event
    from garden.surfaces.cli.render import show_json

    with at_work(context, user) as desk:
        lookups, caller = desk.garden.lookups, desk.session.caller
        row = lookups.event_named(caller, name).model_dump(mode="json", by_alias=True)
        if as_json:
            show_json({"ok": True, "result": row, "meta": {"warnings": []}})
        else:
            show_event(desk, row, lookups.diff(caller, row["eventId"]))
