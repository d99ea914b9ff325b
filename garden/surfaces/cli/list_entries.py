"""Commands that take an entry of a list, which begins with a dash and a blank, for the text that it is."""

from typing import Any

import typer
from typer.core import TyperCommand

# No argument of a process can hold it.
_MARK = "\0"


class TakingTexts(TyperCommand):
    """A command to which "- slept well" is a text; no option has a blank for its name."""

    def make_parser(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Give a parser that doesn't look for options in such texts."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            values, rest, order = parse([_marked(each) for each in args])
            return {name: _unmarked(value) for name, value in values.items()}, _unmarked(rest), order

        parser.parse_args = parse_args
        return parser


def _marked(argument: str) -> str:
    return _MARK + argument if argument[:1] == "-" and argument[1:2].isspace() else argument


def _unmarked(value: Any) -> Any:
    if isinstance(value, str):
        return value.removeprefix(_MARK)
    if isinstance(value, list | tuple):
        return type(value)(_unmarked(each) for each in value)
    return value
