"""Archives on the command line, for `export`, `import` and `verify`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from garden.surfaces.cli.desk import open_garden, resolve_user, select_users

if TYPE_CHECKING:
    from garden.transfer.archive_check import ArchiveVerdict
    from garden.transfer.archive_imports import ImportedArchive
    from garden.transfer.archives import ArchiveContent

_PLURALS = {"history copy": "history copies"}


def export_archive(context: typer.Context, archive: Path, user: str | None, *, as_json: bool) -> None:
    """Write a user's garden into an archive."""
    from garden.surfaces.cli.render import say, show_json, status_line
    from garden.transfer.archives import write_archive
    from garden.transfer.exports import check_target, make_target

    user = resolve_user(context, user)
    with open_garden(context) as garden:
        folder = archive.absolute().parent
        check_target(folder, garden.home)
        [user] = select_users(garden, user)
        make_target(folder)
        with status_line("Exporting"):
            done = write_archive(garden.services, user, archive)
    if as_json:
        show_json(done)
        return
    for path, why in done.exceptions.items():
        say(f"{path}: {why}.")
    say(f"{_contents(done)} of {user} written. Verify it with 'garden verify {archive}'.")


def import_archive(context: typer.Context, archive: Path, *, as_json: bool) -> None:
    """Take an archive in."""
    from garden.events.accounts import Accounts
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import say, show_json, status_line
    from garden.transfer import archive_imports

    with open_garden(context, may_create=True) as garden:
        accounts = Accounts(garden.pools["writers"], garden.keys)
        with delay_interrupt(), status_line("Importing"):
            done = archive_imports.import_archive(garden.services, accounts, archive)
    if as_json:
        show_json(done)
        return
    for note in done.notes:
        say(note)
    say(f"{_contents(done)} of {done.user}: {done.outcome}; the seals {done.seals}.")


def verify_archive(archive: Path, keys: Sequence[str], *, as_json: bool) -> None:
    """Verify an archive by itself; exit code 1 if it has a fault."""
    from dataclasses import asdict

    from garden.history.notes import VerifierKey
    from garden.surfaces.cli.render import say, show_json
    from garden.transfer.archive_check import check_archive

    verdict = check_archive(archive, [VerifierKey.parse(each) for each in keys])
    if as_json:
        show_json({"holds": verdict.holds, **asdict(verdict)})
    else:
        for line in (*verdict.notes, *verdict.proofs, *verdict.faults):
            say(line)
        say(
            f"{_contents(verdict)} of {verdict.user}: everything holds."
            if verdict.holds
            else "It does not hold."
        )
    if not verdict.holds:
        raise typer.Exit(1)


def _contents(done: "ArchiveContent | ArchiveVerdict | ImportedArchive") -> str:
    counts = ((done.documents, "document"), (done.copies, "history copy"), (done.events, "event"))
    named = [f"{n} {one if n == 1 else _PLURALS.get(one, f'{one}s')}" for n, one in counts]
    return f"{', '.join(named[:-1])} and {named[-1]}"
