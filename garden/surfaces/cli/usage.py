"""Wrong usage: what is wrong, and what to type."""

from typing import Any

import typer

UsageError: Any = typer.BadParameter.__base__
"""The base of Typer's errors of usage, which it does not name in public."""


def show_usage_error(error: Any) -> int:
    """Show an error of usage and what to type; returns the exit code."""
    from garden.surfaces.cli.render import show_error

    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return int(error.exit_code)
    # Typer puts the kind of Python's error before a wrong choice.
    message = " ".join(error.format_message().split()).replace(": Value error, ", ": ", 1)
    if nearest := getattr(error, "possibilities", None):
        message = f"{error.message}. Did you mean {' or '.join(nearest)}?"
    show_error(message, _hint(error.ctx))
    return int(error.exit_code)


def _hint(context: typer.Context | None) -> str:
    """What to type: the command's first example, or how to list the commands."""
    if context is None:
        return "'garden --help' lists the commands and options."
    path, command = context.command_path, context.command
    if hasattr(command, "commands"):
        return f"'{path} --help' lists the commands."
    examples = (command.help or "").partition("\n\nExample")[2].splitlines()
    name = path.removeprefix("garden ")
    first = next((line for line in examples if "garden " in line and name in line), path)
    return f"Type for example: {first.removeprefix(': ').strip()}\n       '{path} --help' explains the rest."
