"""The commands that work on gardens: `call`, `plant`, `import`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.cli.common import AsJson, User, opened
from grammar.errors import GardenError

if TYPE_CHECKING:
    from garden.tools.dispatching import Envelope

Actor = Annotated[str, typer.Option(metavar="NAME", help="Who acts; it is recorded with every event.")]


class ArgumentsError(GardenError):
    """The arguments of a call are no JSON object."""

    code = "invalid_input"


def call(
    context: typer.Context,
    tool: Annotated[str, typer.Argument(help="The tool's name; tools.list names them all.")],
    user: User,
    arguments: Annotated[
        str, typer.Argument(metavar="[JSON | -]", help="Its arguments as JSON, or - to read them from stdin.")
    ] = "{}",
    actor: Actor = "operator",
    role: Annotated[str, typer.Option(help="agent, reviewer or maintainer.")] = "agent",
) -> None:
    """Call a tool, and print its answer as one JSON object.

    Exit code 0 where the answer says ok, 1 where it holds an error, 2 for a misuse of this command.

    Examples:
    garden call tools.list --user ada

    garden call tools.help '{"tool": "md.patch_section"}' --user ada

    garden call md.plant '{"path": "users/ada/notes.md"}' --user ada

    garden call fs.append '{"path": "users/ada/notes.md", "text": "Slept well."}' --user ada

    echo '{"path": "users/ada/notes.md"}' | garden call fs.read - --user ada
    """
    envelope = _answer(context, tool, arguments, user=user, actor=actor, role=role)
    _print(envelope)
    if not envelope["ok"]:
        raise typer.Exit(1)


def _answer(
    context: typer.Context, tool: str, arguments: str, *, user: str, actor: str, role: str
) -> "Envelope":
    from garden.session import checked_caller
    from garden.tools.dispatching import refusal

    try:
        checked_caller(user, actor, role)
        args = _parsed(arguments)
        with opened(context) as garden:
            return garden.session(user, actor, role=role).call(tool, args)
    except GardenError as error:
        return refusal(error)


def _parsed(arguments: str) -> Any:
    try:
        text = sys.stdin.buffer.read().decode() if arguments == "-" else arguments
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ArgumentsError(
            f"The arguments are not valid JSON: {error}.",
            hint="""Quote them: '{"path": "users/ada/notes.md"}', or give - and send them to stdin.""",
        ) from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _print(envelope: "Envelope") -> None:
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(envelope, indent=indent, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(envelope, indent=indent)
    print(text)


def plant(
    context: typer.Context,
    user: User,
    part: Annotated[str | None, typer.Option(metavar="ID", help="A part: its profile and notes.")] = None,
    relationship: Annotated[
        str | None, typer.Option(metavar="ID", help="A relationship: its profile and notes.")
    ] = None,
    participants: Annotated[
        str | None, typer.Option(metavar="A,B", help="Between whom a relationship is: part ids or names.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="T", help="The title of the profile or overview.")
    ] = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Begin a garden, a part or a relationship.

    Alone it begins the user's overview and notes; with --part or --relationship, a profile and notes for it.
    What is there already is left as it is.

    Examples:
    garden plant --user ada --title "Ada"

    garden plant --user ada --part critic --title "The Critic"

    garden plant --user ada --relationship critic-and-child --participants critic,child
    """
    if part is not None and relationship is not None:
        raise typer.BadParameter("give either --part or --relationship")
    if (relationship is None) != (participants is None):
        raise typer.BadParameter("--relationship and --participants belong together")
    below = f"/parts/{part}" if part is not None else f"/relationships/{relationship}" if relationship else ""
    first: dict[str, Any] = {"path": f"users/{user}{below}/{'profile' if below else 'overview'}.md"}
    if title is not None:
        first["title"] = title
    if participants is not None:
        first["participants"] = [each.strip() for each in participants.split(",") if each.strip()]
    notes = {"path": f"users/{user}{below}/notes.md"}
    if title is not None:
        notes["title"] = f"Notes: {title}"
    with opened(context) as garden:
        session = garden.session(user, actor, role="maintainer")
        answers = [(each["path"], session.call("md.plant", each)) for each in (first, notes)]
    _show_planted(answers, as_json=as_json)


def _show_planted(answers: "list[tuple[str, Envelope]]", *, as_json: bool) -> None:
    from garden.cli.render import show_error, show_json

    if as_json:
        show_json([{"path": path, **envelope} for path, envelope in answers])
    else:
        for path, envelope in answers:
            if envelope["ok"]:
                print(f"{'Planted before' if envelope['meta'].get('replayed') else 'Planted'}: {path}")
            else:
                show_error(f"{path}: {envelope['error']['message']}", envelope["error"]["hint"])
    if not all(envelope["ok"] for _, envelope in answers):
        raise typer.Exit(1)


def import_folder(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A folder with one folder for each user, as in users/.")],
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Bring gardens in from elsewhere.

    Takes a tree laid out like users/; each document goes through the write path.

    What is here already and the same is passed over, so an interrupted import goes on where it was when it is
    started again. What is here and different is never overwritten. Exit code 1 if anything was refused; the
    report says what and why.

    Example: garden import ./sample_users
    """
    from dataclasses import asdict

    from garden.cli.render import show_import, show_json, tracked
    from garden.importing import files_in, import_file

    files = files_in(folder)
    with opened(context) as garden:
        done = [import_file(garden.services, folder, file, actor) for file in tracked(files, "Importing")]
    if as_json:
        show_json([asdict(each) for each in done])
    else:
        show_import(done)
    if any(each.outcome == "refused" for each in done):
        raise typer.Exit(1)
