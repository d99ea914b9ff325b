"""The command `garden verify`, which compares all that a home holds with what was recorded."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.archives import verify_archive
from garden.surfaces.cli.desk import fail_usage, open_garden, select_users
from garden.surfaces.cli.options import AsJson, OneUser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.application import Garden
    from garden.history.faults import Fault
    from garden.history.verification import UserReport


def verify(
    context: typer.Context,
    archive: Annotated[
        Path | None, typer.Argument(help="An archive, verified alone, without a home.", show_default=False)
    ] = None,
    user: OneUser = None,
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="For an archive: a key of its log that you trust; repeatable."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Verify words and copies of newer events only; compare older ones with the log and this.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Compare with a checkpoint kept elsewhere, which shows what was cut off or rewritten.",
        ),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, also if the last run was interrupted.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify that events, files and copies are as recorded.

    Follows every chain of events from the first to its head, rebuilds each version on the way, and compares
    it with the seals, the file and the history copies; then the feed, stored answers, tokens, erasures and
    the transparency log. Names the first fault of each chain and every wrong file and copy. An edit outside
    the tools that is not recorded yet is named too: 'garden reconcile' records it. Exit code 0 only if
    everything holds, else 1. An interrupted run goes on within the hour; what was changed since is verified
    again. An archive is verified alone: checksums, chains, texts, and its proofs with the keys of its log.

    Examples:
    garden verify

    garden verify --user ada --json

    garden verify --restart

    garden verify ada.tar.gz
    """
    if archive is not None:
        verify_archive(archive, key or (), as_json=as_json)
        return
    if key:
        fail_usage(context, "--key is for an archive.")
    from dataclasses import asdict

    from garden.surfaces.cli.render import show_json

    with open_garden(context) as garden:
        size, kept = _since(context, garden, since, against)
        faults, reports = _verify(garden, select_users(garden, user), size, kept, restart=restart)
    holds = not faults and all(report.holds for report in reports)
    if as_json:
        users = [{**asdict(report), "holds": report.holds} for report in reports]
        show_json({"holds": holds, "users": users, "log": faults})
    else:
        _show(reports, faults)
    if not holds:
        raise typer.Exit(1)


def _since(
    context: typer.Context, garden: "Garden", since: str | None, against: str | None
) -> tuple[int | None, str | None]:
    """The number of log entries to pass over, and the checkpoint to compare with."""
    if since is None:
        return None, against
    if against is not None:
        fail_usage(context, "--since compares its checkpoint with the log too; leave out --against.")
    from garden.history.checkpoints import verified_checkpoint
    from garden.history.fetching import read_note

    return verified_checkpoint(garden.services, read_note(since)).size, since


def _verify(
    garden: "Garden", users: "Sequence[str]", since: int | None, against: str | None, *, restart: bool
) -> "tuple[list[Fault], list[UserReport]]":
    from garden.history.log_check import check_log
    from garden.history.verification import verify_user
    from garden.history.verify_progress import Resumption
    from garden.surfaces.cli.render import say, status_line

    file = garden.home.state / "verify.json" if since is None else None
    resumption = Resumption(file, garden.keys(), restart=restart)
    try:
        with status_line("Verifying") as show:

            def on_document(path: str, events: int) -> None:
                show(f"{path} ({events} events)")

            reports = [
                verify_user(garden.services, user, resumption, since=since, on_document=on_document)
                for user in users
            ]
            faults = list(check_log(garden.services, against, lambda: show("the log")))
    except KeyboardInterrupt:
        resumption.save()
        say("Interrupted; the next 'garden verify' goes on here.", error=True)
        raise
    resumption.remove()
    return faults, reports


def _show(reports: "Sequence[UserReport]", log_faults: "Sequence[Fault]") -> None:
    from garden.surfaces.cli.render import say
    from garden.surfaces.cli.views import show_fault, show_user_report

    for report in reports:
        show_user_report(report)
    for fault in log_faults:
        show_fault(fault)
    faults = len(log_faults) + sum(len(report.faults) for report in reports)
    if not reports and not faults:
        say("There is nothing to verify yet.")
    elif faults:
        say(f"{faults} {'thing does' if faults == 1 else 'things do'} not hold.")
    else:
        say("Everything holds.")
