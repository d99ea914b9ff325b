"""The commands of the transparency log: `checkpoint`, `prove`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import open_desk, open_garden
from garden.surfaces.cli.options import AsJson, User

if TYPE_CHECKING:
    from garden.history.notes import Note
    from garden.history.witnesses import Cosigning


def checkpoint(
    context: typer.Context,
    keys: Annotated[
        bool, typer.Option("--keys", help="Print the public keys that verify checkpoints instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Sign the state of all events, to keep elsewhere.

    The note holds the number of logged events and one hash over all of them, and no words, users or paths.
    With a policy of witnesses they are asked to sign as well; exit code 1 if too few of them do.

    Examples:
    garden checkpoint

    garden checkpoint --keys
    """
    from garden.history.checkpoints import log_signers, make_checkpoints, published_note
    from garden.history.witnesses import cosign
    from garden.surfaces.cli.render import show_json

    with open_garden(context) as garden:
        if keys:
            found = [str(each.public) for each in log_signers(garden.services)]
            show_json(found) if as_json else print("\n".join(found))
            return
        for _ in make_checkpoints(garden.services):
            pass
        witnessed, note = cosign(garden.services), published_note(garden.services)
    if note is not None:
        _show(note, witnessed, as_json=as_json)
    if witnessed is not None and not witnessed.is_reached:
        raise typer.Exit(1)


def _show(note: "Note", witnessed: "Cosigning | None", *, as_json: bool) -> None:
    from garden.history.notes import parse_checkpoint
    from garden.surfaces.cli.render import show_hint, show_json

    if as_json:
        found = parse_checkpoint(note.text)
        show_json(
            {
                "origin": found.origin,
                "size": found.size,
                "root": found.root.hex(),
                "note": str(note),
                "isWitnessed": None if witnessed is None else witnessed.is_reached,
                "problems": [] if witnessed is None else witnessed.problems,
            }
        )
        return
    print(note, end="")
    if witnessed is not None and not witnessed.is_reached:
        show_hint(" ".join(["Too few witnesses have signed.", *witnessed.problems]))


def prove(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="EVENT", help="The event's id, or its last six or more characters.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write. Default: EVENT.tlog-proof.")
    ] = None,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Write a proof of an event, for anyone to verify.

    Signs a checkpoint first if the newest one is older than the event. `examples/verify_proof.py` verifies
    the file with a key of `garden checkpoint --keys`, and so does any program for the format tlog-proof.

    Examples:
    garden prove 3f9a21c4

    garden prove 3f9a21c4 --out harvest.tlog-proof
    """
    from garden.history.proofs import prove_event
    from garden.surfaces.cli.render import show

    with open_desk(context, user) as desk:
        row = desk.garden.lookups.event_named(desk.session.access, name)
        proof = prove_event(desk.garden.services, desk.user, row.event_id)
    file = out or Path(f"{row.event_id}.tlog-proof")
    file.write_text(str(proof), "utf-8")
    described = {"eventId": str(row.event_id), "leaf": proof.index, "file": str(file)}
    show(described, f"{file} proves leaf {proof.index} of the log.", as_json=as_json)
