"""The commands that keep running: `serve` and `mcp` answer others, `worker` and `schedule` do the jobs."""

from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.common import NamedUser, load, misused, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from garden.upkeep.jobs import JobActor


def serve(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Where to listen; else GARDEN_SERVE_HOST, else 127.0.0.1."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port; else GARDEN_SERVE_PORT, else 8620.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Serve this one user, without tokens, to this machine only."),
    ] = None,
    role: Annotated[
        str | None, typer.Option(help="With --user: agent, reviewer or maintainer.", show_default="agent")
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --user: who acts; it is recorded with every event.",
            show_default="companion",
        ),
    ] = None,
) -> None:
    """Serve the garden over HTTP.

    Prints where it listens once it does, and runs until it is told to stop with SIGTERM or Ctrl-C; what has
    begun is finished before. Callers need a token, which 'garden token create' makes, unless one user is
    named here.

    Examples:
    garden serve

    garden serve --user ada --port 0
    """
    from garden.serving import Address
    from garden.serving import serve as run
    from garden.writing.callers import make_caller

    caller = None
    if user is not None:
        caller = make_caller(user, "companion" if actor is None else actor, "agent" if role is None else role)
    elif role is not None or actor is not None:
        misused(context, "--role and --actor go with --user; without it, tokens say who calls.")
    with opened(context) as garden:
        told = garden.settings.serve
        address = Address(host or told.host, told.port if port is None else port)
        run(garden, address, caller, _say)


def _say(url: str, can_be_called: bool) -> None:
    print(f"Listening on {url}", flush=True)
    if not can_be_called:
        from garden.surfaces.cli.render import show_progress

        show_progress("There is no token yet, so nobody can call: make one with 'garden token create'.")


def mcp(
    context: typer.Context,
    user: NamedUser,
    actor: Annotated[
        str, typer.Option(metavar="NAME", help="Who acts; it is recorded with every event.")
    ] = "companion",
    role: Annotated[str, typer.Option(help="agent, reviewer or maintainer.")] = "agent",
) -> None:
    """Serve one agent by the Model Context Protocol, over stdio.

    An agent's host starts this command and talks to it. It ends when its input does, or on a signal, and
    finishes what it has begun. Logs go to stderr.

    Example: garden mcp --user ada --actor companion
    """
    from garden.serving_stdio import serve_stdio

    serve_stdio(load(context).settings, user, actor=actor, role=role)


def worker(
    context: typer.Context,
    threads: Annotated[int, typer.Option(min=1, max=16, help="Jobs that are done at the same time.")] = 2,
) -> None:
    """Do background jobs, as the messages of a broker name them.

    Jobs end what a crash left open, adopt what was edited outside, forget expired requests and verify. The
    messages come from 'garden schedule'; a timer of the worker's own does the same jobs where none come, so
    that nothing depends on the broker. It takes GARDEN_BROKER_URL, prints a line once it works, and runs
    until it is told to stop with SIGTERM or Ctrl-C; the steps under way are finished before, unless it is
    told twice. Any number of workers may run, on any machine that has the home.

    Examples:
    GARDEN_BROKER_URL=redis://127.0.0.1:6379 garden worker

    garden worker --threads 4
    """
    from garden.home.settings import redacted
    from garden.upkeep.broker import broker_url
    from garden.upkeep.worker import work

    url = broker_url(load(context).settings)
    with opened(context) as garden:
        shown = f"Working with {threads} {'thread' if threads == 1 else 'threads'} for {redacted(url)}"
        work(garden.services, garden.home, url, threads, lambda: print(shown, flush=True))


def schedule(context: typer.Context) -> None:
    """Send the messages that 'garden worker' works by, each when it is due.

    One is enough; a second one does no harm. It takes GARDEN_BROKER_URL, needs no database, prints a line
    once it runs, and runs until it is told to stop with SIGTERM or Ctrl-C. A message that can't be sent is
    logged, and the next one is tried when it is due.

    Example: GARDEN_BROKER_URL=redis://127.0.0.1:6379 garden schedule
    """
    from garden.home.folder import open_home
    from garden.home.settings import redacted
    from garden.upkeep.broker import broker_url
    from garden.upkeep.schedule import schedule as run

    settings = load(context).settings
    url = broker_url(settings)
    home = open_home(settings.home)
    run(home, url, settings.upkeep, lambda actors: _say_jobs(redacted(url), actors))


def _say_jobs(url: str, actors: "Sequence[JobActor]") -> None:
    shown = ", ".join(f"{each.actor_name} ({each.options['periodic']})" for each in actors)
    print(f"Scheduling for {url}: {shown}", flush=True)
