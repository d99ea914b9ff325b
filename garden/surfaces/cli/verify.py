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
    from garden.history.verification import UserReport


def verify(
    context: typer.Context,
    archive: Annotated[
        Path | None,
        typer.Argument(help="An archive to verify by itself, without a home.", show_default=False),
    ] = None,
    user: OneUser = None,
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="For an archive: a key of its log that you trust; repeatable."),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, also if the last run was interrupted.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify that events, files and history copies are what was recorded.

    Follows every chain of events from the first to its head, rebuilds each version on the way, and compares
    it with the seals, the file and the history copies; then the feed, stored answers, tokens and erasures.
    Names the first fault of each chain and every wrong file and copy. An edit outside the tools that is not
    recorded yet is named too: 'garden reconcile' records it. Exit code 0 only if everything holds, else 1.
    An archive is verified alone: checksums, chains, texts, and its proofs with the public keys of its log.
    A run that was interrupted goes on within the hour; what was changed since is verified again.

    Examples:
    garden verify

    garden verify --user ada --json

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
        reports = _verify(garden, select_users(garden, user), restart=restart)
    holds = all(report.holds for report in reports)
    if as_json:
        users = [{**asdict(report), "holds": report.holds} for report in reports]
        show_json({"holds": holds, "users": users})
    else:
        _show(reports)
    if not holds:
        raise typer.Exit(1)


def _verify(garden: "Garden", users: "Sequence[str]", *, restart: bool) -> "list[UserReport]":
    from garden.history.verification import verify_user
    from garden.history.verify_progress import Resumption
    from garden.surfaces.cli.render import say, status_line

    resumption = Resumption(garden.home.state / "verify.json", garden.keys(), restart=restart)
    try:
        with status_line("Verifying") as show:

            def on_document(path: str, events: int) -> None:
                show(f"{path} ({events} events)")

            reports = [
                verify_user(garden.services, user, resumption, on_document=on_document) for user in users
            ]
    except KeyboardInterrupt:
        resumption.save()
        say("Interrupted; the next 'garden verify' goes on here.", error=True)
        raise
    resumption.remove()
    return reports


def _show(reports: "Sequence[UserReport]") -> None:
    from garden.surfaces.cli.render import say
    from garden.surfaces.cli.views import show_user_report

    for report in reports:
        show_user_report(report)
    faults = sum(len(report.faults) for report in reports)
    if not reports:
        say("There is nothing to verify yet.")
    elif faults:
        say(f"{faults} {'thing does' if faults == 1 else 'things do'} not hold.")
    else:
        say("Everything holds.")
