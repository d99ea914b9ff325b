"""Typer's classes, adapted: commands loaded late, help without Rich, and texts that begin with a dash."""

from collections.abc import Mapping
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from garden.surfaces.cli.desk import invocation

# No argument of a process can contain it.
_MARK = "\0"


class ReaderGoneError(Exception):
    """The reader of standard output closed it."""


class GroupedCommands(TyperGroup):
    """A group whose help lists the commands under titles, and which loads a command when it is named.

    Typer's own way would load every command at each start, and Rich for the help.
    """

    groups: ClassVar[Mapping[str, Mapping[str, str]]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._places = {name: place for group in self.groups.values() for name, place in group.items()}
        # Typer suggests these names for a wrong one.
        self.commands: Any = dict.fromkeys(self._places)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """The command of this name, loaded if it was not yet."""
        if cmd_name in self._places and self.commands[cmd_name] is None:
            command = self.commands[cmd_name] = _load_command(cmd_name, self._places[cmd_name])
            _accept_too(command, next(each for each in self.params if each.name == "home"))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the commands, title by title."""
        widest = max(map(len, self.commands))
        for title, group in self.groups.items():
            with formatter.section(title):
                commands = [(name, self.get_command(ctx, name)) for name in group]
                room = formatter.width - 6 - widest
                formatter.write_dl(
                    [(f"{name:<{widest}}", command.get_short_help_str(room)) for name, command in commands]
                )

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command; a broken pipe becomes an error that Typer does not report."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGoneError from None


class GroupWithDefault(TyperGroup):
    """A group with a command to which all words go that name no other command of the group."""

    default: ClassVar[str] = "search"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the words; those for the default command may leave its name out."""
        names = {*self.commands, *ctx.help_option_names}
        is_default = args and args[0] not in names and self.default in self.commands
        return super().parse_args(ctx, [self.default, *args] if is_default else args)


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


def _load_command(name: str, place: str) -> Any:
    """Load the function or the group at a place, such as read.ls, as a command of this name."""
    module, _, attribute = place.partition(".")
    found = getattr(import_module(f"{__package__}.{module}"), attribute)
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, cls=TextCommand)(found)
    return typer.main.get_command(alone)


def _accept_too(command: Any, home: Any) -> None:
    """Accept the option --home after a command's name too, where people also type it."""
    if not any("--home" in each.opts for each in command.params):
        again = copy(home)
        again.hidden, again.expose_value, again.callback = True, False, _note_home
        command.params.append(again)
    for each in getattr(command, "commands", {}).values():
        _accept_too(each, home)


def _note_home(context: typer.Context, _option: Any, folder: str | None) -> None:
    if folder:
        invocation(context).home = Path(folder)


def _mark(argument: str) -> str:
    return _MARK + argument if argument[:1] == "-" and argument[1:2].isspace() else argument


def _unmark(value: Any) -> Any:
    if isinstance(value, str):
        return value.removeprefix(_MARK)
    if isinstance(value, list | tuple):
        return type(value)(_unmark(each) for each in value)
    return value
