"""Tools' answers in the words of the command line: commands for tools, options for fields."""

import re
from typing import TYPE_CHECKING, Any

import typer

from garden.surfaces.cli.render import say, show_diff, show_error, show_hint, show_json, show_warnings

if TYPE_CHECKING:
    from garden.gateway.dispatcher import Envelope

COMMANDS = {
    "events.query": "garden events",
    "fs.append": "garden append",
    "fs.hash": "garden call fs.hash",
    "fs.list": "garden ls",
    "fs.move": "garden mv",
    "fs.patch": "garden patch",
    "fs.read": "garden cat",
    "fs.search": "garden search",
    "fs.write": "garden call fs.write",
    "garden.erase": "garden erase",
    "history.blame": "garden blame",
    "history.diff": "garden diff",
    "history.log": "garden log",
    "history.show": "garden show",
    "lint.check": "garden lint",
    "md.lint": "garden lint",
    "md.patch_section": "garden patch",
    "md.plant": "garden plant",
    "md.repair": "garden repair",
    "md.restore": "garden restore",
    "md.undo": "garden undo",
    "memory.context": "garden memory context",
    "memory.forget": "garden memory forget",
    "memory.list": "garden memory list",
    "memory.recall": "garden recall",
    "memory.store": "garden memory store",
    "tools.help": "garden tools",
    "tools.list": "garden tools",
}
OPTIONS = {
    "asOf": "--as-of",
    "chatId": "--chat",
    "diffText": "--diff",
    "evidenceRefs": "--evidence",
    "idempotencyKey": "--key",
    "ifMatch": "--if-match",
    "insist: true": "--insist",
    "overrideRationale": "--override-rationale",
    "periodKey": "--period",
    "pursuingPriority": "--priority",
    "sectionAnchor": "ANCHOR",
    "summaryType": "--summary",
}
_TOOL = rf"(?<![\w.])({'|'.join(map(re.escape, COMMANDS))})\b"
# A hint may already name the command beside its tool.
_TOOL_AND_COMMAND = re.compile(rf"{_TOOL}(?: \('garden \w+'\))?")
_FIELD = re.compile(rf"\b({'|'.join(OPTIONS)})\b")
# The fields of a refusal, which a person typed as options.
_REFUSED = re.compile(r"(?<= does not accept these arguments: ).*", re.DOTALL)
_REFUSED_FIELD = re.compile(r"(?:(?<=; )|^)([a-z][A-Za-z]*)(?:\.[0-9]+)?(?=: )")
_FIELDS_NEEDED = re.compile(rf"{_TOOL} needs [^;]*; tools\.help .*")


def in_shell_words(text: str) -> str:
    """Replace tools and fields in a message or hint by commands and options."""
    text = _FIELDS_NEEDED.sub(lambda found: f"'{COMMANDS[found[1]]} --help' shows what it takes.", text)
    text = _REFUSED.sub(lambda found: _REFUSED_FIELD.sub(_option_of, found[0]), text)
    text = _TOOL_AND_COMMAND.sub(lambda found: f"'{COMMANDS[found[1]]}'", text)
    return _FIELD.sub(lambda found: OPTIONS[found[1]], text)


def _option_of(field: re.Match[str]) -> str:
    """The option of a field; those that take several values are given one by one."""
    words = re.sub("([A-Z])", lambda found: f"-{found[1].lower()}", field[1])
    one = f"{words.removesuffix('ies')}y" if words.endswith("ies") else words.removesuffix("s")
    return OPTIONS.get(field[1]) or f"--{one}"


def result_or_exit(envelope: "Envelope", *, as_json: bool) -> Any:
    """Result of an answer, which is printed as JSON if wanted; a refusal ends the command."""
    exit_if_refused(envelope, as_json=as_json)
    return envelope["result"]


def exit_if_refused(envelope: "Envelope", name: str = "", *, as_json: bool = False) -> None:
    """Show an answer's warnings, or its refusal and exit with 1; with `as_json` print the whole answer."""
    if as_json:
        show_json(envelope)
    elif envelope["ok"]:
        show_warnings(map(in_shell_words, envelope["meta"]["warnings"]))
        show_hint(in_shell_words(envelope["meta"].get("hint", "")))
    else:
        show_refusal(envelope, name)
    if not envelope["ok"]:
        raise typer.Exit(1)


def show_refusal(envelope: "Envelope", name: str = "") -> None:
    """Show why a call was refused, and the hint."""
    message, hint = (in_shell_words(envelope["error"][field]) for field in ("message", "hint"))
    show_error(f"{name}: {message}" if name else message, hint)


def show_edit(envelope: "Envelope", path: str) -> None:
    """Show what an edit did."""
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
    say(in_shell_words(result["safetyReport"]))
