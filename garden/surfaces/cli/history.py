"""The commands that read the history of documents: `log`, `show`, `diff`, `blame`."""

import re
from typing import Annotated

import typer

from garden.surfaces.cli.desk import open_desk
from garden.surfaces.cli.options import AsJson, DocumentPath, Since, Until, User, complete_paths, read_time

_PAGE = 100
_EVENT = re.compile(r"(?:evt:)?[0-9a-f-]{6,36}", re.IGNORECASE)
_REFERENCE = "a number, an event, a time (2026-11-01, yesterday, '3 weeks ago', 3d), head or head~2"

Section = Annotated[
    str | None, typer.Option(metavar="ANCHOR", help="Only this section: 'concerns v1', or concerns.")
]
NoPager = Annotated[bool, typer.Option("--no-pager", help="Print at once, without a pager.")]


def log(
    context: typer.Context,
    path: Annotated[
        str | None,
        typer.Argument(help="A document or a folder.", autocompletion=complete_paths,
                       show_default="the whole garden"),
    ] = None,
    section: Section = None,
    since: Since = None,
    until: Until = None,
    actor: Annotated[str | None, typer.Option(metavar="NAME", help="Only by this actor.")] = None,
    text: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only with all of these words in the rationale.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Show at most N versions.")] = 20,
    every: Annotated[bool, typer.Option("--all", help="Show all versions.")] = False,
    no_pager: NoPager = False,
    user: User = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """List versions, newest first, with their reasons.

    Each begins with the end of its event's id, which `garden show`, `garden undo` and all references to
    versions accept. A document that moved is followed to its earlier path. Times are in the time zone of the
    settings, else on a terminal in the machine's, else in UTC.

    Examples:
    garden log parts/critic/profile.md --section concerns

    garden log --since 3d --actor companion

    garden log notes.md --all --json
    """
    from garden.surfaces.cli.answers import exit_if_refused
    from garden.surfaces.cli.pager import paged
    from garden.surfaces.cli.pages import cursor_after, join_pages, read_pages
    from garden.surfaces.cli.render import say, show_hint
    from garden.surfaces.cli.versions import show_version

    filters = {
        "anchor": section,
        "from": read_time(context, "--since", since).isoformat() if since else None,
        "to": read_time(context, "--until", until).isoformat() if until else None,
        "actor": actor,
        "text": text,
    }
    with open_desk(context, user, *([path] if path else [])) as desk:
        wanted = desk.path(path) if path else None
        query, most = {"path": wanted, **filters}, None if every else limit
        pages = read_pages(desk, "history.log", query, rows="versions", limit=most, page_max=_PAGE)
        if as_json:
            exit_if_refused(join_pages(list(pages), "versions"), as_json=True)
            return
        shown = 0
        with paged(wanted=not no_pager):
            for page in pages:
                if not page["ok"]:
                    exit_if_refused(page)
                versions = page["result"]["versions"]
                # Counted first: the reader may leave the pager at any line.
                shown += len(versions)
                for version in versions:
                    show_version(desk, version, of=wanted)
    if not shown:
        say("No versions found.", error=True)
    elif cursor_after(page):
        show_hint(f"more than {shown} versions; --limit N or --all shows more.")


def show(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="PATH | EVENT", help="A document, a folder, or an event.",
                       autocompletion=complete_paths),
    ],
    version: Annotated[
        str, typer.Argument(metavar="[VERSION]", help=f"Its version: {_REFERENCE}.", show_default=True)
    ] = "head",
    section: Section = None,
    no_pager: NoPager = False,
    user: User = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Show a document as it was, or what an event changed.

    A version is named by its number, an event that left it, a time, or a count back from the newest. A folder
    is shown whole as it was at a time: . is the garden. A file receives the exact bytes.

    Examples:
    garden show parts/critic/profile.md 2026-11-18 --section concerns

    garden show notes.md head~1

    garden show . yesterday

    garden show 3f9a21c4
    """
    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.events import show_event_named
    from garden.surfaces.cli.pager import paged
    from garden.surfaces.cli.render import say, show_text

    with open_desk(context, user, what) as desk:
        if version == "head" and _EVENT.fullmatch(what):
            with paged(wanted=not (no_pager or as_json)):
                show_event_named(desk, what, as_json=as_json)
            return
        envelope = desk.call("history.show", path=desk.path(what), at=version, anchor=section)
        found = result_or_exit(envelope, as_json=as_json)
        if as_json:
            return
        if "eventId" in found:
            name = f"{desk.short(found['path'])}, version {found['version']}, event {found['eventId'][-8:]}"
            say(f"{name}, {desk.time(found['time'])}", "dim", error=True)
        with paged(wanted=not no_pager):
            show_text(found["text"])


def diff(
    context: typer.Context,
    path: DocumentPath,
    first: Annotated[
        str, typer.Argument(metavar="[FROM]", help=f"The old version: {_REFERENCE}.", show_default=True)
    ] = "head",
    last: Annotated[
        str | None,
        typer.Argument(metavar="[TO]", help="The new version.", show_default="the file as it is now"),
    ] = None,
    section: Section = None,
    words: Annotated[
        bool, typer.Option("--words", help="Mark the changed words: [-old-]{+new+}.")
    ] = False,
    no_pager: NoPager = False,
    user: User = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Compare two versions, or a version with the file.

    Without versions it shows the edits to the file that are not recorded yet.

    Examples:
    garden diff notes.md

    garden diff parts/critic/profile.md 2026-11-18 --section concerns --words

    garden diff notes.md head~1 head
    """
    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.pager import paged
    from garden.surfaces.cli.render import say, show_diff
    from garden.surfaces.cli.versions import show_word_diff

    with open_desk(context, user, path) as desk:
        query = {"path": desk.path(path), "from": first, "to": last, "anchor": section, "words": words}
        found = result_or_exit(desk.call("history.diff", **query), as_json=as_json)
    if as_json:
        return
    counts = f"{found['added']} added, {found['removed']} removed" if found["diff"] else "No difference"
    say(f"{counts}.", "dim", error=True)
    with paged(wanted=not no_pager):
        (show_word_diff if words else show_diff)(found["diff"])


def blame(
    context: typer.Context,
    path: DocumentPath,
    section: Section = None,
    at: Annotated[str, typer.Option(metavar="VERSION", help=f"The lines of this version: {_REFERENCE}.")] = (
        "head"
    ),
    no_pager: NoPager = False,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Show who wrote each line, when and why.

    Each line begins with the end of its event's id; the reasons stand below. Lines are followed when they
    move, merge, are restored, or come with a move of the document. `garden show` with the id of an event
    shows all that it changed.

    Examples:
    garden blame parts/critic/profile.md --section concerns

    garden blame notes.md --at head~1
    """
    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.pager import paged
    from garden.surfaces.cli.render import show_warnings
    from garden.surfaces.cli.versions import show_blame

    with open_desk(context, user, path) as desk:
        place = {"path": desk.path(path), "anchor": section}
        found = result_or_exit(desk.call("history.blame", **place, at=at), as_json=as_json)
        if as_json:
            return
        drift = desk.call("history.diff", **place, **{"from": "head"}) if at == "head" else None
        if drift and drift["ok"] and drift["result"]["diff"]:
            show_warnings(["The file has edits that are not recorded yet; 'garden diff' shows them."])
        with paged(wanted=not no_pager):
            show_blame(desk, found["lines"])
