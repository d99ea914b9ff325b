"""The commands that look after all gardens of a home: `status`, `reconcile`."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.desk import open_garden, select_users
from garden.surfaces.cli.options import AsJson, OneUser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.recall.backlog import Backlog
    from garden.upkeep.made_again import MadeAgain
    from garden.upkeep.reconciliation import Reconciliation
    from garden.upkeep.status import DocumentStatus

_PLURALS = {"needs a person": "need a person"}


def status(context: typer.Context, user: OneUser = None, as_json: AsJson = False) -> None:
    """Show the state of every document; change nothing.

    In step: the file is what its last event says. New, drifted, moved: it was edited or moved outside the
    tools; the next edit adopts that. Open: a change was interrupted. Quarantined: an interrupted change could
    not be settled in many attempts; `garden reconcile --quarantined` tries once more. Damaged: no tool can
    edit it; run `garden repair`, or fix it by hand. Missing, unreadable: the file is gone, is no text, or its
    folder can't be listed. Copy lost: the history lacks the version before. Exit code 0 if all are in step,
    else 1; `garden reconcile` does what needs no person.

    Counted are other files beside the documents, documents with a second name elsewhere, as in a backup of
    hard links, documents that recall lacks, and passages without a vector. What the service made again in the
    last week, because the disk had set it back, is listed.

    Examples:
    garden status

    garden status --user ada --json
    """
    from garden.files.paths import GardenPath
    from garden.recall.backlog import backlog
    from garden.surfaces.cli.render import show_json, with_progress
    from garden.upkeep.made_again import made_again
    from garden.upkeep.status import status_of_user

    with open_garden(context) as garden:
        users, services = select_users(garden, user), garden.services
        found = [each for name in with_progress(users, "Looking") for each in status_of_user(services, name)]
        folders = [GardenPath(f"users/{name}") for name in users]
        others, linked = (
            sum(map(count, folders)) for count in (services.files.count_others, services.files.count_linked)
        )
        remade = [each for name in users for each in made_again(services, name)]
        recall = {name: backlog(services, name) for name in users}
    if as_json:
        also = {"others": others, "linked": linked, "madeAgain": remade, "recall": recall}
        show_json({"documents": found, "counts": _counts(found), **also})
    else:
        _show_status(found, list(recall.values()))
        _show_notices(others, linked, remade)
    if not all(each.in_step for each in found):
        raise typer.Exit(1)


def _counts(found: "Sequence[DocumentStatus]") -> dict[str, int]:
    return dict(Counter(each.state.value for each in found))


def _show_status(found: "Sequence[DocumentStatus]", recall: "Sequence[Backlog]") -> None:
    from rich.text import Text

    from garden.surfaces.cli.render import COLOURS, say, show_table

    colours = {"in step": "ok", "new": "warning", "moved": "warning", "drifted": "warning", "open": "warning"}
    rows = [
        (
            each.user_id,
            each.path.removeprefix(f"users/{each.user_id}/"),
            each.version or "-",
            Text(each.state, style=COLOURS[colours.get(each.state, "failed")]),
        )
        for each in found
    ]
    if rows:
        show_table(("user", "document", "version", "state"), rows)
        say("")
        for each in found:
            if not each.in_step:
                say(f"{each.path}: {each.message}")
        say(f"Recall: {_recall_line(recall)}")
        counts = ", ".join(f"{count} {state}" for state, count in _counts(found).items())
        users = _counted(len({each.user_id for each in found}), "user", "users")
        say(f"{_counted(len(found), 'document', 'documents')} of {users}: {counts}.")
    else:
        say("There are no documents yet.")


def _show_notices(others: int, linked: int, remade: "Sequence[MadeAgain]") -> None:
    from garden.surfaces.cli.render import say

    if others:
        counted = _counted(others, "other file or folder", "other files or folders")
        say(f"{counted} beside them, unseen by tools.")
    if linked:
        counted = _counted(linked, "document has", "documents have")
        say(f"{counted} a second name elsewhere, a hard link. No edit reaches it.")
    for each in remade:
        say(f"{each.path}: {each.message}")


def _recall_line(backlogs: "Sequence[Backlog]") -> str:
    passages, waiting = (sum(getattr(each, name) for each in backlogs) for name in ("passages", "waiting"))
    behind, embedder = sum(each.behind for each in backlogs), backlogs[0].embedder or "no embedder"
    return f"{passages} passages, {waiting} without a vector ({embedder}); {behind} documents behind."


def reconcile(
    context: typer.Context,
    user: OneUser = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the documents that would be opened; change nothing.")
    ] = False,
    quarantined: Annotated[
        bool, typer.Option("--quarantined", help="Try the quarantined changes once more.")
    ] = False,
    heads: Annotated[
        bool,
        typer.Option(
            "--heads", help="First verify every seal, and rebuild heads that do not fit their events."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Settle interrupted changes and adopt outside edits.

    The next edit of a document does the same, and so does a running service after a while; this command does
    it now, for all documents. It is safe at any moment, and to repeat. Exit code 1 if a document needs a
    person.

    Examples:
    garden reconcile --dry-run

    garden reconcile --user ada

    garden reconcile --quarantined
    """
    from garden.surfaces.cli.interrupts import interrupt_between
    from garden.surfaces.cli.render import show_json, with_progress
    from garden.upkeep.reconciliation import rebuild_heads, reconcile

    done: list[Reconciliation] = []
    with open_garden(context) as garden:
        users = select_users(garden, user)
        if quarantined and not dry_run:
            garden.services.recoveries.release(user)
        for name in with_progress(users, "Reconciling"):
            if heads:
                done += interrupt_between(rebuild_heads(garden.services, name, dry_run=dry_run))
            done += interrupt_between(reconcile(garden.services, [name], dry_run=dry_run))
    if as_json:
        show_json(done)
    else:
        _show_reconciliations(done)
    if not all(each.is_well for each in done):
        raise typer.Exit(1)


def _show_reconciliations(done: "Sequence[Reconciliation]") -> None:
    from rich.text import Text

    from garden.surfaces.cli.render import COLOURS, say

    for each in done:
        colour = COLOURS["ok" if each.is_well else "failed"]
        message = f": {each.message}" if each.message else ""
        say(Text.assemble((each.outcome, colour), f"  {each.path or 'the journal'} ({each.before}){message}"))
    counts: Any = Counter(each.outcome for each in done)
    shown = ", ".join(_counted(count, outcome, _PLURALS.get(outcome)) for outcome, count in counts.items())
    were = _counted(len(done), "document was", "documents were")
    say(f"{were} not in step: {shown}." if done else "Every document is in step.")


def _counted(count: int, one: str, several: str | None = None) -> str:
    return f"{count} {several if several and count != 1 else one}"
