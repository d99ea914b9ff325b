"""Results for people: events, matches, checks, verdicts, transfers, the demonstration."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

from rich.text import Text

from garden.demo.record import DemoRecord
from garden.surfaces.cli.answers import in_shell_words
from garden.surfaces.cli.render import COLOURS, DIFF_COLOURS, say, show_diff, show_table

if TYPE_CHECKING:
    from garden.events.erasures import Erasure
    from garden.events.verifier import Verdict
    from garden.history.faults import Fault
    from garden.history.verification import UserReport
    from garden.surfaces.cli.desk import Desk
    from garden.tools.search import Searcher
    from garden.upkeep.doctor import CheckResult

_NAME_CHARACTERS = 8
_HEADINGS = ("event", "time", "actor", "op", "document", "status")
_STATUS_STYLES = {"committed": "", "failed": "bold red", "pending": "yellow", "written": "yellow"}
_FIELDS = (
    ("type", "type"),
    ("op", "op"),
    ("tool", "tool"),
    ("sectionAnchor", "section"),
    ("actor", "actor"),
    ("role", "role"),
    ("rationale", "rationale"),
    ("overrideRationale", "override"),
    ("documentVersion", "version"),
    ("beforeHash", "before"),
    ("afterHash", "after"),
    ("toolCallId", "tool call"),
    ("transactionId", "transaction"),
    ("agentActionId", "agent action"),
    ("idempotencyKey", "idempotency key"),
    ("committedAt", "committed"),
    ("failedAt", "failed"),
)


def show_events(desk: "Desk", rows: Sequence[dict[str, Any]], *, headed: bool, diff: bool) -> None:
    """Print events as a table, or each with its diff."""
    if not diff:
        if rows:
            # Leave the status out if all are committed: the paths need the room.
            columns = len(_HEADINGS) - all(row["status"] == "committed" for row in rows)
            show_table(
                _HEADINGS[:columns], [_event_cells(desk, row)[:columns] for row in rows], headed=headed
            )
        return
    for row in rows:
        *cells, status = _event_cells(desk, row)
        say(Text("  ".join(filter(None, (*cells, status.plain))), style="bold"))
        if row["rationale"]:
            say(f"  {row['rationale']}")
        show_diff(desk.garden.lookups.diff(desk.session.caller, row["eventId"]))
        say("")


def show_event(desk: "Desk", row: dict[str, Any], diff: str) -> None:
    """Print everything about one event, and its diff."""
    status = Text(row["status"], style=_STATUS_STYLES[row["status"]])
    say(Text.assemble((f"event {row['eventId']}", "bold"), "  ", desk.time(row["createdAt"]), "  ", status))
    if row["path"]:
        say(f"{'document':<16}{desk.short(row['path'])}")
    for field, name in _FIELDS:
        if row[field] is not None:
            say(f"{name:<16}{row[field]}")
    if row["sections"]:
        say(f"{'sections':<16}{', '.join(row['sections'])}")
    if row["evidenceRefs"]:
        say(f"{'evidence':<16}{', '.join(row['evidenceRefs'])}")
    if row["error"]:
        say(f"{'error':<16}{row['error'].get('code')}: {row['error'].get('message')}")
    for each in row["annotations"]:
        override = f" override: {each['overrideRationale']}" if each["overrideRationale"] else ""
        say(f"{'annotation':<16}{each['type']} by {each['actor']}: {each['rationale'] or ''}{override}")
    if diff:
        say("")
        show_diff(diff)


def _event_cells(desk: "Desk", row: dict[str, Any]) -> tuple[str, str, str, str, str, Text]:
    section = f" · {row['sectionAnchor']}" if row["sectionAnchor"] else ""
    status = row["status"]
    return (
        str(UUID(row["eventId"]))[-_NAME_CHARACTERS:],
        desk.time(row["createdAt"]),
        row["actor"],
        row["op"],
        f"{desk.short(row['path'])}{section}",
        Text("" if status == "committed" else status, style=_STATUS_STYLES[status]),
    )


def show_matches(found: Iterable[tuple[str, int, str]], around: int, searcher: "Searcher") -> None:
    """Print (path, line, text) of matches as grep does; a line around several matches is printed once."""
    is_first = True
    for path, matches in groupby(found, key=lambda match: match[0]):
        before = 0
        for number, line, is_match in _lines_of_matches(list(matches), around):
            if around and number != before + 1 and not is_first:
                say(Text("--", style="cyan"))
            is_first, before = False, number
            say(_style_match(path, number, line, searcher if is_match else None))


def _lines_of_matches(matches: list[tuple[str, int, str]], around: int) -> Iterator[tuple[int, str, bool]]:
    lines: dict[int, str] = {}
    for _, number, text in matches:
        lines.update(enumerate(text.split("\n"), max(number - around, 1)))
    hits = {number for _, number, _ in matches}
    return ((number, lines[number], number in hits) for number in sorted(lines))


def _style_match(path: str, number: int, line: str, searcher: "Searcher | None") -> Text:
    mark = ":" if searcher else "-"
    place = Text.assemble((path, "magenta"), (mark, "cyan"), (str(number), "green"), (mark, "cyan"))
    text = Text(line)
    for start, end in searcher.spans(line) if searcher else ():
        text.stylize("bold red", start, end)
    return place.append_text(text)


def show_check(result: "CheckResult") -> None:
    """Print one check of the doctor, and its hint below."""
    mark = (f"{result.status:<8}", COLOURS[result.status])
    say(Text.assemble(mark, f"{result.check:<12} {result.message}"))
    if result.hint:
        say(Text(f"{'':<8}→ {result.hint}", style="dim"))


def show_verdict(user_id: str, verdict: "Verdict") -> None:
    """Print whether one user's events verify, and the first fault of each chain."""
    _show_user(user_id, f"{verdict.events} events", verdict.erasures, holds=verdict.holds)
    for fault in verdict.faults:
        place = f"{fault.stream or 'journal'}, event {fault.event_id} ({fault.sequence})"
        say(f"{'':<8}{place}: {fault.message}")


