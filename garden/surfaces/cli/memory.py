"""The commands `garden memory ...` and `garden summaries ...`: keep, list and drop memories."""

from typing import Annotated, Any

import typer

from garden.surfaces.cli import options as common
from garden.surfaces.cli.desk import Desk, open_desk, read_text
from garden.surfaces.cli.typer_classes import TextCommand

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Store, list and forget memories.")
summaries = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Summaries of periods.")
_Category = typer.Option(
    metavar="NAME",
    help="Section of the overview: fact, preference, life-goal, project, open-loop, relationship, health, "
    "work or personal-context.",
)
_Type = typer.Option(
    metavar="TYPE", help="A summary: conversation, daily, weekly, monthly, quarterly or yearly."
)
_Period = typer.Option(metavar="KEY", help="Period of the summary: 2026-11-19, 2026-W47, 2026-11, 2026-Q4.")
_Reason = typer.Option("--rationale", "-m", metavar="WORDS", help="Reason in one sentence.")
_Memory = typer.Argument(metavar="ID", help="The name that list and recall show, or the whole id.")


@app.command(cls=TextCommand)
def store(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT | -", help="The memory, or - to read it from stdin.")],
    category: Annotated[str | None, _Category] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag; repeatable.")] = None,
    priority: Annotated[
        int | None, typer.Option(metavar="N", help="How much to pursue it, 0 to 100.")
    ] = None,
    summary: Annotated[str | None, _Type] = None,
    period: Annotated[str | None, _Period] = None,
    chat: Annotated[str | None, typer.Option(metavar="ID", help="The conversation of the summary.")] = None,
    insist: Annotated[bool, typer.Option("--insist", help="Store it beside what is already known.")] = False,
    rationale: common.Rationale = None,
    key: common.Key = None,
    user: common.User = None,
    actor: common.Actor = "operator",
    as_json: common.AsJson = False,
) -> None:
    """Store a memory in the Inbox of the notes, in the overview, or as the summary of a period.

    A memory that stands there already is shown instead.

    Examples:
    garden memory store "Wants to sail the Baltic" --category life-goal --tag sailing --priority 80

    garden memory store "She slept better." --summary weekly --period 2026-W47
    """
    from garden.surfaces.cli.render import say

    with open_desk(context, user, actor=actor, may_begin=True) as desk:
        stored = _change(
            desk, "memory.store", key, as_json=as_json, content=read_text(context, text), category=category,
            tags=tag, pursuingPriority=priority, summaryType=summary, periodKey=period, chatId=chat,
            insist=insist or None, rationale=rationale,
        )  # fmt: skip
    known = stored.get("alreadyKnown")
    if known and not as_json:
        say(f"Known already: {desk.short(stored['id'])}\n    {known}\n--insist stores it beside this one.")
    elif not as_json:
        say(f"Stored: {desk.short(stored['id'])}")


@app.command("list")
def list_memories(
    context: typer.Context, limit: common.Limit = 10, category: common.Categories = None,
    kind: common.Kinds = None, path: common.Paths = None, tag: common.Tags = None,
    since: common.FromDay = None, until: common.ToDay = None, as_of: common.AsOf = None,
    cursor: common.Cursor = None, user: common.User = None, as_json: common.AsJson = False,
) -> None:  # fmt: skip
    """List memories, newest first, with the names that `garden memory forget` takes.

    Examples:
    garden memory list --category life-goal

    garden memory list --from 3d --path notes.md
    """
    from garden.surfaces.cli.hits import find_and_show
    from garden.surfaces.cli.render import say

    found = find_and_show(
        context, "memory.list", user, path, as_json=as_json, limit=limit, categories=category, kinds=kind,
        tags=tag, fromDay=since, to=until, asOf=as_of, cursor=cursor,
    )  # fmt: skip
    if "cursor" in found and not as_json:
        say(f"More: --cursor {found['cursor']}", "dim", error=True)
    elif not found["memories"] and not as_json:
        say("No memory is found.", error=True)


@app.command()
def forget(
    context: typer.Context, memory: Annotated[str, _Memory], rationale: Annotated[str, _Reason],
    key: common.Key = None, user: common.User = None, actor: common.Actor = "operator",
    as_json: common.AsJson = False,
) -> None:  # fmt: skip
    """Remove a memory from its document. The history keeps its words.

    Example: garden memory forget k3v7q2mzha --rationale "She changed her mind."
    """
    from garden.surfaces.cli.render import say

    with open_desk(context, user, memory.partition("#")[0], actor=actor) as desk:
        named = desk.path(memory) if "#" in memory else memory
        gone = _change(desk, "memory.forget", key, as_json=as_json, id=named, rationale=rationale)
    if not as_json:
        say(f"Forgotten: {desk.short(gone['path'])} · {gone['anchor']}")


@app.command("context")
def print_context(
    context: typer.Context,
    query: Annotated[str | None, typer.Argument(help="What the answer will be about.")] = None,
    tokens: Annotated[int, typer.Option(metavar="N", help="Most tokens of the block.")] = 2000,
    user: common.User = None,
    as_json: common.AsJson = False,
) -> None:
    """Print the block of text that `memory.context` makes for a prompt.

    Example: garden memory context "what helps her sleep" --tokens 500
    """
    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.render import say, show_text

    with open_desk(context, user) as desk:
        block = result_or_exit(desk.call("memory.context", query=query, tokens=tokens), as_json=as_json)
    if not as_json:
        show_text(block["text"])
        omitted = "".join(f"; no room for {each['passages']} of {each['part']}" for each in block["omitted"])
        say(f"{block['tokens']} tokens{omitted}.", "dim", error=True)


@summaries.command()
def due(context: typer.Context, user: common.User = None, as_json: common.AsJson = False) -> None:
    """List the periods that have ended, have entries in the notes, and have no summary yet.

    Example: garden summaries due
    """
    from garden.recall.periods import due_summaries
    from garden.surfaces.cli.render import say, show_json, show_table

    with open_desk(context, user) as desk:
        periods = due_summaries(desk.garden.services, desk.user)
    if as_json:
        show_json([each._asdict() for each in periods])
    elif periods:
        show_table(("summary", "period", "entries"), periods)
    else:
        say("No summary is due.")


def _change(desk: Desk, tool: str, key: str | None, *, as_json: bool, **args: Any) -> dict[str, Any]:
    """Send a change that is carried out once; a refusal ends the command."""
    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.edit import edit_fields
    from garden.surfaces.cli.interrupts import delay_interrupt

    with delay_interrupt():
        envelope = desk.call(tool, **edit_fields(None, None, None, None, key) | args)
        changed: dict[str, Any] = result_or_exit(envelope, as_json=as_json)
    return changed
