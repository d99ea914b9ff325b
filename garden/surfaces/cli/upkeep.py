"""The commands that look after all gardens of a home: `status`, `reconcile`."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.common import AsJson, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.application import Garden
    from garden.upkeep.reconciliation import Reconciliation
    from garden.upkeep.status import DocumentStatus

_OF_SEVERAL = {"needs a person": "need a person"}
OneUser = Annotated[str | None, typer.Option("--user", metavar="ID", help="Only this user's garden.")]


def status(context: typer.Context, user: OneUser = None, as_json: AsJson = False) -> None:
    """Say how every document stands, and change nothing.

    In step: the file is what the account says. New or drifted: it was edited outside the tools, and the next
    edit takes that into the account. Open: a change was begun and did not come to its end. Quarantined: it
    could not be brought to its end in many attempts; `garden reconcile --quarantined` tries once more.
    Damaged: no tool edits it, and `garden repair` or a person has to mend it. Missing or unreadable: the
    file is not there, or is no text, or a folder can't be listed. Other files beside the documents are
    counted. Exit code 0 where all are in step, 1 where anything is not; `garden reconcile` sees to what
    needs no person.

    Examples:
    garden status

    garden status --user ada --json
    """
    from dataclasses import asdict

    from garden.surfaces.cli.render import show_json, tracked
    from garden.upkeep.status import count_other_files, status_of_user

    with opened(context) as garden:
        users = whose(garden, user)
        found = [
            each for user_id in tracked(users, "Looking") for each in status_of_user(garden.services, user_id)
        ]
        others = sum(count_other_files(garden.services, user_id) for user_id in users)
    if as_json:
        show_json({"documents": [asdict(each) for each in found], "counts": _counts(found), "others": others})
    else:
        _show_status(found)
        _show_others(others)
    if not all(each.in_step for each in found):
        raise typer.Exit(1)


def _counts(found: "Sequence[DocumentStatus]") -> dict[str, int]:
    return dict(Counter(each.state.value for each in found))


def _show_status(found: "Sequence[DocumentStatus]") -> None:
    from rich.text import Text

    from garden.surfaces.cli.render import COLOURS, say, show_table

    colours = {"in step": "ok", "new": "warning", "drifted": "warning", "open": "warning"}
    rows = [
        (
            each.user_id,
            each.path.removeprefix(f"users/{each.user_id}/"),
            each.version or "-",
            Text(each.state, style=COLOURS[colours.get(each.state, "failed")]),
        )
        for each in found
    ]
    if not rows:
        say("There are no documents yet.")
        return
    show_table(("user", "document", "version", "state"), rows)
    say("")
    for each in found:
        if not each.in_step:
            say(f"{each.path}: {each.message}")
    counts = ", ".join(f"{count} {state}" for state, count in _counts(found).items())
    users = _counted(len({each.user_id for each in found}), "user", "users")
    say(f"{_counted(len(found), 'document', 'documents')} of {users}: {counts}.")


def _show_others(count: int) -> None:
    from garden.surfaces.cli.render import say

    if count:
        counted = _counted(count, "other file or folder", "other files or folders")
        say(f"{counted} beside them, unseen by tools.")


def reconcile(
    context: typer.Context,
    user: OneUser = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be opened.")] = False,
    quarantined: Annotated[
        bool, typer.Option("--quarantined", help="Try once more what was given up after many attempts.")
    ] = False,
    heads: Annotated[
        bool,
        typer.Option(
            "--heads", help="First check every seal, and make heads again that do not fit their events."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """End what a crash left open, and adopt what was edited outside.

    The next edit of a document does the same by itself, and so does a running service after a while; this
    does it now, for all that need it. Safe at any moment, and as often as you like. Exit code 1 where
    something is left that needs a person.

    Examples:
    garden reconcile --dry-run

    garden reconcile --user ada

    garden reconcile --quarantined
    """
    from dataclasses import asdict

    from garden.surfaces.cli.interrupts import one_by_one
    from garden.surfaces.cli.render import show_json, tracked
    from garden.upkeep.reconciliation import rebuild_heads, reconcile

    done: list[Reconciliation] = []
    with opened(context) as garden:
        users = whose(garden, user)
        if quarantined and not dry_run:
            garden.services.recoveries.release(user)
        for user_id in tracked(users, "Reconciling"):
            if heads:
                done += one_by_one(rebuild_heads(garden.services, user_id, dry_run=dry_run))
            done += one_by_one(reconcile(garden.services, [user_id], dry_run=dry_run))
    if as_json:
        show_json([asdict(each) for each in done])
    else:
        _show_reconciled(done)
    if not all(each.is_well for each in done):
        raise typer.Exit(1)


def _show_reconciled(done: "Sequence[Reconciliation]") -> None:
    from rich.text import Text

    from garden.surfaces.cli.render import COLOURS, say

    for each in done:
        colour = COLOURS["ok" if each.is_well else "failed"]
        told = f": {each.message}" if each.message else ""
        say(Text.assemble((each.outcome, colour), f"  {each.path or 'the journal'} ({each.before}){told}"))
    counts: Any = Counter(each.outcome for each in done)
    shown = ", ".join(_counted(count, outcome, _OF_SEVERAL.get(outcome)) for outcome, count in counts.items())
    were = _counted(len(done), "document was", "documents were")
    say(f"{were} not in step: {shown}." if done else "Every document is in step.")


def _counted(count: int, one: str, several: str | None = None) -> str:
    return f"{count} {several if several and count != 1 else one}"


def whose(garden: "Garden", user: str | None) -> list[str]:
    """Name the users that are meant: the one named, who must be known here, or all."""
    from garden.upkeep.status import known_users
    from garden.upkeep.verification import UserUnknownError

    users = known_users(garden.services)
    if user is not None and user not in users:
        raise UserUnknownError(
            f"There is no garden of {user!r} here.",
            hint=f"There are: {', '.join(users[:20])}." if users else "'garden plant' begins one.",
        )
    return users if user is None else [user]
