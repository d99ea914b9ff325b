"""The commands that read a garden: `ls`, `cat`, `search`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.desk import Desk, fail_usage, open_desk
from garden.surfaces.cli.options import AsJson, AtTime, DocumentPath, User, complete_paths, parse_time

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
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="List the folders below too.")] = False,
    glob: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only paths that match: parts/*/notes.md, **/profile.md."),
    ] = None,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """List a folder of the garden or of its history.

    Examples:
    garden ls

    garden ls parts/critic

    garden ls --glob "**/profile.md"
    """
    from rich.text import Text

    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.render import say, show_json

    with open_desk(context, user, path) as desk:
        folder = desk.path(path)
        envelope = desk.call("fs.list", path=folder, glob=glob or ("**" if recursive else None))
    if as_json:
        show_json(envelope)
    for each in result_or_exit(envelope, as_json=as_json):
        if not as_json:
            name = each.removeprefix(f"{folder}/")
            say(Text(name) if name.endswith(".md") else Text(f"{name}/", style="bold blue"))


def cat(
    context: typer.Context,
    path: DocumentPath,
    lines: Annotated[
        str | None, typer.Option(metavar="A-B", help="Only these lines; also A, A- or -B.")
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="ANCHOR", help="Only this section: 'concerns v1', or concerns.")
    ] = None,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The version with this number.")
    ] = None,
    at: AtTime = None,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Print a document, as it is or as it was.

    A pipe or file receives the exact bytes; a terminal shows control characters as signs. Earlier versions
    come from the events. Times without an offset are in UTC.

    Examples:
    garden cat notes.md

    garden cat notes.md --lines 1-20

    garden cat parts/critic/profile.md --section concerns

    garden cat parts/critic/profile.md --version 1

    garden cat notes.md --at 2026-11-18T08:25
    """
    from garden.surfaces.cli.answers import exit_if_refused
    from garden.surfaces.cli.render import show_json, show_text

    if version is not None and at is not None:
        fail_usage(context, "Give either --version or --at.")
    if lines is not None and section is not None:
        fail_usage(context, "Give either --lines or --section.")
    wanted = _parse_range(context, lines)
    time = parse_time(context, at) if at is not None else None
    with open_desk(context, user, path) as desk:
        if time is not None:
            version = desk.garden.lookups.version_at(desk.session.caller, desk.path(path), time)
        if version is not None:
            envelope = _cut(_read_version(desk, path, version), section, wanted)
        else:
            envelope = _cut(_read_whole(desk, path, wanted), section, None)
    if as_json:
        show_json(envelope)
    exit_if_refused(envelope, as_json=as_json)
    if not as_json:
        show_text(envelope["result"])


def _read_version(desk: Desk, path: str, version: int) -> "Envelope":
    found = desk.garden.lookups.version(desk.session.caller, desk.path(path), version)
    meta = {"version": version, "documentHash": found.hash, "warnings": []}
    return {"ok": True, "result": found.text, "meta": meta}


def _read_whole(desk: Desk, path: str, wanted: tuple[int, int] | None) -> "Envelope":
    """Read a document, or a range of its lines, in as many calls as it takes."""
    following = {"startLine": wanted[0], "endLine": wanted[1]} if wanted else None
    text = ""
    while True:
        ranges = [following] if following else None
        envelope = desk.call("fs.read", path=desk.path(path), ranges=ranges)
        if not envelope["ok"]:
            return envelope
        result = envelope["result"]
        text += result if isinstance(result, str) else "".join(each["text"] for each in result["rangeSlices"])
        truncated = envelope["meta"].pop("truncated", None)
        if truncated is None:
            return {**envelope, "result": text}
        # The warning says that lines were left out; the next call reads them.
        envelope["meta"]["warnings"] = []
        following = truncated["next"]


def _cut(envelope: "Envelope", section: str | None, wanted: tuple[int, int] | None) -> "Envelope":
    """Keep only a section, or a range of lines, of a text."""
    from garden.grammar.lines import split_any_lines
    from garden.grammar.lookup import find_section
    from garden.grammar.parser import parse

    if not envelope["ok"]:
        return envelope
    text = envelope["result"]
    if section is not None:
        text = find_section(parse(text), section).text
    elif wanted is not None:
        text = "".join(split_any_lines(text)[wanted[0] - 1 : wanted[1]])
    return {**envelope, "result": text}


def _parse_range(context: typer.Context, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, dash, last = text.partition("-")
    try:
        start = int(first) if first else 1
        end = int(last) if last else _LAST_LINE if dash else start
    except ValueError:
        start, end = 0, 0
    if not 1 <= start <= end or not (first or last):
        fail_usage(context, f"--lines takes A-B, with A at least 1 and not after B; this is {text!r}.")
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
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Ignore case.")] = False,
    literal: Annotated[
        bool, typer.Option("--literal", "-F", help="Match the pattern as plain text.")
    ] = False,
    glob: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="Only in files that match: **/notes.md.")
    ] = None,
    around: Annotated[
        int,
        typer.Option("--context", "-C", min=0, max=20, metavar="N", help="Show N lines around each match."),
    ] = 0,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Search for lines that match, as grep does.

    Exit code 0 if a line matches, else 1. Shows at most 100 matches.

    Examples:
    garden search deadline

    garden search -i "she (said|wrote)" parts

    garden search --literal "(ev:s12-m40)" --context 1
    """
    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.render import say, show_json

    with open_desk(context, user, root) as desk:
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
    found: list[dict[str, Any]] = result_or_exit(envelope, as_json=as_json)
    if not as_json:
        from garden.surfaces.cli.views import show_matches
        from garden.tools.search import Searcher

        searcher = Searcher(pattern, ignore_case=ignore_case, literal=literal)
        show_matches(
            ((desk.short(each["path"]), each["line"], each["match"]) for each in found), around, searcher
        )
    if not found:
        if not as_json:
            say("No line matches.", error=True)
        raise typer.Exit(1)