def show_user_report(report: "UserReport") -> None:
    """Print whether everything of one user holds, and each fault with what to do."""
    counted = f"{report.events} events, {report.documents} documents"
    resumed = f" ({report.resumed} of them verified by the run before)" if report.resumed else ""
    _show_user(report.user, counted + resumed, report.erasures, holds=report.holds)
    for fault in report.faults:
        show_fault(fault)


def show_fault(fault: "Fault") -> None:
    """Print one thing that does not hold."""
    number = f" ({fault.sequence})" if fault.sequence else ""
    event = f", event {fault.event_id}{number}" if fault.event_id else ""
    say(f"{'':<8}{fault.place}{event}: {fault.message}.")
    say(Text(f"{'':<8}→ {fault.hint}", style="dim"))


def _show_user(user_id: str, counted: str, erasures: "Sequence[Erasure]", *, holds: bool) -> None:
    status = "ok" if holds else "failed"
    say(Text.assemble((f"{status:<8}", COLOURS[status]), f"{user_id}: {counted}"))
    for erasure in erasures:
        time, what = erasure.finished_at or erasure.created_at, erasure.path or "in all documents"
        done = "erased" if erasure.finished_at else "being erased"
        by = f"{done} ({erasure.kind}) by {erasure.actor}"
        say(f"{'':<8}{time:%Y-%m-%d %H:%MZ}  {what}: {by}: {erasure.reason}")


def show_transfer(files: Sequence[Any], outcomes: Sequence[tuple[str, str]]) -> None:
    """Print the refused files of an import or export, then a count for each (outcome, label)."""
    shown = None
    for file in files:
        if file.outcome == "refused":
            say(
                Text.assemble(("refused ", COLOURS["failed"]), f"{file.file}: {in_shell_words(file.message)}")
            )
            # Files in a row often share one hint.
            if file.hint and file.hint != shown:
                say(Text(f"{'':<8}→ {in_shell_words(file.hint)}", style="dim"))
            shown = file.hint
    counts = Counter(file.outcome for file in files)
    say(", ".join(f"{counts[outcome]} {label}" for outcome, label in outcomes) + ".")


class DemoTerminal(DemoRecord):
    """Prints the demonstration, and collects nothing."""

    def show_scene(self, title: str) -> None:
        """Print a heading."""
        say(Text(f"\n{title}", style="bold cyan"))

    def show_step(self, text: str, *, held: bool) -> None:
        """Print a step, marked by whether it went as expected."""
        mark = ("  ✓ ", "green") if held else ("  ✗ ", "bold red")
        say(Text.assemble(mark, text))

    def show_text(self, text: str) -> None:
        """Print lines, coloured as in a diff."""
        for line in text.splitlines():
            say(Text(f"    {line}", style=DIFF_COLOURS.get(line[:1], "dim")))

    def show_rows(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print rows in columns."""
        show_table(headings, rows)
