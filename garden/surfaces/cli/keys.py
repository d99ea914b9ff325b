"""The commands `garden keys ...`: list and rotate the integrity keys, and verify events with them."""

from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import read_settings
from garden.surfaces.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.events.verifier import ChainFault

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="List and rotate the integrity keys; verify events."
)


@app.command("list")
def list_keys(context: typer.Context, as_json: AsJson = False) -> None:
    """List the keys by version, without their bytes.

    Example: garden keys list
    """
    from garden.home.folder import open_home
    from garden.home.keys import KeySource
    from garden.surfaces.cli.render import show_json, show_table

    settings = read_settings(context).settings
    *older, newest = KeySource(settings, open_home(settings.home))().versions
    rows = [(version, "verifies") for version in older] + [(newest, "signs")]
    if as_json:
        show_json([{"version": version, "use": use} for version, use in rows])
    else:
        show_table(("version", "use"), rows)


@app.command()
def rotate(context: typer.Context, as_json: AsJson = False) -> None:
    """Add a fresh key, which signs from now on.

    Older keys stay, to verify what they signed. Running processes take the new key by themselves.

    Example: garden keys rotate
    """
    from garden.home.folder import open_home
    from garden.home.keys import rotate_keys
    from garden.surfaces.cli.render import show

    settings = read_settings(context).settings
    version = rotate_keys(settings, open_home(settings.home)).versions[-1]
    show({"signs": version}, f"Version {version} signs from now on.", as_json=as_json)


@app.command()
def verify(
    context: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this user's events.", metavar="ID")] = None,
    as_json: AsJson = False,
) -> None:
    """Verify that every event is as it was written.

    Follows the chain of events of each document from the first to its head, rebuilds the text on the way, and
    names the first event of each chain that does not verify. Exit code 1 if there is one.

    Examples:
    garden keys verify

    garden keys verify --user ada --json
    """
    from dataclasses import asdict

    from garden.surfaces.cli.render import show_hint, show_json, with_progress
    from garden.surfaces.cli.views import show_verdict
    from garden.upkeep.verification import verify_users

    verdicts = list(with_progress(verify_users(read_settings(context).settings, user), "Verifying"))
    if as_json:
        show_json([{"user": user_id, **asdict(verdict)} for user_id, verdict in verdicts])
    elif not verdicts:
        print("There are no events yet.")
    else:
        for user_id, verdict in verdicts:
            show_verdict(user_id, verdict)
        show_hint(_hint([fault for _, verdict in verdicts for fault in verdict.faults]))
    if not all(verdict.holds for _, verdict in verdicts):
        raise typer.Exit(1)


def _hint(faults: "Sequence[ChainFault]") -> str:
    """What to do; faults of events come before those of heads alone."""
    from garden.history.faults import Part, fault_of_chain

    hints = {fault.part: fault.hint for fault in map(fault_of_chain, faults)}
    return hints.get(Part.EVENTS) or hints.get(Part.HEAD, "")
