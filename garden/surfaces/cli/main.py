"""The command `garden`: its subcommands in groups, and its exit codes."""

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, ClassVar

import typer

import garden
from garden.grammar.errors import GardenError
from garden.surfaces.cli.desk import Invocation, invocation
from garden.surfaces.cli.typer_classes import GroupedCommands, ReaderGoneError
from garden.surfaces.cli.usage import UsageError, show_usage_error


class GardenCommands(GroupedCommands):
    """The commands in groups, each with the module and the name of its function or its own group."""

    groups: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "Read a garden": {
            "ls": "read.ls",
            "cat": "read.cat",
            "search": "read.search",
        },
        "Find and keep memories": {
            "recall": "recall.app",
            "memory": "memory.app",
            "summaries": "memory.summaries",
        },
        "Tend a garden": {
            "plant": "edit.plant",
            "append": "edit.append",
            "patch": "edit.patch",
            "lint": "lint.lint",
            "repair": "repair.repair",
            "restore": "repair.restore",
            "undo": "repair.undo",
            "mv": "repair.mv",
        },
        "Look up what happened": {
            "log": "history.log",
            "show": "history.show",
            "diff": "history.diff",
            "blame": "history.blame",
            "events": "events.events",
            "event": "events.event",
        },
        "Prove what happened": {"checkpoint": "proofs.checkpoint", "prove": "proofs.prove"},
        "Use the agent's tools": {"call": "tools.call", "tools": "tools.app"},
        "Move gardens": {
            "export": "transfer.export",
            "import": "transfer.import_folder",
            "rebuild": "rebuild.rebuild",
        },
        "Serve gardens": {
            "setup": "setup.setup",
            "serve": "serve.serve",
            "console": "console.console",
            "mcp": "serve.mcp",
            "worker": "serve.worker",
            "schedule": "serve.schedule",
            "install-service": "install_service.install_service",
            "token": "tokens.app",
            "approvals": "approvals.app",
        },
        "Look after a home": {
            "init": "home.init",
            "config": "home.config",
            "policy": "policy.app",
            "migrate": "home.migrate",
            "doctor": "home.doctor",
            "status": "upkeep.status",
            "verify": "verify.verify",
            "stats": "stats.stats",
            "reconcile": "upkeep.reconcile",
            "erase": "erase.erase",
            "demo": "home.demo",
            "database": "database.app",
            "keys": "keys.app",
        },
    }


app = typer.Typer(
    name="garden",
    cls=GardenCommands,
    help="Memory Garden: a file-first memory service for companion agents.",
    epilog="Exit codes: 0 success; 1 a problem that the message explains; 2 wrong usage; 130 after Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command and exit: 0 success, 1 a problem that the message explains, 2 wrong usage."""
    with ExitStack() as stack:
        # A closed stream is None here; printing to it would be an error without a reader.
        sys.stdout = sys.stdout or stack.enter_context(Path(os.devnull).open("w"))
        sys.stderr = sys.stderr or stack.enter_context(Path(os.devnull).open("w"))
        sys.exit(_run())


def _run() -> int | str | None:
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks are printed as numbers instead of failing.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        code = _run_app(Invocation())
        # Here an error can still be reported; while the interpreter shuts down it can't.
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        _discard_stdout()
        return 0
    except OSError as error:
        code = _show_os_error(error)
    return code


def _run_app(options: Invocation) -> int | str | None:
    try:
        code: int | None = app(obj=options, prog_name="garden", standalone_mode=False)
    except SystemExit as end:
        return end.code
    except typer.Abort:
        print("Aborted!", file=sys.stderr)
        return 1
    except UsageError as error:
        return show_usage_error(error)
    except GardenError as error:
        return _show_refusal(options, error)
    return code


def _show_refusal(options: Invocation, error: GardenError) -> int:
    from garden.surfaces.cli.answers import in_shell_words
    from garden.surfaces.cli.render import show_error, show_json

    if options.as_json:
        from garden.gateway.dispatcher import refusal

        show_json(refusal(error))
    elif error.code == "unknown_tool":
        # The user named a tool, so the message keeps the names of tools.
        lists_tools = error.hint.startswith("tools.list ")
        show_error(error.message, in_shell_words(error.hint) if lists_tools else error.hint)
    elif "names" in (error.details or {}):
        # The names that events have, which may be those of tools.
        show_error(error.message, error.hint)
    else:
        show_error(in_shell_words(error.message), in_shell_words(error.hint))
    return 1


def _show_os_error(error: OSError) -> int:
    from garden.surfaces.cli.render import show_error

    try:
        sys.stdout.flush()
    except OSError:
        _discard_stdout()
    reason = error.strerror or "the system refused an operation"
    show_error(f"{error.filename}: {reason}" if error.filename else reason, "")
    return 1


def _discard_stdout() -> None:
    """Send what is still buffered to nowhere, so that no later flush fails."""
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
        typer.Option(
            metavar="FOLDER",
            help="The garden home; also after the command. Default: GARDEN_HOME, else ~/memory-garden.",
        ),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    # An empty value counts as none, as an empty variable does: "$UNSET" does not mean this folder.
    invocation(context).home = Path(home) if home else None
