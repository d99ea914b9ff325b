"""The command `lint`."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.desk import Desk, fail_usage, open_desk
from garden.surfaces.cli.options import Actor, AsJson, User, complete_paths

if TYPE_CHECKING:
    from garden.files.paths import GardenPath
    from garden.gateway.dispatcher import Envelope

_SEVERITIES = {"block": "failed", "cap": "warning", "style": "skipped"}


def lint(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Documents, or folders with everything in them.",
            autocompletion=complete_paths,
            show_default="the whole garden",
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Fix what can be fixed mechanically, one edit for each document.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --fix: show the fixes without making them.")
    ] = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Check documents, and fix what can be fixed mechanically.

    Exit code 1 if a finding blocks edits or a fix failed; exceeded caps and style block nothing. A fix is an
    ordinary edit: checked, recorded, and refused if the document changed meanwhile.

    Examples:
    garden lint

    garden lint notes.md parts/critic

    garden lint --fix --dry-run

    garden lint --fix
    """
    from garden.surfaces.cli.render import show_json, with_progress

    if dry_run and not fix:
        fail_usage(context, "--dry-run belongs to --fix.")
    with open_desk(context, user, *(paths or ()), actor=actor) as desk:
        documents = _documents(desk, paths or [""])
        done = [_lint(desk, path, fix=fix, dry_run=dry_run) for path in with_progress(documents, "Linting")]
        if as_json:
            show_json(done)
        else:
            _show(desk, done)
    if any(not each["ok"] or each["result"]["blocked"] or not _is_fixed(each) for each in done):
        raise typer.Exit(1)


def _documents(desk: Desk, names: list[str]) -> "list[GardenPath]":
    lookups, caller = desk.garden.lookups, desk.session.caller
    found = {path.text: path for name in names for path in lookups.documents(caller, desk.path(name))}
    return list(found.values())


def _lint(desk: Desk, path: "GardenPath", *, fix: bool, dry_run: bool) -> dict[str, Any]:
    from garden.surfaces.cli.interrupts import delay_interrupt

    answer: dict[str, Any] = {"path": path.text}
    if fix:
        with delay_interrupt():
            fixed = desk.call("md.fix", path=path.text, dryRun=dry_run)
        if not (fixed["ok"] and fixed["meta"].get("unchanged")):
            answer["fix"] = fixed
    checked = desk.call("lint.check", path=path.text)
    if not checked["ok"]:
        # The same problem, once.
        answer.pop("fix", None)
    return {**answer, **checked}


def _is_fixed(each: dict[str, Any]) -> bool:
    return "fix" not in each or bool(each["fix"]["ok"])


def _show(desk: Desk, done: list[dict[str, Any]]) -> None:
    from garden.surfaces.cli.answers import show_refusal
    from garden.surfaces.cli.render import say

    counts: Counter[str] = Counter()
    for each in done:
        path = desk.short(each["path"])
        if "fix" in each:
            _show_fix(path, each["fix"])
            counts["fixed"] += _is_fixed(each)
        if each["ok"]:
            counts.update(_show_findings(path, each))
        else:
            show_refusal(each, path)
    severities = ", ".join(f"{counts[severity]} {severity}" for severity in _SEVERITIES)
    fixed = f", {counts['fixed']} fixed" if counts["fixed"] else ""
    say(f"{len(done)} documents: {severities}{fixed}.")


def _show_findings(path: str, envelope: "Envelope") -> Counter[str]:
    from rich.text import Text

    from garden.surfaces.cli.render import COLOURS, say

    result = envelope["result"]
    findings = [*(result.get("blockedReasons") or []), *result["warnings"]]
    for found in sorted(findings, key=lambda finding: (finding["line"], finding["column"])):
        place = f"{path}:{found['line']}:{found['column']}"
        mark = (f" {found['severity']} ", COLOURS[_SEVERITIES[found["severity"]]])
        say(Text.assemble((place, "magenta"), mark, f"{found['rule']} {found['name']}: {found['message']}"))
    return Counter(found["severity"] for found in findings)


def _show_fix(path: str, envelope: "Envelope") -> None:
    from garden.surfaces.cli.answers import show_refusal
    from garden.surfaces.cli.render import say, show_diff

    if not envelope["ok"]:
        show_refusal(envelope, f"{path} was not fixed")
        return
    would = envelope["meta"].get("dryRun")
    for found in envelope["result"]["fixed"] or ["its form"]:
        say(f"{'Would fix' if would else 'Fixed'} {path}: {found}")
    if would:
        show_diff(envelope["meta"]["diff"])
