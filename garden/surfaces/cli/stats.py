"""`garden stats`: how calls went, and how often recall was used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.desk import open_garden, select_users
from garden.surfaces.cli.options import AsJson, OneUser

if TYPE_CHECKING:
    from garden.events.calls import CallLog

Period = Annotated[str, typer.Option(help="1h, 1d or 1w: the last hour, day or week.")]
Actor = Annotated[str | None, typer.Option(help="Only calls by this actor.")]
CalledTool = Annotated[str | None, typer.Option("--tool", help="Only calls of this tool.")]

_CALLS = ("user", "actor", "calls", "success %", "p50 ms", "p95 ms", "p99 ms", "refusals")
_RECALL = ("user", "day", "tool", "calls", "empty", "mean ms", "given")


def stats(
    context: typer.Context,
    user: OneUser = None,
    period: Period = "1d",
    actor: Actor = None,
    tool: CalledTool = None,
    as_json: AsJson = False,
) -> None:
    """Show how calls went by actor, and the use of recall.

    Empty: calls of recall that found nothing. Given: blocks of context. Days are those of UTC.

    Examples:
    garden stats

    garden stats --user ada --period 1w --tool fs.read --json
    """
    from garden.surfaces.cli.render import say, show_json, show_table
    from garden.tools.calls import PERIODS

    if period not in PERIODS:
        raise typer.BadParameter(f"use one of {', '.join(PERIODS)}.", param_hint="--period")
    with open_garden(context) as garden:
        users = list(select_users(garden, user))
        log = garden.services.calls
        calls = [row for name in users for row in _calls_of(log, name, period, actor, tool)]
        used = [row for name in users for row in garden.services.usage.by_day(name)]
    if as_json:
        show_json({"calls": calls, "recall": used})
        return
    if calls:
        show_table(_CALLS, [_cells(row) for row in calls])
    else:
        say("No tool was called in this period.")
    if used:
        show_table(_RECALL, [[_rounded(cell) for cell in row.values()] for row in used])
    else:
        say("Recall has not been used yet.")


def _calls_of(
    log: "CallLog", user_id: str, period: str, actor: str | None, tool: str | None
) -> Iterator[dict[str, Any]]:
    """The figures of each actor."""
    from garden.tools.calls import PERIODS, stats_of

    for name in log.actors(user_id, PERIODS[period]) if actor is None else [actor]:
        found = stats_of(log, user_id, period, name, tool)
        if found.calls:
            yield {"user": user_id, "actor": name, **found.model_dump(mode="json", by_alias=True)}


def _cells(row: dict[str, Any]) -> list[Any]:
    refusals = ", ".join(f"{code}: {count}" for code, count in row["refusals"].items())
    figures = [row["calls"], row["successRate"] * 100, *row["latency"].values()]
    return [row["user"], row["actor"], *map(_rounded, figures), refusals]


def _rounded(cell: Any) -> Any:
    return f"{cell:.1f}" if isinstance(cell, float) else cell
