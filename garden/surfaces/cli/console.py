"""The command `garden console`: a link that signs a person in, at a running service or at one of its own."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import ROLE, open_desk, read_settings
from garden.surfaces.cli.options import User

if TYPE_CHECKING:
    from garden.home.folder import Home
    from garden.home.settings import Settings
    from garden.home.setup import PreparedHome

_PAGE = (
    '<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={}"><title>Garden</title>'
)


def console(
    context: typer.Context,
    user: User = None,
    role: Annotated[str, typer.Option(help="agent, reviewer or maintainer.")] = ROLE,
    actor: Annotated[
        str, typer.Option(metavar="NAME", help="Name recorded as the actor of every event.")
    ] = "owner",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port, if no service runs yet. Default: GARDEN_SERVE_PORT or 8620."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the link in a browser, if there is a terminal.")] = True,
) -> None:
    """See, search, approve and undo in a browser.

    Prints a link that signs you in once, within ten minutes. If 'garden serve' runs on this machine, the link
    leads there; otherwise this command serves the console itself until Ctrl-C.

    Examples:
    garden console

    garden console --user ada --role reviewer --actor mira
    """
    from garden.home.running import running_services
    from garden.home.setup import prepare_home
    from garden.serving import Offer, serve
    from garden.surfaces.cli.render import show_progress

    with open_desk(context, user) as desk:
        home = desk.garden.home
        user_id = desk.user
        code = desk.garden.sign_ins.make_link(desk.user, role=role, actor=actor)
    if running := running_services(home, user_id):
        _show(home, running[0], code, browser=browser)
        return

    def prepare() -> "tuple[Settings, PreparedHome]":
        settings = read_settings(context).settings
        return settings, prepare_home(settings, show_progress)

    def announce(url: str, _can_be_called: bool, _token_file: Path | None) -> None:
        _show(home, url, code, browser=browser)
        print("Press Ctrl-C to end.", file=sys.stderr, flush=True)

    serve(prepare, Offer("127.0.0.1", port, 1), announce)


def _show(home: "Home", url: str, code: str, *, browser: bool) -> None:
    import webbrowser

    from garden.home.state_files import write_private_file

    link = f"{url}/console/enter?code={code}"
    print(link, flush=True)
    if browser and sys.stdout.isatty():
        # Other accounts of the machine see the words of a command, and so the link, but not a private file.
        page = home.state / "console.html"
        write_private_file(page, _PAGE.format(link).encode())
        webbrowser.open(page.as_uri())
