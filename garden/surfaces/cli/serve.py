"""The commands that keep running: `serve` and `mcp` answer calls, `worker` and `schedule` run the jobs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from garden.surfaces.cli.desk import fail_usage, open_garden, read_settings
from garden.surfaces.cli.options import NamedUser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.home.settings import Settings
    from garden.upkeep.jobs import JobActor

ProfileName = Literal["lean", "full"]


def serve(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on. Default: GARDEN_SERVE_HOST or 127.0.0.1."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port to listen on. Default: GARDEN_SERVE_PORT or 8620."),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            metavar="NUMBER",
            help="Processes that answer calls. Default: GARDEN_SERVE_PROCESSES or the cores, up to 8.",
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Serve only this user, to this machine, with a token of its own."),
    ] = None,
    is_open: Annotated[
        bool, typer.Option("--open", help="With --user: no token; any account of this machine may call.")
    ] = False,
    socket: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Listen on a Unix socket that only your account may use; --user needs no token.",
        ),
    ] = None,
    role: Annotated[
        str | None, typer.Option(help="With --user: agent, reviewer or maintainer.", show_default="agent")
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --user: name recorded as the actor of every event.",
            show_default="companion",
        ),
    ] = None,
) -> None:
    """Serve the garden over HTTP.

    Prints its address once it listens, and runs until SIGTERM or Ctrl-C; it then finishes the calls under
    way. Several processes are replaced when they die; on SIGHUP new ones take over, with the settings of
    then. Callers need a token from 'garden token create'. With --user they need one that is made at each
    start; the second line printed names its file.

    Examples:
    garden serve

    garden serve --user ada --port 0

    garden serve --user ada --socket garden.sock
    """
    from garden.home.setup import PreparedHome, prepare_home
    from garden.serving import Offer
    from garden.serving import serve as run
    from garden.surfaces.cli.render import show_progress
    from garden.writing.callers import make_caller

    caller = None
    if user is not None:
        caller = make_caller(user, "companion" if actor is None else actor, "agent" if role is None else role)
    elif role is not None or actor is not None or is_open:
        fail_usage(
            context, "--role, --actor and --open need --user; without it, tokens identify the callers."
        )
    if socket is not None and (host is not None or port is not None):
        fail_usage(context, "--socket takes the place of --host and --port.")

    def prepare() -> "tuple[Settings, PreparedHome]":
        settings = read_settings(context).settings
        return settings, prepare_home(settings, show_progress)

    run(prepare, Offer(host, port, processes, caller, socket, is_open), _announce)


def _announce(url: str, can_be_called: bool, token_file: Path | None) -> None:
    print(f"Listening on {url}", flush=True)
    if token_file is not None:
        print(f"The token is in {token_file}", flush=True)
    if not can_be_called:
        from garden.surfaces.cli.render import show_progress

        show_progress(
            "No agent can call yet: 'garden token create' makes a token. For people: 'garden console'."
        )


def mcp(
    context: typer.Context,
    user: NamedUser,
    actor: Annotated[
        str, typer.Option(metavar="NAME", help="Name recorded as the actor of every event.")
    ] = "companion",
    role: Annotated[str, typer.Option(help="agent, reviewer or maintainer.")] = "agent",
    profile: Annotated[
        ProfileName | None, typer.Option(help="List the tools of daily work, or all. Default: lean.")
    ] = None,
    output_schemas: Annotated[
        bool, typer.Option("--output-schemas", help="List the schemas of answers too.")
    ] = False,
) -> None:
    """Serve one agent over MCP, on stdio.

    The agent's host starts this command and talks to it. It runs until its input ends or a signal arrives,
    and then finishes the calls under way. Logs go to stderr.

    Example: garden mcp --user ada --actor companion
    """
    from garden.serving_stdio import serve_stdio

    settings = read_settings(context).settings
    given = {"profile": profile, "output_schemas": output_schemas}
    shown = settings.mcp.model_copy(update={name: value for name, value in given.items() if value})
    serve_stdio(settings.model_copy(update={"mcp": shown}), user, actor=actor, role=role)


def worker(
    context: typer.Context,
    threads: Annotated[int, typer.Option(min=1, max=16, help="Number of jobs to run at the same time.")] = 2,
) -> None:
    """Run background jobs as a broker's messages ask for them.

    The jobs settle interrupted changes, adopt outside edits, delete expired requests and verify the events.
    'garden schedule' sends the messages; the worker's own timer runs the same jobs, so no job depends on the
    broker. Needs GARDEN_BROKER_URL. Prints a line once it runs, and runs until SIGTERM or Ctrl-C; it then
    finishes the steps under way, unless a second signal arrives. Any number of workers may run, on any
    machine that has the home.

    Examples:
    GARDEN_BROKER_URL=redis://127.0.0.1:6379 garden worker

    garden worker --threads 4
    """
    from garden.home.settings import redact_url
    from garden.upkeep.broker import broker_url
    from garden.upkeep.worker import work

    url = broker_url(read_settings(context).settings)
    with open_garden(context).load() as garden:
        shown = f"Working with {threads} {'thread' if threads == 1 else 'threads'} for {redact_url(url)}"
        work(garden.services, garden.home, url, threads, lambda: print(shown, flush=True))


def schedule(context: typer.Context) -> None:
    """Send messages to 'garden worker' when jobs are due.

    One scheduler is enough; a second does no harm. Needs GARDEN_BROKER_URL and no database. Prints a line
    once it runs, and runs until SIGTERM or Ctrl-C. A message that can't be sent is logged, and the next one
    is sent when it is due.

    Example: GARDEN_BROKER_URL=redis://127.0.0.1:6379 garden schedule
    """
    from garden.home.folder import open_home
    from garden.home.settings import redact_url
    from garden.upkeep.broker import broker_url
    from garden.upkeep.schedule import schedule as run

    settings = read_settings(context).settings
    url = broker_url(settings)
    home = open_home(settings.home)
    run(home, url, settings.upkeep, lambda actors: _announce_jobs(redact_url(url), actors))


def _announce_jobs(url: str, actors: "Sequence[JobActor]") -> None:
    shown = ", ".join(f"{each.actor_name} ({each.options['periodic']})" for each in actors)
    print(f"Scheduling for {url}: {shown}", flush=True)
