"""Exports of other programs on the command line, for `import --from`."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from garden.surfaces.cli.desk import open_garden

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.events.records import Caller
    from garden.transfer.foreign_imports import ImportedEntry

_REASONS_SHOWN = 10


def import_export(
    context: typer.Context,
    source: str,
    file: Path,
    caller: "Caller",
    *,
    chats: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import an export into one user's garden, and report each entry."""
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import show_json, status_line, with_progress
    from garden.transfer.foreign_imports import READERS, ForeignImport

    with status_line("Reading"):
        # All of it is read before anything is written, so that a damaged export changes nothing.
        entries = list(READERS[source](file))
    with open_garden(context, may_create=not dry_run) as garden:
        work = ForeignImport(garden.services, source, caller, with_chats=chats, dry_run=dry_run)
        done = []
        for entry in with_progress(entries, "Importing"):
            with delay_interrupt():
                done.append(work.take(entry))
    if as_json:
        show_json(done)
    else:
        _show(done, dry_run=dry_run)
    if any(each.outcome == "refused" for each in done):
        raise typer.Exit(1)


def _show(done: "Sequence[ImportedEntry]", *, dry_run: bool) -> None:
    """Print where entries go, why others do not, and a count for each outcome."""
    from garden.surfaces.cli.render import say
    from garden.surfaces.cli.views import show_transfer

    new = [each for each in done if each.outcome in ("imported", "updated")]
    for path, count in Counter(each.path for each in new).items():
        say(f"{path}: {count} {'entry' if count == 1 else 'entries'}.")
    reasons = Counter(each.message for each in done if each.outcome == "skipped")
    for reason, count in reasons.most_common(_REASONS_SHOWN):
        say(f"{count} skipped: {reason}")
    if dry_run:
        say("A dry run, which changed nothing. Without --dry-run:")
    show_transfer(
        done,
        (
            ("imported", "imported"),
            ("updated", "updated"),
            ("unchanged", "known already"),
            ("skipped", "skipped"),
            ("refused", "refused"),
        ),
    )
