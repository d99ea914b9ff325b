"""Reports in several lines: what was examined, verified, carried."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from garden.events.verifier import Verdict
from garden.surfaces.cli.render import COLOURS, say
from garden.surfaces.cli.wording import at_a_shell
from garden.upkeep.doctor import CheckResult


def show_finding(finding: CheckResult) -> None:
    """Print one finding of the doctor's, and its hint below it."""
    mark = (f"{finding.status:<8}", COLOURS[finding.status])
    say(Text.assemble(mark, f"{finding.check:<12} {finding.message}"))
    if finding.hint:
        say(Text(f"{'':<8}→ {finding.hint}", style="dim"))


def show_verdict(user_id: str, verdict: Verdict) -> None:
    """Print what the check of one user's account found."""
    status = "ok" if verdict.holds else "failed"
    say(Text.assemble((f"{status:<8}", COLOURS[status]), f"{user_id}: {verdict.events} events"))
    for fault in verdict.faults:
        place = f"{fault.stream or 'journal'}, event {fault.event_id} ({fault.sequence})"
        say(f"{'':<8}{place}: {fault.message}")


def show_carried(done: Sequence[Any], outcomes: Sequence[tuple[str, str]]) -> None:
    """Print what was refused and why, and how much of everything there was.

    `done` are files with an outcome each; `outcomes` are those that there are, and how to count them.
    """
    told = None
    for each in done:
        if each.outcome == "refused":
            # The same advice once is enough for all that stand below each other.
            show_refused(each.file, each.message, each.hint if each.hint != told else None)
            told = each.hint
    counts = Counter(each.outcome for each in done)
    say(", ".join(f"{counts[outcome]} {words}" for outcome, words in outcomes) + ".")


def show_refused(name: str, message: str, hint: str | None) -> None:
    """Print what was refused, and what to do about it."""
    say(Text.assemble(("refused ", COLOURS["failed"]), f"{name}: {at_a_shell(message)}"))
    if hint:
        say(Text(f"{'':<8}→ {at_a_shell(hint)}", style="dim"))
