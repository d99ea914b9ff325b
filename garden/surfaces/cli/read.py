"""The commands that read a garden: `ls`, `cat`, `search`."""

from typing import Annotated, Any

import typer

from garden.surfaces.cli.desk import Desk, fail_usage, open_desk
from garden.surfaces.cli.options import AsJson, DocumentPath, User, complete_paths

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
    archived: Annotated[bool, typer.Option("--archived", help="List archived documents too.")] = False,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """List a folder of the garden or of its history.

    Examples:
    garden ls

    garden ls parts/critic

    garden ls --glob "**/profile.md"
    """
    from garden.surfaces.cli.answers import result_or_exit
    from garden.surfaces.cli.render import say

    with open_desk(context, user, path) as desk:
        folder = desk.path(path)
        envelope = desk.call(
            "fs.list", path=folder, glob=glob or ("**" if recursive else None), archived=archived or None
        )
    for each in result_or_exit(envelope, as_json=as_json):
        if not as_json:
            name = each.removeprefix(f"{folder}/")
            say(name) if name.endswith(".md") else say(f"{name}/", "bold blue")


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
        str | None,
        typer.Option(metavar="VERSION", help="As it was: a number, an event, a time, head or head~2."),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="As it was at this time; like --version.")
    ] = None,
    user: User = None,
    raw: Annotated[bool, typer.Option("--raw", help="The exact bytes, control characters included.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a document, as it is or as it was.

    A file receives the exact bytes; a terminal or a pipe receives signs for control characters. Earlier
    versions come from the events. Times without an offset are in the time zone of the settings, else in UTC.

    Examples:
    garden cat notes.md

    garden cat notes.md --lines 1-20

    garden cat parts/critic/profile.md --section concerns

    garden cat parts/critic/profile.md --version 1

    garden cat notes.md --at 2026-11-18T08:25
    """
    from garden.surfaces.cli.render import show_json, show_text, show_warnings

    if version is not None and at is not None:
        fail_usage(context, "Give either --version or --at.")
    if lines is not None and section is not None:
        fail_usage(context, "Give either --lines or --section.")
    wanted = _parse_range(context, lines)
    reference = version if version is not None else at
    with open_desk(context, user, path) as desk:
        text, meta = _read(desk, path, reference)
    if section is not None or wanted is not None:
        # The hash is that of the whole.
        text = _part(text, section, wanted)
        del meta["documentHash"]
    if as_json:
        show_json({"ok": True, "result": text, "meta": meta})
    else:
        show_text(text, raw=raw)
        show_warnings(meta["warnings"])


def _read(desk: Desk, path: str, reference: str | None) -> tuple[str, dict[str, Any]]:
    """Read a whole document, or one version of it, and its meta."""
    lookups, caller = desk.garden.lookups, desk.session.caller
    if reference is None:
        found = lookups.text(desk.session.access, desk.path(path))
        return found.text, {"documentHash": found.hash, "warnings": list(found.warnings)}
    version = lookups.version_named(caller, desk.path(path), reference)
    found = lookups.version(desk.session.access, version.path, version.number)
    return found.text, {"version": version.number, "documentHash": found.hash, "warnings": []}


def _part(text: str, section: str | None, wanted: tuple[int, int] | None) -> str:
    """A section of a text, or a range of its lines."""
    from garden.grammar.lines import split_any_lines
    from garden.grammar.lookup import find_section
    from garden.grammar.parser import parse
    from garden.tools.read_files import check_lines

    if section is not None:
        return find_section(parse(text), section).text
    first, last = wanted or (1, _LAST_LINE)
    lines = split_any_lines(text)
    check_lines(first, last, len(lines))
    return "".join(lines[first - 1 : last])


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
    from garden.surfaces.cli.render import say

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
