"""The commands `garden keys ...`: the integrity keys, and the account checked with them."""

from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.common import AsJson, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.events.verifier import ChainFault

_TAMPERED = (
    "Keep the database as it is, and compare it with a backup. Where a key is missing, put it back among the "
    "keys and verify again."
)
_OF_HEADS = (
    "Every event that is there holds. Find out what changed the heads; 'garden reconcile --heads' makes them "
    "again from their events."
)

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="List, rotate and verify with the integrity keys."
)


@app.command("list")
def list_keys(context: typer.Context, as_json: AsJson = False) -> None:
    """List the keys by version, never their bytes.

    Example: garden keys list
    """
    from garden.home.folder import open_home
    from garden.home.keys import KeySource
    from garden.surfaces.cli.render import show_json, show_table

    settings = load(context).settings
    *older, newest = KeySource(settings, open_home(settings.home))().versions
    rows = [(version, "verifies") for version in older] + [(newest, "signs")]
    if as_json:
        show_json([{"version": version, "use": use} for version, use in rows])
    else:
        show_table(("version", "use"), rows)


@app.command()
def rotate(context: typer.Context, as_json: AsJson = False) -> None:
    """Add a fresh key that signs from now on.

    The older keys stay, to verify what they have signed. Running processes take the new key by themselves.

    Example: garden keys rotate
    """
    from garden.home.folder import open_home
    from garden.home.keys import rotate_keys
    from garden.surfaces.cli.render import show_json

    settings = load(context).settings
    version = rotate_keys(settings, open_home(settings.home)).versions[-1]
    if as_json:
        show_json({"signs": version})
    else:
        print(f"Version {version} signs from now on.")


@app.command()
def verify(
    context: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this user's account.", metavar="ID")] = None,
    as_json: AsJson = False,
) -> None:
    """Check that every event is what was written.

    Follows each document's chain of events from the first to its head, rebuilding the text on the way, and
    names the first event of each chain that does not hold. Exit code 1 if there is any.

    Examples:
    garden keys verify

    garden keys verify --user ada --json
    """
    from dataclasses import asdict

    from garden.surfaces.cli.render import show_hint, show_json, tracked
    from garden.surfaces.cli.reports import show_verdict
    from garden.upkeep.verification import verify_users

    verdicts = list(tracked(verify_users(load(context).settings, user), "Verifying"))
    if as_json:
        show_json([{"user": user_id, **asdict(verdict)} for user_id, verdict in verdicts])
    elif not verdicts:
        print("There are no events yet.")
    else:
        for user_id, verdict in verdicts:
            show_verdict(user_id, verdict)
        show_hint(_next_step([fault for _, verdict in verdicts for fault in verdict.faults]))
    if not all(verdict.holds for _, verdict in verdicts):
        raise typer.Exit(1)


def _next_step(faults: "Sequence[ChainFault]") -> str:
    if not faults:
        return ""
    return _OF_HEADS if all(fault.of_head for fault in faults) else _TAMPERED
