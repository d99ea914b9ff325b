"""The command that writes the gardens of another time: `rebuild`."""

from collections import Counter
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import open_garden, read_settings, select_users
from garden.surfaces.cli.options import AsJson, OneUser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from garden.home.folder import Home
    from garden.transfer.rebuilds import PastDocument


class Source(StrEnum):
    """Where a rebuild takes the texts from."""

    EVENTS = "events"
    HISTORY = "history"


def rebuild(
    context: typer.Context,
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="A new or empty folder outside the home.")],
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="The gardens of this time: 2026-11-18, yesterday, 3d.")
    ] = None,
    source: Annotated[
        Source,
        typer.Option("--from", help="Take the texts from the events, or from history copies and files."),
    ] = Source.EVENTS,
    user: OneUser = None,
    as_json: AsJson = False,
) -> None:
    """Write the gardens of any time into a new folder.

    From the events alone, every version is exact. From the history alone, without a look at the events, a
    document whose next change left no copy is given in a later version, and the output names it.
    A document without a file is left out, since it may have been moved. The folder is laid out like users/.
    Exit code 1 if anything is uncertain, left out or refused.

    Examples:
    garden rebuild --to ./in-spring --at 2026-04-01

    garden rebuild --to ./from-copies --from history --user ada
    """
    from garden.surfaces.cli.options import read_time
    from garden.surfaces.cli.render import say, show_json, with_progress
    from garden.transfer.rebuilds import make_empty_target, rebuild_document

    time = read_time(context, "--at", at) if at else None
    with _past_documents(context, source, user, time) as (home, documents):
        make_empty_target(to, home)
        done = [rebuild_document(to, each) for each in with_progress(documents, "Rebuilding")]
    if as_json:
        show_json(done)
    else:
        counts = Counter[str](each.outcome for each in done)
        for each in done:
            if each.outcome != "rebuilt":
                say(f"{each.file}: {each.outcome}. {each.message}")
        shown = ("rebuilt", "uncertain", "left out", "refused")
        say(", ".join(f"{counts[name]} {name}" for name in shown) + ".")
    if any(each.outcome != "rebuilt" for each in done):
        raise typer.Exit(1)


@contextmanager
def _past_documents(
    context: typer.Context, source: Source, user: str | None, at: "datetime | None"
) -> "Iterator[tuple[Home, list[PastDocument]]]":
    from garden.home.folder import open_home
    from garden.transfer.rebuilds import documents_from_events, past_in_history

    if source is Source.HISTORY:
        home = open_home(read_settings(context).settings.home)
        with past_in_history(home, user, at) as documents:
            yield home, documents
        return
    with open_garden(context) as garden:
        services, users = garden.services, select_users(garden, user)
        yield garden.home, [each for name in users for each in documents_from_events(services, name, at)]
