"""The command `garden install-service`: units for systemd, written after they were shown."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import fail_usage, read_settings
from garden.surfaces.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.home.settings import Settings
    from garden.upkeep.service_units import UnitFile


def install_service(
    context: typer.Context,
    own: Annotated[bool, typer.Option("--user", help="Units of your own account, also for root.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the units; write nothing.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Remove the units again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Install systemd units that run this home.

    Shows each file that it writes, all of them outside the home, and asks. As root it writes units of the
    system, which run as the account that owns the home; otherwise units of your own account. It starts
    nothing, and prints the commands that do. It never overwrites a unit that you wrote or edited, and
    --uninstall removes what it wrote.

    Examples:
    garden install-service --user --dry-run

    garden --home /srv/garden install-service --yes
    """
    if not (yes or dry_run) and (as_json or sys.stdin is None or not sys.stdin.isatty()):
        fail_usage(context, "Add --yes, since no terminal is there to ask, or --dry-run.")
    own = own or os.geteuid() != 0
    folder = _folder() if own else Path("/etc/systemd/system")
    settings = read_settings(context).settings
    files = _plan_removal(folder, own=own) if uninstall else _plan(settings, folder, own=own)
    commands = _commands(settings, own=own, uninstall=uninstall)
    if not as_json:
        _show(files, commands)
    if not dry_run:
        _change(files, yes=yes)
    if as_json:
        from garden.surfaces.cli.render import show_json

        shown = [{"path": each.path, "change": each.change} for each in files]
        show_json({"files": shown, "commands": [" ".join(each) for each in commands]})


def _change(files: "Sequence[UnitFile]", *, yes: bool) -> None:
    from garden.upkeep.service_units import put_units

    changes = any(each.change != "keep" for each in files)
    if changes and not (yes or typer.confirm("Change these files?")):
        raise typer.Exit(1)
    put_units(files)


def _folder() -> Path:
    """The folder of the account's own units."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd/user"


def _plan(settings: "Settings", folder: Path, *, own: bool) -> "list[UnitFile]":
    from garden.home.folder import open_home
    from garden.upkeep.service_units import (
        account_of,
        check_environment,
        check_runs,
        installed_program,
        plan_units,
    )

    home, program = open_home(settings.home), installed_program()
    check_environment()
    account = None if own else account_of(home)
    check_runs(program, account)
    return plan_units(home, program, folder, account)


def _plan_removal(folder: Path, *, own: bool) -> "list[UnitFile]":
    from garden.upkeep.service_units import UnitError, enabled_units, plan_removal

    if enabled := enabled_units(folder):
        raise UnitError(
            f"Still enabled: {', '.join(enabled)}.",
            hint=f"First run: {' '.join((*_systemctl(own=own), 'disable', '--now', *enabled))}",
        )
    return plan_removal(folder)


def _systemctl(*, own: bool) -> list[str]:
    return ["systemctl", "--user"] if own else ["systemctl"]


def _commands(settings: "Settings", *, own: bool, uninstall: bool) -> list[list[str]]:
    reload = [*_systemctl(own=own), "daemon-reload"]
    # Without a broker, the service runs the jobs itself, and a worker refuses to start.
    roles = ("serve", "worker", "schedule") if settings.broker_url else ("serve",)
    units = ["memory-garden-database.service", *(f"memory-garden@{role}.service" for role in roles)]
    return [reload] if uninstall else [reload, [*_systemctl(own=own), "enable", "--now", *units]]


def _show(files: "Sequence[UnitFile]", commands: list[list[str]]) -> None:
    from garden.grammar.diffs import unified_diff
    from garden.surfaces.cli.render import say, show_diff

    for each in files:
        say(f"{each.path}: {each.change}")
        show_diff(unified_diff(each.before or "", each.after or "", each.path.name).text)
    say("Nothing is started or stopped without these commands:")
    say("\n".join(f"  {' '.join(each)}" for each in commands))
    if any("enable" in each and "--user" in each for each in commands):
        say("Units of an account end when you log out, unless 'loginctl enable-linger' was run.")
