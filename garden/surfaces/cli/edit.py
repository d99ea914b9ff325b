"""The commands that change documents: `plant`, `append`, `patch`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.common import (
    Actor,
    AsJson,
    Desk,
    Document,
    User,
    at_work,
    from_stdin,
    misused,
    whose_garden,
)

if TYPE_CHECKING:
    from garden.access.dispatcher import Envelope

Rationale = Annotated[
    str | None,
    typer.Option("--rationale", "-m", metavar="WORDS", help="Why, in a sentence; it is kept with the event."),
]
Override = Annotated[
    str | None,
    typer.Option(metavar="WORDS", help="One line that says why a soft cap may be exceeded this time."),
]
Evidence = Annotated[
    list[str] | None,
    typer.Option(metavar="TOKEN", help="A token of the evidence, such as ev:s12-m40; may be repeated."),
]
IfMatch = Annotated[
    str | None,
    typer.Option(
        metavar="HASH", help="Refuse the edit unless the document, or for patch the section, has this hash."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="Carry the edit out once, however often it is sent under this key; without one, each run of the "
        "command is an edit of its own.",
    ),
]


def append(
    context: typer.Context,
    path: Document,
    text: Annotated[str, typer.Argument(metavar="TEXT | -", help="The entry, or - to read it from stdin.")],
    rationale: Rationale = None,
    override_rationale: Override = None,
    evidence: Evidence = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Add an entry at the end of a document, most of all to notes.

    That is the end of its last section; `garden patch PATH inbox --append` adds to another one.

    Examples:
    garden append notes.md "Slept well."

    date | garden append notes.md - --rationale "A sign of life."
    """
    beside = said(rationale, override_rationale, evidence, if_match, key)
    entry = given(context, text)
    with at_work(context, user, path, actor=actor) as desk:
        args = {"path": desk.path(path), "text": entry, **beside}
        edit(desk, "fs.append", args, dry_run=dry_run, as_json=as_json)


