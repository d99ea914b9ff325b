"""Opening a garden for a command: the settings, the user meant, and a session in the user's garden."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer

if TYPE_CHECKING:
    from garden.application import Garden
    from garden.gateway.dispatcher import Envelope
    from garden.home.settings import LoadedSettings
    from garden.session import Session

USER_VARIABLE = "GARDEN_USER"
# A person at the home's command line can edit its files anyway, so a lesser role would protect nothing.
ROLE = "maintainer"
_PATH_OF_A_USER = re.compile("(?:users|history)/([^/]+)(?:/.*)?", re.DOTALL)
_USERS_NAMED_MAX = 20


@dataclass
class Invocation:
    """The options before the subcommand, and whether the answer is wanted as JSON."""

    home: Path | None = None
    as_json: bool = False


def invocation(context: typer.Context) -> Invocation:
    """This run's invocation."""
    found: Invocation = context.ensure_object(Invocation)
    return found


@dataclass(frozen=True)
class Desk:
    """An open session in one user's garden."""

    garden: "Garden"
    session: "Session"
    user: str

    def path(self, text: str) -> str:
        """Full path for one that may be relative to the garden."""
        return full_path(self.user, text)

    def short(self, path: str | None) -> str:
        """Path relative to the garden."""
        return (path or "").removeprefix(f"users/{self.user}/")

    def time(self, text: str) -> str:
        """A time in the setting's zone, else on a terminal in the machine's, else in UTC."""
        from garden.home.local_day import find_zone

        zone = self.garden.settings.timezone
        elsewhere = None if sys.stdout.isatty() else UTC
        time = datetime.fromisoformat(text).astimezone(find_zone(zone) if zone else elsewhere)
        return time.isoformat(" ", "minutes").replace("+00:00", "Z")

    def call(self, tool: str, /, **args: Any) -> "Envelope":
        """Call a tool; an argument that is None is left out."""
        return self.session.call(tool, {name: value for name, value in args.items() if value is not None})


def read_settings(context: typer.Context) -> "LoadedSettings":
    """Read the settings, and configure the logs by them."""
    from garden.home.logs import configure_logs
    from garden.home.settings import load_settings

    loaded = load_settings(invocation(context).home)
    configure_logs(loaded.settings.log_level, loaded.settings.log_format)
    return loaded


def open_garden(context: typer.Context, *, may_create: bool = False) -> "Garden":
    """Open the garden home that the command is for; it must exist, unless the command `may_create` one."""
    from garden.application import Garden
    from garden.home.setup import prepare_home
    from garden.surfaces.cli.render import show_progress

    settings = read_settings(context).settings
    return Garden(settings, prepare_home(settings, show_progress, may_create=may_create))


@contextmanager
def open_desk(
    context: typer.Context,
    user: str | None,
    *paths: str,
    actor: str = "operator",
    may_begin: bool = False,
    may_create: bool = False,
) -> Iterator[Desk]:
    """Open a session for the user given, or else the one that the paths or the home imply.

    A user without a garden is refused, unless the command `may_begin` one; a missing home, unless it
    `may_create` one.
    """
    from garden.files.paths import GardenPath
    from garden.writing.callers import make_caller

    user = resolve_user(context, user, *paths)
    make_caller(user, actor, ROLE)
    with open_garden(context, may_create=may_create) as garden:
        if not may_begin and not garden.services.files.exists(GardenPath(f"users/{user}")):
            select_users(garden, user)
        yield Desk(garden, open_session(garden, user, actor, ROLE), user)


def open_session(garden: "Garden", user: str, actor: str, role: str) -> "Session":
    """A session on the command line, which asks the person at a terminal where the rules ask."""
    session = garden.session(user, actor, role=role, surface="cli")
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        session.confirm = _confirm
    return session


def _confirm(details: Mapping[str, Any]) -> bool:
    from garden.surfaces.cli.render import show_diff

    show_diff(details["diff"], error=True)
    question = f"{details['tool']} (+{details['linesAdded']} -{details['linesRemoved']}): carry it out?"
    return typer.confirm(question, err=True)


def resolve_user(context: typer.Context, user: str | None, *paths: str) -> str:
    """Find the user meant: the one given, else the one of a full path, else the only one of the home."""
    if user is not None:
        return user
    named = {found[1] for path in paths if (found := _PATH_OF_A_USER.fullmatch(path))}
    if len(named) == 1:
        return named.pop()
    home = read_settings(context).settings.home
    users = users_in_home(home)
    if len(users) == 1:
        return users[0]
    way = f"Name the user with --user or {USER_VARIABLE}"
    if not users:
        return fail_usage(context, f"{way}; there are no gardens in {home} yet.")
    shown = ", ".join(users[:_USERS_NAMED_MAX])
    others = " and others" if len(users) > _USERS_NAMED_MAX else ""
    return fail_usage(context, f"{way}; there are gardens of {shown}{others}.")


def select_users(garden: "Garden", user: str | None) -> list[str]:
    """The user given, who must have a garden or events here, or else all users."""
    from difflib import get_close_matches

    from garden.upkeep.status import known_users
    from garden.upkeep.verification import UserUnknownError

    users = known_users(garden.services)
    if user is not None and user not in users:
        shown = get_close_matches(user, users) or users[:_USERS_NAMED_MAX]
        raise UserUnknownError(
            f"There is no garden of {user!r} in {garden.home.path}.",
            hint=f"There are gardens of {', '.join(shown)}." if users else "'garden plant' begins one.",
        )
    return users if user is None else [user]


def users_in_home(home: Path) -> list[str]:
    """Users who have a garden in a home, which must exist."""
    from garden.gateway.directory import users_in
    from garden.home.folder import open_home

    return users_in(open_home(home).path)


def full_path(user: str, text: str) -> str:
    """Full path for one that may be relative to the user's garden."""
    path = text.removeprefix("./")
    if len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    if _PATH_OF_A_USER.fullmatch(path) or path.startswith(("/", "../")):
        return path
    if path in {"", "."}:
        return f"users/{user}"
    return f"history/{user}" if path == "history" else f"users/{user}/{path}"


def read_text(context: typer.Context, text: str) -> str:
    """The text given, or standard input if it is -."""
    return decode_text(context, read_stdin(), "standard input") if text == "-" else text


def read_file(context: typer.Context, name: str) -> str:
    """The text of a file, or standard input if its name is -."""
    if name == "-":
        return read_text(context, name)
    try:
        return decode_text(context, Path(name).read_bytes(), name)
    except OSError as error:
        fail_usage(context, f"{name} can't be read: {error.strerror}.")


def decode_text(context: typer.Context, data: bytes, source: str) -> str:
    """Decode a text from outside, or end the command as misused."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        fail_usage(context, f"{source} is not text in UTF-8: see byte {error.start}.")


def read_stdin() -> bytes:
    """Read standard input to its end; a closed one is empty."""
    # None if it is closed, despite its type.
    stream: TextIO | None = sys.stdin
    return stream.buffer.read() if stream is not None else b""


def parse_json(given: str | bytes, source: str) -> Any:
    """Parse the JSON that a command was given, strictly."""
    from garden.tools import strict_json
    from garden.tools.requests import InvalidRequestError

    try:
        return strict_json.parse_json(given if isinstance(given, str) else given.decode())
    except ValueError as error:
        raise InvalidRequestError(
            f"{source} is not valid JSON: {error}.",
            hint="""Quote it: '{"path": "users/ada/notes.md"}', or give - and pass it on stdin.""",
        ) from None


def fail_usage(context: typer.Context, message: str) -> NoReturn:
    """End the command as misused, with exit code 2."""
    context.fail(message)
