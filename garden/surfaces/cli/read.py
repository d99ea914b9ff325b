"""The commands that read a garden: `ls`, `cat`, `search`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.common import AsJson, Desk, Document, User, at_work, complete_paths, misused

if TYPE_CHECKING:
    from garden.access.dispatcher import Envelope

_LAST_LINE = 2**31


def ls(
    context: typer.Context,
    path: Annotated[
        str,
        typer.Argument(
            help="A folder: parts/critic, history/..., or the full users/ada/parts.",
            autocompletion=complete_paths,
            show_default="the whole garden",
        ),
    ] = "",
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Also what is in folders below.")
    ] = False,
    glob: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only paths like this: parts/*/notes.md, **/profile.md."),
    ] = None,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """List what is in a folder of the garden, or of its history.

    Examples:
    garden ls

    garden ls parts/critic

    garden ls --glob "**/profile.md"
    """
    from garden.surfaces.cli.answers import result_of
    from garden.surfaces.cli.lookup import styled_name
    from garden.surfaces.cli.render import say, show_json

    with at_work(context, user, path) as desk:
        folder = desk.path(path)
        envelope = desk.call("fs.list", path=folder, glob=glob or ("**" if recursive else None))
    if as_json:
        show_json(envelope)
    for each in result_of(envelope, as_json=as_json):
        if not as_json:
            say(styled_name(each.removeprefix(f"{folder}/")))


def cat(
    context: typer.Context,
    path: Document,
    lines: Annotated[
        str | None, typer.Option(metavar="A-B", help="Only these lines; A, A- and -B do as well.")
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="ANCHOR", help="Only this section: 'concerns v1', or concerns.")
    ] = None,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="What it said at this version.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="What it said at this time: 2026-11-18, 2026-11-18T08:25, 3d ago as 3d."
        ),
    ] = None,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Print a document, as it is or as it was.

    Into a pipe or a file it goes byte for byte; on a terminal, signs that would drive it are made visible.
    Times without an offset are in UTC. Versions and times are those of the account of events.

    Examples:
    garden cat notes.md

    garden cat notes.md --lines 1-20

    garden cat parts/critic/profile.md --section concerns

    garden cat parts/critic/profile.md --version 1

    garden cat notes.md --at 2026-11-18T08:25
    """
    from garden.surfaces.cli.answers import refuse
    from garden.surfaces.cli.lookup import cut, time_of, whole_text
    from garden.surfaces.cli.render import show_json, show_text

    if version is not None and at is not None:
        misused(context, "Give either --version or --at.")
    if lines is not None and section is not None:
        misused(context, "Give either --lines or --section.")
    wanted = _range(context, lines)
    moment = time_of(context, at) if at is not None else None
    with at_work(context, user, path) as desk:
        if version is None and moment is None and section is None:
            envelope = whole_text(desk, path, wanted)
        else:
            envelope = cut(_then(desk, path, version, moment), section, wanted)
    if as_json:
        show_json(envelope)
    refuse(envelope, as_json=as_json)
    if not as_json:
        show_text(envelope["result"])


def _then(desk: Desk, path: str, version: int | None, moment: Any) -> "Envelope":
    from garden.surfaces.cli.lookup import whole_text

    if version is None and moment is None:
        return whole_text(desk, path, None)
    lookups, caller = desk.garden.lookups, desk.session.caller
    if version is None:
        version = lookups.version_at(caller, desk.path(path), moment)
    then = lookups.version(caller, desk.path(path), version)
    meta = {"version": version, "documentHash": then.hash, "warnings": []}
    return {"ok": True, "result": then.text, "meta": meta}


def _range(context: typer.Context, words: str | None) -> tuple[int, int] | None:
    if words is None:
        return None
    first, dash, last = words.partition("-")
    try:
        start = int(first) if first else 1
        end = int(last) if last else _LAST_LINE if dash else start
    except ValueError:
        start, end = 0, 0
    if not 1 <= start <= end or not (first or last):
        misused(context, f"--lines wants A-B with A at least 1 and not after B, and this is {words!r}.")
    return start, min(end, _LAST_LINE)


def search(
    context: typer.Context,
    pattern: Annotated[str, typer.Argument(help="A regular expression in RE2 syntax, matched line by line.")],
    root: Annotated[
        str,
        typer.Argument(
            help="A folder or a document.", autocompletion=complete_paths, show_default="the whole garden"
        ),
    ] = "",
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", "-i", help="Take capital and small letters for the same.")
    ] = False,
    literal: Annotated[
        bool, typer.Option("--literal", "-F", help="Take the pattern as plain words.")
    ] = False,
    glob: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="Only in files like this: **/notes.md.")
    ] = None,
    around: Annotated[
        int,
        typer.Option("--context", "-C", min=0, max=20, metavar="N", help="So many lines around each match."),
    ] = 0,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Find the lines that match, as grep does.

    Exit code 0 where any line matches, 1 where none does. At most 100 lines come back.

    Examples:
    garden search deadline

    garden search -i "she (said|wrote)" parts

    garden search --literal "(ev:s12-m40)" --context 1
    """
    from garden.surfaces.cli.answers import result_of
    from garden.surfaces.cli.matches import show_matches
    from garden.surfaces.cli.render import say, show_json

    with at_work(context, user, root) as desk:
        envelope = desk.call(
            "fs.search",
            root=desk.path(root),
            pattern=pattern,
            ignoreCase=ignore_case,
            literal=literal,
            glob=glob,
            context=around,
        )
    if as_json:
        show_json(envelope)
    found = result_of(envelope, as_json=as_json)
    if not as_json:
        from garden.tools.search import Searcher

        searcher = Searcher(pattern, ignore_case=ignore_case, literal=literal)
        show_matches(
            ((desk.short(each["path"]), each["line"], each["match"]) for each in found), around, searcher
        )
    if not found:
        if not as_json:
            say("No line matches.", error=True)
        raise typer.Exit(1)
