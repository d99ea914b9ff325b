"""The command `garden`: its subcommands in their groups, and how it ends."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

import garden
from garden.grammar.errors import GardenError
from garden.surfaces.cli import (
    database,
    edit,
    events,
    home,
    keys,
    lint,
    read,
    repair,
    serve,
    tokens,
    tools,
    transfer,
    upkeep,
)
from garden.surfaces.cli.common import Invocation, invocation
from garden.surfaces.cli.groups import Grouped, ReaderGoneError
from garden.surfaces.cli.list_entries import TakingTexts

app = typer.Typer(
    name="garden",
    cls=Grouped,
    help="Memory Garden: a file-first memory service for companion agents.",
    epilog="Exit codes: 0 success; 1 a problem that the message explains; 2 a misuse of the command; "
    "130 after Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_GROUPS: dict[str, dict[str, Callable[..., None]]] = {
    "Read a garden": {"ls": read.ls, "cat": read.cat, "search": read.search},
    "Tend a garden": {
        "plant": edit.plant,
        "append": edit.append,
        "patch": edit.patch,
        "lint": lint.lint,
        "repair": repair.repair,
        "restore": repair.restore,
    },
    "Look up what happened": {"events": events.events, "event": events.event},
    "Use the agent's tools": {"call": tools.call, "tools": tools.tools},
    "Carry gardens": {"import": transfer.import_folder, "export": transfer.export},
    "Serve gardens": {
        "serve": serve.serve,
        "mcp": serve.mcp,
        "worker": serve.worker,
        "schedule": serve.schedule,
    },
    "Look after a home": {
        "init": home.init,
        "config": home.config,
        "migrate": home.migrate,
        "doctor": home.doctor,
        "status": upkeep.status,
        "reconcile": upkeep.reconcile,
        "demo": home.demo,
    },
}
for _title, _commands in _GROUPS.items():
    for _name, _command in _commands.items():
        app.command(_name, cls=TakingTexts, rich_help_panel=_title)(_command)
app.add_typer(tokens.app, name="token", rich_help_panel="Serve gardens")
app.add_typer(database.app, name="database", rich_help_panel="Look after a home")
app.add_typer(keys.app, name="keys", rich_help_panel="Look after a home")


def main() -> None:
    """Run the command; 0 is success, 1 a problem that the message explains, 2 a misuse of the command."""
    with ExitStack() as stack:
        # A closed stream is None here, and printing to it an error that nobody could read.
        sys.stdout = sys.stdout or stack.enter_context(Path(os.devnull).open("w"))
        sys.stderr = sys.stderr or stack.enter_context(Path(os.devnull).open("w"))
        sys.exit(_run())


def _run() -> int | str | None:
    for stream in (sys.stdout, sys.stderr):
        # What a terminal can't show is shown by its number; nothing that is said may fail for that.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        code = _ended(Invocation())
        # Here rather than in the interpreter's last moments, where nobody could tell of it.
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        _hush()
        return 0
    except OSError as error:
        code = _failed(error)
    return code


def _ended(told: Invocation) -> int | str | None:
    try:
        app(obj=told, prog_name="garden")
    except SystemExit as end:
        return end.code
    except GardenError as error:
        return _refused(told, error)
    return 0


def _refused(told: Invocation, error: GardenError) -> int:
    from garden.surfaces.cli.render import show_error, show_json
    from garden.surfaces.cli.wording import at_a_shell

    if told.as_json:
        from garden.access.dispatcher import refusal

        show_json(refusal(error))
    elif error.code == "unknown_tool":
        # Whoever names a tool is told of tools, and of the command that lists them.
        listed = error.hint.startswith("tools.list ")
        show_error(error.message, at_a_shell(error.hint) if listed else error.hint)
    else:
        show_error(at_a_shell(error.message), at_a_shell(error.hint))
    return 1


def _failed(error: OSError) -> int:
    from garden.surfaces.cli.render import show_error

    try:
        sys.stdout.flush()
    except OSError:
        _hush()
    reason = error.strerror or "the system refused something"
    show_error(f"{error.filename}: {reason}" if error.filename else reason, "")
    return 1


def _hush() -> None:
    """Let nothing more be written where nobody can take it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"memory-garden {garden.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="The garden home; else GARDEN_HOME, else ~/memory-garden."),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    # An empty word counts as none, as an empty variable does: nobody who wrote "$UNSET" meant this folder.
    invocation(context).home = Path(home) if home else None
