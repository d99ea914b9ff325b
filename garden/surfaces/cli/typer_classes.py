"""Typer's command and group classes, adapted: grouped help without Rich, and texts that begin with a dash."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# No argument of a process can contain it.
_MARK = "\0"


class ReaderGoneError(Exception):
    """The reader of standard output closed it."""


class GroupedCommands(TyperGroup):
    """A group whose help lists the commands under titles; Typer's own way would import Rich."""

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the commands, title by title."""
        groups: dict[str, list[tuple[str, Any]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                title = getattr(command, "rich_help_panel", None)
                groups.setdefault(title if isinstance(title, str) else "Commands", []).append((name, command))
        widest = max(len(name) for group in groups.values() for name, _ in group)
        for title, group in groups.items():
            with formatter.section(title):
                room = formatter.width - 6 - widest
                formatter.write_dl(
                    [(f"{name:<{widest}}", command.get_short_help_str(room)) for name, command in group]
                )

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command; a broken pipe becomes an error that Typer does not report."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGoneError from None


class TextCommand(TyperCommand):
    """A command that reads "- slept well" as a text, because no option begins with a dash and a blank."""

    def make_parser(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Make a parser that hides such texts from the search for options."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            values, rest, order = parse([_mark(each) for each in args])
            return {name: _unmark(value) for name, value in values.items()}, _unmark(rest), order

        parser.parse_args = parse_args
        return parser


def _mark(argument: str) -> str:
    return _MARK + argument if argument[:1] == "-" and argument[1:2].isspace() else argument


def _unmark(value: Any) -> Any:
    if isinstance(value, str):
        return value.removeprefix(_MARK)
    if isinstance(value, list | tuple):
        return type(value)(_unmark(each) for each in value)
    return value
