"""docs/cli.md, generated from the commands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from garden.surfaces.cli.main import GardenCommands, app
from tools.markdown import prose

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"
HEAD = """\
# The command line

Generated from the commands by `make docs`; `garden COMMAND --help` prints the same text.

Name a document as it is called inside the garden, `notes.md` or `parts/critic/profile.md`, or in full,
`users/ada/notes.md`. `--user` or `GARDEN_USER` names the user, else a full path does, else it is the only
user of the home. A person at the home's own command line acts in the role `maintainer`, with the
actor's name from `--actor`; `garden call` acts as an `agent` unless `--role` says otherwise.

With `--json` a command prints exactly one JSON value; a tool's answer is the envelope described in
[tools.md](tools.md). Only `serve`, `mcp`, `worker` and `schedule`, which keep running, have no `--json`.
Without it a command prints tables and colours on a terminal (`NO_COLOR` turns the colours off), and plain
columns elsewhere. Warnings, progress and errors go to standard error.

| exit code | meaning |
|---|---|
| 0 | Success; also if the reader stopped early, as in `garden events \\| head -1`. |
| 1 | A problem that the message explains, or the case that the command's own text names. |
| 2 | Wrong usage: the message says what the command takes. Nothing was done. |
| 130 | Ctrl-C. The change under way was finished, and no other begun. |

`garden --install-completion` installs completion of commands, options, tools, users and paths in the shell.
"""


def files() -> dict[Path, str]:
    """Text of the page."""
    return {TARGET: _page()}


def _page() -> str:
    command: Any = typer.main.get_command(app)
    context = command.make_context("garden", [], resilient_parsing=True)
    parts = [HEAD, "## garden\n", *_parameters(command, context)]
    for title, names in GardenCommands.groups.items():
        parts.append(f"\n## {title}\n")
        for name in names:
            parts += _described(f"garden {name}", command.get_command(context, name), context, name)
    return "\n".join(parts).rstrip() + "\n"


def _described(full_name: str, command: Any, parent: Any, name: str) -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    text, examples = _split(command.help or "")
    yield f"### {full_name}\n"
    yield f"{prose(text)}\n"
    if hasattr(command, "commands"):
        for sub_name, sub in command.commands.items():
            yield from _described(f"{full_name} {sub_name}", sub, context, sub_name)
        return
    yield f"```text\n{' '.join([full_name, *command.collect_usage_pieces(context)])}\n```\n"
    yield from _parameters(command, context)
    if examples:
        yield "\n```sh\n" + "\n".join(examples) + "\n```\n"


def _parameters(command: Any, context: Any) -> Iterator[str]:
    records = [found for each in command.get_params(context) if (found := each.get_help_record(context))]
    yield "| | |\n|---|---|"
    for names, description in records:
        shown = names.removesuffix(" <str>").removesuffix(" <path>").replace("|", "\\|")
        yield f"| `{' '.join(shown.split())}` | {prose(' '.join(description.split()))} |"


def _split(help_text: str) -> tuple[str, list[str]]:
    """Split a help text into its prose and its examples."""
    text, _, examples = help_text.partition("\n\nExample")
    lines = [line.strip() for line in examples.removeprefix("s").removeprefix(":").splitlines()]
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraphs), [line for line in lines if line]


def examples() -> list[str]:
    """Every example of every command, in the order of the page."""
    return [line for block in _page().split("```sh\n")[1:] for line in block.partition("```")[0].splitlines()]
