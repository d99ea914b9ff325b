"""The commands that carry gardens: `import`, `export`."""

from pathlib import Path
from typing import Annotated

import typer

from garden.surfaces.cli.common import Actor, AsJson, opened


def import_folder(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A folder with one folder for each user, as in users/.")],
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Bring gardens in from elsewhere.

    Takes a tree laid out like users/; each document goes through the write path.

    What is here already and the same is passed over, so an interrupted import goes on where it was when it is
    started again. What is here and different is never overwritten. Exit code 1 if anything was refused; the
    report says what and why.

    Example: garden import ./sample_users
    """
    from dataclasses import asdict

    from garden.surfaces.cli.interrupts import finishing
    from garden.surfaces.cli.render import show_json, tracked
    from garden.surfaces.cli.reports import show_carried
    from garden.transfer.imports import files_in, import_file

    files = files_in(folder)
    with opened(context) as garden:
        done = []
        for file in tracked(files, "Importing"):
            with finishing():
                done.append(import_file(garden.services, folder, file, actor))
    if as_json:
        show_json([asdict(each) for each in done])
    else:
        show_carried(done, (("imported", "imported"), ("unchanged", "here already"), ("refused", "refused")))
    if any(each.outcome == "refused" for each in done):
        raise typer.Exit(1)


def export(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Where to; it is made if need be.")],
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="Only this user's garden.")] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Also the earlier versions, in .history/ there.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Also the account, one event a line, in .events/ there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write gardens to a folder elsewhere.

    It becomes a tree that `garden import` takes, with the files as they stand. The same gardens give the same
    bytes. What is there already and the same is passed over; what is there and different is never
    overwritten. Exit code 1 if anything was refused; the report says what and why.

    Examples:
    garden export ./backup

    garden export ./of-ada --user ada --history --events
    """
    from dataclasses import asdict

    from garden.surfaces.cli.render import show_json, tracked
    from garden.surfaces.cli.reports import show_carried
    from garden.surfaces.cli.upkeep import whose
    from garden.transfer.exports import (
        check_target,
        documents_of,
        export_document,
        export_events,
        make_durable,
        make_target,
    )

    with opened(context) as garden:
        check_target(folder, garden.home)
        users, services = whose(garden, user), garden.services
        make_target(folder)
        paths = documents_of(services.files, users, history=history)
        done = [export_document(services.files, folder, path) for path in tracked(paths, "Exporting")]
        accounts = users if events else []
        done += [export_events(services.reader, folder, each) for each in accounts]
        make_durable(folder, done)
    if as_json:
        show_json([asdict(each) for each in done])
    else:
        show_carried(done, (("exported", "exported"), ("unchanged", "there already"), ("refused", "refused")))
    if any(each.outcome == "refused" for each in done):
        raise typer.Exit(1)
