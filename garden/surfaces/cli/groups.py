"""The list of commands in its groups; Typer's own way to do that would import Rich for every help."""

from typing import Any

import typer
from typer.core import TyperGroup


class ReaderGoneError(Exception):
    """Whoever read what is printed has gone away."""


class Grouped(TyperGroup):
    """The commands under the titles that they were registered with."""

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the commands, group by group."""
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
        """Run the command that was named; a reader who has seen enough ends it well."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGoneError from None
