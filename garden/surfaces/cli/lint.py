"""The command `lint`."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.common import Actor, AsJson, Desk, User, at_work, complete_paths, misused

if TYPE_CHECKING:
    from garden.access.dispatcher import Envelope
    from garden.files.paths import GardenPath

_SEVERITIES = {"block": "failed", "cap": "warning", "style": "skipped"}


def lint(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Documents, or folders with all that is in them.",
            autocompletion=complete_paths,
            show_default="the whole garden",
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what is mechanical, each document in one edit.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --fix: only show what would be mended.")
    ] = False,
    user: User = None,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """Say what is amiss in documents, and mend what is mechanical.

    Exit code 1 where anything stops edits or could not be done; exceeded caps and matters of style stop
    nothing. What --fix changes is an edit like any other: checked, recorded, and refused if somebody else was
    there meanwhile.

    Examples:
    garden lint

    garden lint notes.md parts/critic

    garden lint --fix --dry-run

    garden lint --fix
    """
    from garden.surfaces.cli.render import show_json, tracked

    if dry_run and not fix:
        misused(context, "--dry-run belongs to --fix.")
    with at_work(context, user, *(paths or ()), actor=actor) as desk:
        documents = _documents(desk, paths or [""])
        done = [_linted(desk, path, fix=fix, dry_run=dry_run) for path in tracked(documents, "Linting")]
        if as_json:
            show_json(done)
        else:
            _show(desk, done)
    if any(not each["ok"] or each["result"]["blocked"] or not _mended_well(each) for each in done):
        raise typer.Exit(1)


def _documents(desk: Desk, names: list[str]) -> "list[GardenPath]":
    lookups, caller = desk.garden.lookups, desk.session.caller
    found = {path.text: path for name in names for path in lookups.documents(caller, desk.path(name))}
    return list(found.values())


def _linted(desk: Desk, path: "GardenPath", *, fix: bool, dry_run: bool) -> dict[str, Any]:
    """Mend a document, where that is wanted, and lint it; the answer holds what was mended beside."""
    mended = _mended(desk, path, dry_run=dry_run) if fix else None
    answer = {"path": path.text, **desk.call("lint.check", path=path.text)}
    return answer if mended is None else {**answer, "mended": mended}


def _mended(desk: Desk, path: "GardenPath", *, dry_run: bool) -> dict[str, Any] | None:
    from uuid import uuid4

    from garden.grammar.errors import GardenError
    from garden.surfaces.cli.interrupts import finishing

    try:
        plan = desk.garden.lookups.fixes(desk.session.caller, path.text)
    except GardenError:
        # The check that follows says what is wrong with the file.
        return None
    if plan is None:
        return None
    with finishing():
        envelope = desk.call(
            "fs.write",
            path=path.text,
            content=plan.text,
            rationale=plan.rationale,
            ifMatch=plan.document_hash,
            idempotencyKey=f"garden-{uuid4()}",
            dryRun=dry_run,
        )
    return {"cured": dict(plan.fixed), "diff": plan.diff.text, "answer": envelope}


def _mended_well(each: dict[str, Any]) -> bool:
    return "mended" not in each or bool(each["mended"]["answer"]["ok"])


def _show(desk: Desk, done: list[dict[str, Any]]) -> None:
    from garden.surfaces.cli.answers import show_refusal
    from garden.surfaces.cli.render import say

    counts: Counter[str] = Counter()
    for each in done:
        path = desk.short(each["path"])
        if "mended" in each:
            _show_mended(path, each["mended"])
            counts["mended"] += _mended_well(each)
        if each["ok"]:
            counts.update(_show_findings(path, each))
        else:
            show_refusal(each, path)
    severities = ", ".join(f"{counts[severity]} {severity}" for severity in _SEVERITIES)
    mended = f", {counts['mended']} mended" if counts["mended"] else ""
    say(f"{len(done)} documents: {severities}{mended}.")


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


def _show_mended(path: str, mended: dict[str, Any]) -> None:
    from garden.surfaces.cli.answers import show_refusal
    from garden.surfaces.cli.render import say, show_diff

    answer = mended["answer"]
    if not answer["ok"]:
        show_refusal(answer, f"{path} was not mended")
        return
    cured = ", ".join(f"{name} ({count})" for name, count in sorted(mended["cured"].items()))
    verb = "Would mend" if answer["meta"].get("dryRun") else "Mended"
    say(f"{verb} {path}: {cured or 'what was left to mend'}")
    show_diff(mended["diff"])
