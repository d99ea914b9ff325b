"""The commands that move gardens: `import`, `export`, `rebuild`."""

from collections import Counter
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import fail_usage, open_garden, read_settings, resolve_user, select_users
from garden.surfaces.cli.options import Actor, AsJson, OneUser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from garden.home.folder import Home
    from garden.transfer.archive_imports import ImportedArchive
    from garden.transfer.archives import ArchiveContent
    from garden.transfer.rebuilds import Past


def import_folder(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|ARCHIVE",
            help="A folder with one folder for each user, as in users/, or an archive.",
        ),
    ],
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Import gardens from a folder laid out like users/, or a garden from an archive.

    Each document goes through the write path. A document that is here already is skipped if it is the same,
    and refused if it differs. An interrupted import continues when it is run again. Exit code 1 if anything
    was refused; the output says what and why.

    An archive of `garden export --archive` is taken in as a whole, with its history, chain and ids, where its
    user is unknown. It is verified first; one with a fault changes nothing.

    Examples:
    garden import ./sample_users

    garden import ada.tar.gz
    """
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import show_json, with_progress
    from garden.surfaces.cli.views import show_transfer
    from garden.transfer.archive_file import is_archive
    from garden.transfer.imports import files_in, import_file

    if is_archive(folder):
        _import_archive(context, folder, as_json=as_json)
        return
    files = files_in(folder)
    with open_garden(context) as garden:
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
        Path | None, typer.Argument(help="The target folder; created if missing.", show_default=False)
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
    """Export gardens to a folder that `garden import` accepts, or one garden to an archive.

    Exports the files as they are; the same gardens give the same bytes. A file that is there already is
    skipped if it is the same, and refused if it differs. Exit code 1 if anything was refused; the output says
    what and why.

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

    if (folder is None) == (archive is None):
        fail_usage(context, "Give a folder, or --archive with a file.")
    if folder is None:
        _export_archive(context, archive, user, as_json=as_json)
        return
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
    The folder is laid out like users/. An interrupted rebuild continues when it is run again with the same
    options. Exit code 1 if anything was refused or is uncertain.

    Examples:
    garden rebuild --to ./in-spring --at 2026-04-01

    garden rebuild --to ./from-copies --from history --user ada
    """
    from garden.surfaces.cli.options import read_time
    from garden.surfaces.cli.render import say, show_json, with_progress
    from garden.transfer.rebuilds import begin_rebuild, finish_rebuild, rebuild_document

    time = read_time(context, at) if at else None
    with _past_documents(context, source, user, time) as (home, documents):
        asked = {"at": time.isoformat() if time else None, "from": source.value, "user": user}
        begin_rebuild(to, home, asked)
        past = (give() for give in with_progress(documents, "Rebuilding"))
        done = [rebuild_document(to, each) for each in past if each is not None]
        finish_rebuild(to)
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
) -> "Iterator[tuple[Home, list[Past]]]":
    from garden.home.folder import open_home
    from garden.transfer.rebuilds import documents_from_events, past_in_history

    if source is Source.HISTORY:
        home = open_home(read_settings(context).settings.home)
        with past_in_history(home, user, at) as documents:
            yield home, documents
        return
    with open_garden(context) as garden:
        reader, users = garden.services.reader, select_users(garden, user)
        yield garden.home, [each for name in users for each in documents_from_events(reader, name, at)]


def _export_archive(context: typer.Context, archive: Path | None, user: str | None, *, as_json: bool) -> None:
    from garden.surfaces.cli.render import say, show_json, with_progress
    from garden.transfer.archives import write_archive
    from garden.transfer.exports import check_target

    user, archive = resolve_user(context, user), archive or Path()
    with open_garden(context) as garden:
        check_target(archive.absolute().parent, garden.home)
        [user] = select_users(garden, user)
        [done] = [
            write_archive(garden.services, each, archive) for each in with_progress([user], "Exporting")
        ]
    if as_json:
        show_json(done)
        return
    for path, why in done.exceptions.items():
        say(f"{path}: {why}.")
    say(f"{_contents(done)} of {user} written. Verify it with 'garden verify {archive}'.")


def _import_archive(context: typer.Context, archive: Path, *, as_json: bool) -> None:
    from garden.events.accounts import Accounts
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import say, show_json, with_progress
    from garden.transfer.archive_imports import import_archive

    with open_garden(context) as garden:
        accounts = Accounts(garden.pools["writers"], garden.keys)
        with delay_interrupt():
            [done] = [
                import_archive(garden.services, accounts, each)
                for each in with_progress([archive], "Importing")
            ]
    if as_json:
        show_json(done)
        return
    for note in done.notes:
        say(note)
    say(f"{_contents(done)} of {done.user}: {done.outcome}; seals {done.seals}.")


def _contents(done: "ArchiveContent | ImportedArchive") -> str:
    counts = ((done.documents, "document"), (done.copies, "history copy"), (done.events, "event"))
    named = [f"{n} {one if n == 1 else _PLURALS.get(one, f'{one}s')}" for n, one in counts]
    return f"{', '.join(named[:-1])} and {named[-1]}"


_PLURALS = {"history copy": "history copies"}