def patch(
    context: typer.Context,
    path: Document,
    anchor: Annotated[
        str | None, typer.Argument(help="The section, unless --diff is given: 'concerns v1', or concerns.")
    ] = None,
    replace: Annotated[
        str | None,
        typer.Option(metavar="TEXT | -", help="The new body of the section; - reads it from stdin."),
    ] = None,
    append_text: Annotated[
        str | None,
        typer.Option(
            "--append", metavar="TEXT | -", help="What to add below its body; - reads it from stdin."
        ),
    ] = None,
    diff: Annotated[
        str | None,
        typer.Option(
            metavar="FILE | -", help="A unified diff for the whole document; - reads it from stdin."
        ),
    ] = None,
    rationale: Rationale = None,
    override_rationale: Override = None,
    evidence: Evidence = None,
    if_match: IfMatch = None,
    key: Key = None,
    dry_run: DryRun = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Change one section of a document, or apply a diff to it.

    The rest of the document stays as it is, byte for byte. A profile's Change Log line is written by itself,
    so give a --rationale.

    Examples:
    garden patch parts/critic/profile.md "concerns v1" --append "- Says yes too soon" -m "She named it."

    garden patch parts/critic/profile.md concerns --replace "- Says yes too soon" --dry-run

    cat new.md | garden patch overview.md "summary v1" --replace - -m "Brought up to date."

    garden patch notes.md --diff change.diff
    """
    given_ways = [way for way in (replace, append_text, diff) if way is not None]
    if len(given_ways) != 1:
        misused(context, "Give one of --replace, --append and --diff.")
    if (anchor is None) != (diff is not None):
        misused(
            context,
            "Name the section, as in: garden patch PATH 'concerns v1' --replace TEXT; or give --diff alone.",
        )
    beside = said(rationale, override_rationale, evidence, if_match, key)
    words = _diff_text(context, diff) if diff is not None else given(context, given_ways[0])
    with at_work(context, user, path, actor=actor) as desk:
        args: dict[str, Any] = {"path": desk.path(path)}
        if diff is not None:
            edit(desk, "fs.patch", {**args, "diffText": words, **beside}, dry_run=dry_run, as_json=as_json)
            return
        change = {"replace" if replace is not None else "append": words}
        args |= {"sectionAnchor": anchor, "change": change, **beside}
        edit(desk, "md.patch_section", args, dry_run=dry_run, as_json=as_json)


def given(context: typer.Context, words: str) -> str:
    """Give the words themselves, or for - what is read from standard input."""
    if words != "-":
        return words
    return _decoded(context, from_stdin(), "What came from standard input")


def _diff_text(context: typer.Context, name: str) -> str:
    if name == "-":
        return given(context, name)
    try:
        return _decoded(context, Path(name).read_bytes(), name)
    except OSError as error:
        misused(context, f"{name} can't be read: {error.strerror}.")


def _decoded(context: typer.Context, data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        misused(context, f"{what} is not text in UTF-8: see byte {error.start}.")


def said(
    rationale: str | None,
    override: str | None,
    evidence: list[str] | None,
    if_match: str | None,
    key: str | None,
) -> dict[str, Any]:
    """Give what is sent beside an edit; without a key it gets one of its own."""
    from uuid import uuid4

    words = {
        "rationale": rationale,
        "overrideRationale": override,
        "evidenceRefs": evidence or None,
        "ifMatch": if_match,
        # A person who writes the same words twice means them twice.
        "idempotencyKey": key or f"garden-{uuid4()}",
    }
    return {name: value for name, value in words.items() if value is not None}


def edit(desk: Desk, tool: str, args: dict[str, Any], *, dry_run: bool, as_json: bool) -> None:
    """Send an edit, or with `dry_run` only propose it, and show what comes of it."""
    from garden.surfaces.cli.answers import refuse, show_edit, show_proposal
    from garden.surfaces.cli.interrupts import finishing
    from garden.surfaces.cli.render import show_json

    with finishing():
        envelope = (
            desk.session.call("propose_change", {"tool": tool, "args": args})
            if dry_run
            else desk.session.call(tool, args)
        )
        if as_json:
            show_json(envelope)
        elif envelope["ok"]:
            (show_proposal if dry_run else show_edit)(envelope, desk.short(args["path"]))
        refuse(envelope, as_json=as_json)


def plant(
    context: typer.Context,
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
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Begin a garden, a part or a relationship.

    Alone it begins the user's overview and notes; with --part or --relationship, a profile and notes for it.
    What is there already is left as it is, and is no error.

    Examples:
    garden plant --user ada --title "Ada"

    garden plant --user ada --part critic --title "The Critic"

    garden plant --user ada --relationship critic-and-child --participants critic,child
    """
    from garden.surfaces.cli.interrupts import finishing

    if part is not None and relationship is not None:
        misused(context, "Give either --part or --relationship.")
    if (relationship is None) != (participants is None):
        misused(context, "--relationship and --participants belong together.")
    below = f"/parts/{part}" if part is not None else f"/relationships/{relationship}" if relationship else ""
    whose = whose_garden(context, user)
    first: dict[str, Any] = {"path": f"users/{whose}{below}/{'profile' if below else 'overview'}.md"}
    if title is not None:
        first["title"] = title
    if participants is not None:
        first["participants"] = [each.strip() for each in participants.split(",") if each.strip()]
    notes = {"path": f"users/{whose}{below}/notes.md"}
    if title is not None:
        notes["title"] = f"Notes: {title}"
    with at_work(context, whose, actor=actor) as desk, finishing():
        answers = [(each["path"], desk.session.call("md.plant", each)) for each in (first, notes)]
        _show_planted(answers, as_json=as_json)


def _show_planted(answers: "list[tuple[str, Envelope]]", *, as_json: bool) -> None:
    from garden.surfaces.cli.answers import refuse
    from garden.surfaces.cli.render import show_json

    there = [(path, envelope) for path, envelope in answers if _is_there(envelope)]
    if as_json:
        show_json([{"path": path, **envelope} for path, envelope in answers])
    for path, envelope in answers:
        if not as_json and (path, envelope) in there:
            print(f"It is there already: {path}")
        elif not as_json and envelope["ok"]:
            print(f"Planted: {path}")
    for path, envelope in answers:
        if (path, envelope) not in there:
            refuse(envelope, path, as_json=as_json)


def _is_there(envelope: "Envelope") -> bool:
    if envelope["ok"]:
        return bool(envelope["meta"].get("replayed"))
    return bool(envelope["error"]["code"] == "already_exists")
