"""The commands that move gardens: `import`, `export`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from garden.surfaces.cli.archives import export_archive, import_archive
from garden.surfaces.cli.desk import ROLE, fail_usage, open_garden, resolve_user, select_users
from garden.surfaces.cli.foreign import import_export
from garden.surfaces.cli.options import Actor, AsJson, OneUser, User

ForeignSource = Literal["chatgpt", "claude", "mem0", "basic-memory", "obsidian", "letta"]


def import_folder(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|ARCHIVE|FILE",
            help="A folder with one folder for each user, as in users/; an archive; with --from, an export.",
        ),
    ],
    source: Annotated[
        ForeignSource | None,
        typer.Option("--from", help="The program that made the export.", show_default=False),
    ] = None,
    user: User = None,
    conversations: Annotated[
        bool,
        typer.Option("--conversations/--no-conversations", help="With --from: also conversations."),
    ] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --from: report what would happen, and change nothing.")
    ] = False,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Import gardens, an archive, or another program's export.

    A folder is laid out like users/, with a folder for each user. Each document goes through the write
    path. A document that is here already is skipped if it is the same, and refused if it differs. An
    interrupted import continues when it is run again. Exit code 1 if anything was refused; the output says
    what and why.

    An archive of `garden export --archive` is taken in as a whole, with its history, chain and ids, where its
    user is unknown. It is verified first; one with a fault changes nothing.

    With --from, FILE is a zip, a folder or a JSON file that another program exported. Its memories go into
    the Inbox of the user's notes, its documents below memories/. What an earlier run imported is skipped, or
    updated if the export has it changed.

    Examples:
    garden import ada.tar.gz

    garden import --from mem0 memories.json --user ada --dry-run

    garden import ./sample_users
    """
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import show_json, with_progress
    from garden.surfaces.cli.views import show_transfer
    from garden.transfer.archive_file import is_archive
    from garden.transfer.imports import files_in, import_file
    from garden.writing.callers import make_caller

    if source is not None:
        caller = make_caller(resolve_user(context, user), actor, ROLE)
        import_export(context, source, folder, caller, chats=conversations, dry_run=dry_run, as_json=as_json)
        return
    user_from = context.get_parameter_source("user")
    if dry_run or not conversations or (user_from and user_from.name == "COMMANDLINE"):
        fail_usage(context, "--user, --dry-run and --no-conversations go with --from.")
    if is_archive(folder):
        import_archive(context, folder, as_json=as_json)
        return
    files = files_in(folder)
    with open_garden(context, may_create=True) as garden:
        done = []
        for file in with_progress(files, "Importing"):
            with delay_interrupt():
                done.append(import_file(garden.services, folder, file, actor))
    if as_json:
        show_json(done)
    else:
        show_transfer(done, (("imported", "imported"), ("unchanged", "here already"), ("refused", "refused")))
    if any(each.outcome == "refused" for each in done):
        raise typer.Exit(1)


def export(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="The target folder; created if missing.", show_default=False),
    ] = None,
    user: OneUser = None,
    history: Annotated[
        bool, typer.Option("--history", help="Also export earlier versions, to .history/ in the folder.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Also export the events, one a line, to .events/ in the folder.")
    ] = False,
    archive: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all of one user's garden into this new file instead."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Export gardens to a folder, or one garden to an archive.

    `garden import` accepts both. Exports the files as they are; the same gardens give the same bytes. A file
    that is there already is skipped if it is the same, and refused if it differs. Exit code 1 if anything was
    refused; the output says what and why.

    An archive holds the garden of one user with its history and its whole account. It can be verified
    anywhere, and imported into another home with the same ids.

    Examples:
    garden export ./backup

    garden export ./of-ada --user ada --history --events

    garden export --user ada --archive ada.tar.gz
    """
    from garden.surfaces.cli.render import show_json, with_progress
    from garden.surfaces.cli.views import show_transfer
    from garden.transfer.exports import (
        check_target,
        documents_of,
        export_document,
        export_events,
        make_durable,
        make_target,
    )

    if archive is not None and folder is None:
        export_archive(context, archive, user, as_json=as_json)
        return
    if folder is None or archive is not None:
        fail_usage(context, "Give a folder, or --archive with a file.")
    with open_garden(context) as garden:
        check_target(folder, garden.home)
        users, services = select_users(garden, user), garden.services
        make_target(folder)
        paths = documents_of(services.files, users, history=history)
        done = [export_document(services.files, folder, path) for path in with_progress(paths, "Exporting")]
        done += [export_events(services.reader, folder, each) for each in users if events]
        make_durable(folder, done)
    if as_json:
        show_json(done)
    else:
        show_transfer(
            done, (("exported", "exported"), ("unchanged", "there already"), ("refused", "refused"))
        )
    if any(each.outcome == "refused" for each in done):
        raise typer.Exit(1)
