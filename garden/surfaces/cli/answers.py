"""The answers of tools, shown to people."""

from typing import TYPE_CHECKING, Any

import typer

from garden.surfaces.cli.render import say, show_diff, show_error, show_hint, show_warnings
from garden.surfaces.cli.wording import at_a_shell

if TYPE_CHECKING:
    from garden.access.dispatcher import Envelope


def result_of(envelope: "Envelope", *, as_json: bool) -> Any:
    """Give the result of an answer whose warnings are shown; a refusal is shown, and ends the command.

    With `as_json` nothing is shown here: whoever prints the envelope has told it all.
    """
    refuse(envelope, as_json=as_json)
    return envelope["result"]


def refuse(envelope: "Envelope", name: str = "", *, as_json: bool = False) -> None:
    """End the command with exit code 1 if this is a refusal; show it, unless it was printed as JSON."""
    if envelope["ok"]:
        if not as_json:
            show_warnings(map(at_a_shell, envelope["meta"]["warnings"]))
            show_hint(at_a_shell(envelope["meta"].get("hint", "")))
        return
    if not as_json:
        show_refusal(envelope, name)
    raise typer.Exit(1)


def show_refusal(envelope: "Envelope", name: str = "") -> None:
    """Say why something was refused, and what to do."""
    message, hint = (at_a_shell(envelope["error"][words]) for words in ("message", "hint"))
    show_error(f"{name}: {message}" if name else message, hint)


def show_edit(envelope: "Envelope", path: str) -> None:
    """Say what an edit has done."""
    meta = envelope["meta"]
    if meta.get("unchanged"):
        say(f"Nothing changed: {path}")
    elif meta.get("replayed"):
        say(f"Changed before: {path} (event {meta['eventId']})")
    else:
        say(f"Changed: {path} (event {meta['eventId']})")
        mended = envelope["result"].get("mended", []) if isinstance(envelope["result"], dict) else []
        if mended:
            say(f"Put back: {', '.join(mended)}.")


def show_proposal(envelope: "Envelope", _path: str) -> None:
    """Show what an edit would do."""
    result = envelope["result"]
    show_diff(result["diff"])
    say(at_a_shell(result["safetyReport"]))
