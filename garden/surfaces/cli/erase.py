"""The command `erase`: words that must go leave every place at once."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.desk import (
    Desk,
    fail_usage,
    open_desk,
    open_garden,
    read_settings,
    read_text,
    select_users,
)
from garden.surfaces.cli.options import Actor, AsJson, User, complete_paths

if TYPE_CHECKING:
    from garden.gateway.dispatcher import Envelope

_KINDS = {
    "file": "the file itself",
    "version": "versions",
    "copy": "history copies",
    "event": "events",
    "note": "notes",
    "annotation": "annotations",
    "answer": "stored answers",
    "stray": "temporary files",
    "other": "other files, which stay",
    "unreadable": "files that can't be read, and so not searched",
}


def erase(
    context: typer.Context,
    path: Annotated[
        str | None,
        typer.Argument(help="The document; alone, it goes as a whole.", autocompletion=complete_paths),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT | -",
            help="The passage; - reads it from stdin and keeps it out of the shell's history.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="Erase the user named with --user.")
    ] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", "-m", metavar="WORDS", help="Why; it is kept.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase without asking.")] = False,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Erase again what this file lists, after a restore from a backup."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what --replay needs into a new file, without the words."),
    ] = None,
    vacuum: Annotated[
        bool, typer.Option("--vacuum", help="Then rewrite the tables, so that no dead row holds the words.")
    ] = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Erase a passage, a document or a user, for good.

    Shows every place first, and asks. The words leave the files, the history, the event log and the stored
    answers; a sealed tombstone says that something was erased, when and why. `garden keys verify` holds
    afterwards. Backups and exports are out of reach: delete them, or keep the file of --export beside them.

    Examples:
    garden erase parts/critic/notes.md --reason "She asked for it." --yes

    cat passage.txt | garden erase --text - --reason "Told in confidence." --yes

    garden erase --everything --user ada --reason "She left." --yes

    garden erase --export erasures.jsonl
    """
    _check_usage(context, path or text or everything, replay, export, vacuum=vacuum)
    if everything and user is None:
        fail_usage(context, "Name the user with --user.")
    if export is not None:
        _export(context, user, export, as_json=as_json)
    elif replay is not None:
        _replay(context, replay, as_json=as_json)
    elif path or text or everything:
        if reason is None:
            fail_usage(context, "Say why with --reason.")
        passage = read_text(context, "-").strip() if text == "-" else text
        wish = {"text": passage, "everything": everything or None, "reason": reason}
        if not yes and (as_json or text == "-" or not sys.stdin.isatty()):
            fail_usage(context, "Add --yes, since no terminal is there to ask.")
        with open_desk(context, user, *([path] if path else []), actor=actor) as desk:
            _erase(desk, {**wish, "path": desk.path(path) if path else None}, yes=yes, as_json=as_json)
    if vacuum:
        _vacuum(context)


def _check_usage(
    context: typer.Context, erases: object, replay: Path | None, export: Path | None, *, vacuum: bool
) -> None:
    asked = [bool(erases), replay is not None, export is not None]
    if sum(asked) > 1 or not (any(asked) or vacuum):
        fail_usage(context, "Give what to erase, or --replay, or --export, or --vacuum alone.")


def _erase(desk: Desk, wish: dict[str, Any], *, yes: bool, as_json: bool) -> None:
    from garden.surfaces.cli.answers import exit_if_refused
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import with_progress

    preview = desk.call("garden.erase", **wish, preview=True)
    if not as_json:
        exit_if_refused(preview)
        _show_places(desk, preview)
    if not preview["ok"] or not preview["result"]["places"]:
        if as_json:
            exit_if_refused(preview, as_json=True)
        else:
            print("Nothing was erased.")
        return
    if not yes and not typer.confirm("This can't be undone. Erase?"):
        raise typer.Exit(1)
    with delay_interrupt():
        [envelope] = [desk.call("garden.erase", **each) for each in with_progress([wish], "Erasing")]
    exit_if_refused(envelope, as_json=as_json)
    if not as_json:
        done = envelope["result"]
        events = "1 event" if done["events"] == 1 else f"{done['events']} events"
        print(f"Erased {done['bytes']} bytes in {events}. Tombstone: {done['tombstone']}")


def _show_places(desk: Desk, preview: "Envelope") -> None:
    from garden.surfaces.cli.render import show_table

    rows = [
        (desk.short(each["path"]) or "-", _KINDS[each["what"]], each["count"])
        for each in preview["result"]["places"]
    ]
    if rows:
        show_table(("document", "place", "count"), rows)


def _export(context: typer.Context, user: str | None, file: Path, *, as_json: bool) -> None:
    from garden.surfaces.cli.render import show

    with open_garden(context) as garden:
        users = select_users(garden, user)
        records = [each for name in users for each in garden.services.eraser.erasures.export(name)]
    lines = "".join(json.dumps(each) + "\n" for each in records)
    with file.open("x", encoding="utf-8") as opened:
        file.chmod(0o600)
        opened.write(lines)
    counted = "1 erasure" if len(records) == 1 else f"{len(records)} erasures"
    line = f"{counted} written. Keep the file beside your backups."
    show({"erasures": len(records)}, line, as_json=as_json)


def _replay(context: typer.Context, file: Path, *, as_json: bool) -> None:
    from garden.surfaces.cli.render import show_json, with_progress

    try:
        records = [dict(json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    except (TypeError, ValueError):
        fail_usage(context, f"{file} was not written by --export.")
    with open_garden(context) as garden:
        eraser = garden.services.eraser
        done = [(each, eraser.replay(each)) for each in with_progress(records, "Erasing")]
    if as_json:
        show_json([{"tombstone": each["erasure_id"], "outcome": outcome} for each, outcome in done])
    else:
        for each, outcome in done:
            print(f"{each['user_id']}  {each['erasure_id']}  {outcome}")
    if any(outcome == "needs its text" for _, outcome in done):
        raise typer.Exit(1)


def _vacuum(context: typer.Context) -> None:
    from garden.events.vacuum import vacuum
    from garden.home.setup import ensure_database, prepare_home

    settings = read_settings(context).settings
    vacuum(ensure_database(settings, prepare_home(settings, may_create=False).home))
    print("The tables are rewritten.", file=sys.stderr)
