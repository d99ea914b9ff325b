"""What the commands share: options, the settings that they stand on, and somebody at work in a garden."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from garden.surfaces.cli.addresses import OF_A_USER, full_path, gardens_of

if TYPE_CHECKING:
    from garden.access.dispatcher import Envelope
    from garden.application import Garden
    from garden.home.settings import LoadedSettings
    from garden.session import Session

USER_VARIABLE = "GARDEN_USER"
# Whoever sits at the home's own command line may edit its files with any editor; less would help nobody.
ROLE = "maintainer"


@dataclass
class Invocation:
    """What one run of the command was told before its subcommand, and how its answer is wanted."""

    home: Path | None = None
    as_json: bool = False


def invocation(context: typer.Context) -> Invocation:
    """Give what this run was told."""
    found: Invocation = context.ensure_object(Invocation)
    return found


def _wants_json(context: typer.Context, wanted: bool) -> bool:
    invocation(context).as_json = wanted
    return wanted


def complete_users(context: typer.Context, incomplete: str) -> list[str]:
    """Offer users to the shell."""
    from garden.surfaces.cli.completion import users

    return users(context, incomplete)


def complete_paths(context: typer.Context, incomplete: str) -> list[str]:
    """Offer documents to the shell."""
    from garden.surfaces.cli.completion import paths

    return paths(context, incomplete)


AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of text.", callback=_wants_json, is_eager=True)
]
User = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="ID",
        envvar=USER_VARIABLE,
        help="Whose garden; else the only one of the home.",
        autocompletion=complete_users,
    ),
]
NamedUser = Annotated[str, typer.Option("--user", metavar="ID", help="Whose garden.")]
Actor = Annotated[str, typer.Option(metavar="NAME", help="Who acts; it is recorded with every event.")]
Document = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A document: notes.md, parts/critic/profile.md, or the full users/ada/notes.md.",
        autocompletion=complete_paths,
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Desk:
    """Somebody at work in one user's garden."""

    garden: "Garden"
    session: "Session"
    user: str

    def path(self, words: str) -> str:
        """Give the full path for a short one."""
        return full_path(self.user, words)

    def short(self, path: str | None) -> str:
        """Give a path as it is named inside the garden."""
        return (path or "").removeprefix(f"users/{self.user}/")

    def call(self, tool: str, **args: Any) -> "Envelope":
        """Call a tool; what is None counts as not given."""
        return self.session.call(tool, {name: value for name, value in args.items() if value is not None})


def load(context: typer.Context) -> "LoadedSettings":
    """Read the settings, and set the logs up accordingly."""
    from garden.home.logs import configure_logs
    from garden.home.settings import load_settings

    loaded = load_settings(invocation(context).home)
    configure_logs(loaded.settings.log_level, loaded.settings.log_format)
    return loaded


def opened(context: typer.Context) -> "Garden":
    """Open the garden that the command is for."""
    from garden.application import Garden
    from garden.home.setup import prepare_home
    from garden.surfaces.cli.render import show_progress

    settings = load(context).settings
    return Garden(settings, prepare_home(settings, show_progress))


@contextmanager
def at_work(context: typer.Context, user: str | None, *paths: str, actor: str = "operator") -> Iterator[Desk]:
    """Open the garden of the user who was named, or who can be told from the paths or the home."""
    from garden.writing.callers import make_caller

    whose = whose_garden(context, user, *paths)
    make_caller(whose, actor, ROLE)
    with opened(context) as garden:
        yield Desk(garden, garden.session(whose, actor, role=ROLE), whose)


def whose_garden(context: typer.Context, user: str | None, *paths: str) -> str:
    """Tell which user is meant: the one named, else the one of a full path, else the only one there is."""
    if user is not None:
        return user
    named = {found[1] for path in paths if (found := OF_A_USER.fullmatch(path))}
    if len(named) == 1:
        return named.pop()
    gardens = gardens_of(load(context).settings.home)
    if len(gardens) == 1:
        return gardens[0]
    return misused(context, _which_user(gardens))


def from_stdin() -> bytes:
    """Read all that comes from standard input; where that is closed, nothing does."""
    # The types say that there always is one.
    stream: TextIO | None = sys.stdin
    return stream.buffer.read() if stream is not None else b""


def misused(context: typer.Context, message: str) -> NoReturn:
    """Refuse what the command was told, as a misuse of it."""
    context.fail(message)


def _which_user(gardens: list[str]) -> str:
    way = f"Name the user with --user or {USER_VARIABLE}"
    if not gardens:
        return f"{way}; there are no gardens here yet."
    shown = ", ".join(gardens[:20])
    return f"{way}; there are gardens of {shown}{' and others' if len(gardens) > 20 else ''}."
