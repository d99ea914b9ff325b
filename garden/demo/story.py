"""The demonstration, scene by scene, with the garden of a fictional person."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.demo.record import DemoRecord
from garden.demo.throw_away import throw_away_home
from garden.events.reader import Query
from garden.history.verification import verify_user
from garden.home.folder import Home
from garden.home.settings import load_settings
from garden.home.setup import prepare_home
from garden.session import Session
from garden.transfer.imports import files_in, import_file

SAMPLES = Path(__file__).parents[1] / "sample_users"
USER = "tilda-quill"
PROFILE = f"users/{USER}/parts/the-inspector/profile.md"
NOTES = f"users/{USER}/notes.md"
_EVENTS_SHOWN = 8


class Stage:
    """Checks each step, shows it, and remembers whether all went as expected."""

    def __init__(self, output: DemoRecord) -> None:
        self.output = output
        self.all_held = True

    def expect(self, step: str, held: bool) -> None:
        """Show a step that must hold."""
        self.all_held = self.all_held and held
        self.output.show_step(step, held=held)

    def expect_ok(self, step: str, answer: Mapping[str, Any]) -> Any:
        """Expect success, and return the result."""
        self.expect(step if answer["ok"] else f"{step}: {answer['error']['message']}", bool(answer["ok"]))
        return answer.get("result")

    def expect_refusal(self, step: str, answer: Mapping[str, Any], code: str) -> None:
        """Expect a refusal with this code."""
        found = "was done" if answer["ok"] else answer["error"]["code"]
        self.expect(f"{step} → {found}", found == code)


def run_demo(output: DemoRecord) -> bool:
    """Run the demonstration; False if a step went wrong."""
    stage = Stage(output)
    with throw_away_home() as home:
        settings = load_settings(home.path).settings.model_copy(update={"database_url": None})
        stage.output.show_scene("A new home, with a Postgres of its own")
        started = time.perf_counter()
        ground = prepare_home(settings)
        took = time.perf_counter() - started
        stage.expect(f"home, database and {len(ground.applied)} migrations in {took:.1f} s", held=True)
        with Garden(settings, ground) as garden:
            _import(stage, garden)
            session = garden.session(USER, "companion", transaction_id="evening-talk")
            _update_a_section(stage, session)
            _add_evidence(stage, session)
            _capture_a_note(stage, session)
            _edit_from_outside(stage, session, home)
            _refusals(stage, session)
            _retry(stage, session)
            _show_events(stage, garden)
            _prove(stage, garden)
    stage.expect("the throw-away home and its server are gone", held=not home.path.exists())
    return stage.all_held


def _import(stage: Stage, garden: Garden) -> None:
    stage.output.show_scene("Import the gardens of two fictional people")
    done = [import_file(garden.services, SAMPLES, file, "operator") for file in files_in(SAMPLES)]
    refused = [each for each in done if each.outcome != "imported"]
    stage.expect(f"{len(done)} documents imported, each with an event", held=bool(done) and not refused)


def _update_a_section(stage: Stage, session: Session) -> None:
    stage.output.show_scene("She says something new: update a section of a profile")
    stage.expect_ok("fs.read the profile", session.call("fs.read", {"path": PROFILE}))
    sections = stage.expect_ok("md.list_sections", session.call("md.list_sections", {"path": PROFILE}))
    names = ", ".join(section["anchor"] for section in sections or ())
    stage.output.show_text(f"  {names}")
    change = {
        "path": PROFILE,
        "sectionAnchor": "concerns v1",
        "change": {"append": "- That one good evening was luck, and luck gets inspected too"},
        "rationale": "She named a new worry while talking about the harvest fair.",
        "toolCallId": "call-1",
    }
    preview = session.call("propose_change", {"tool": "md.patch_section", "args": change})
    diff = (stage.expect_ok("propose_change shows the change first", preview) or {}).get("diff", "")
    stage.output.show_text("\n".join(line for line in diff.splitlines() if line[:1] in "+-@"))
    stage.expect_ok(
        "md.patch_section writes the section and its Change Log line",
        session.call("md.patch_section", change),
    )
    copy = session.call("md.snapshot_history", {"path": PROFILE})
    stage.expect_ok("md.snapshot_history", copy)
    lint = stage.expect_ok("md.lint", session.call("md.lint", {"path": PROFILE}))
    stage.expect("  no finding blocks the next edit", held=bool(lint) and not lint["blocked"])
    claim = {
        "type": "profile_update",
        "op": "append_section",
        "filePath": PROFILE,
        "sectionAnchor": "concerns v1",
        "rationale": "It is the third worry of this kind since September.",
        "toolCallId": "call-1",
    }
    logged = session.call("events.log", claim)
    stage.expect_ok("events.log annotates the event of that write", logged)
    stage.expect("  and records no second event", held=bool(logged.get("meta", {}).get("annotated")))


def _add_evidence(stage: Stage, session: Session) -> None:
    stage.output.show_scene("Add evidence beyond the cap of seven items")
    item = {
        "path": PROFILE,
        "sectionAnchor": "evidence v1",
        "ops": "append",
        "items": ['"I counted the jars twice, and then the lids" (ev:s31-m07)'],
        "reason": "It shows the worry at work.",
    }
    stage.expect_refusal(
        "an eighth item without a reason", session.call("md.curate_list", item), "override_required"
    )
    item["overrideRationale"] = "It is the first one from a good day."
    answer = session.call("md.curate_list", item)
    stage.expect_ok("the same item with an overrideRationale", answer)


def _capture_a_note(stage: Stage, session: Session) -> None:
    stage.output.show_scene("Find a theme in the garden, and note it")
    search = {"root": f"users/{USER}", "pattern": "count(ed|s|ing)?", "ignoreCase": True, "maxMatches": 5}
    found = stage.expect_ok("fs.search finds it", session.call("fs.search", search)) or []
    for hit in found[:3]:
        stage.output.show_text(f"  {hit['path'].removeprefix('users/')}:{hit['line']}  {hit['match'][:80]}")
    note = {"path": NOTES, "text": "- 2026-11-18: counting comes up whenever something went well"}
    stage.expect_ok("fs.append adds it to the notes", session.call("fs.append", note))
    claim = {
        "type": "observation",
        "rationale": "Counting seems to be how she calms herself.",
        "filePath": NOTES,
    }
    stage.expect_ok("events.log records an observation", session.call("events.log", claim))


def _edit_from_outside(stage: Stage, session: Session, home: Home) -> None:
    stage.output.show_scene("She edits her notes in an editor")
    file = home.path / NOTES
    file.write_bytes(file.read_bytes() + b"\nI was here too. T.\n")
    answer = session.call("fs.append", {"path": NOTES, "text": "- 2026-11-18: she wrote in here herself"})
    stage.expect_ok("the next edit succeeds", answer)
    stage.expect("  it adopts her line as an event first", held="adoptedEventId" in answer.get("meta", {}))
    text = str(session.call("fs.read", {"path": NOTES}).get("result"))
    stage.expect(
        "  and both lines are there", held="I was here too" in text and "wrote in here herself" in text
    )


def _refusals(stage: Stage, session: Session) -> None:
    stage.output.show_scene("Try what every tool refuses")
    whole = str(session.call("fs.read", {"path": PROFILE})["result"])
    tries: tuple[tuple[str, str, dict[str, Any], str], ...] = (
        ("delete a document", "fs.delete", {"path": NOTES}, "delete_not_allowed"),
        (
            "write outside the garden",
            "fs.append",
            {"path": "users/../../etc/passwd", "text": "x"},
            "path_not_allowed",
        ),
        (
            "read another user's garden",
            "fs.read",
            {"path": f"users/{USER}-evil/notes.md"},
            "path_not_allowed",
        ),
        (
            "remove an anchor",
            "fs.write",
            {"path": PROFILE, "content": whole.replace("<!-- @anchor: needs v1 -->\n", "")},
            "anchor_changed",
        ),
        (
            "give a profile to another user",
            "fs.write",
            {"path": PROFILE, "content": whole.replace(f"user_id: {USER}", "user_id: another")},
            "identity_changed",
        ),
        (
            "forge a section inside another",
            "md.patch_section",
            {"path": PROFILE, "sectionAnchor": "summary v1", "change": {"replace": "Fine.\n\n## Concerns\n"}},
            "heading_in_section",
        ),
        (
            "rewrite the Change Log",
            "md.patch_section",
            {"path": PROFILE, "sectionAnchor": "change_log v1", "change": {"replace": "- nothing happened"}},
            "permission_denied",
        ),
        ("move a document, as an agent", "fs.move", {"path": NOTES, "newPath": PROFILE}, "permission_denied"),
    )
    for step, tool, args, code in tries:
        stage.expect_refusal(step, session.call(tool, args), code)
    stage.expect(
        "the profile is as it was", held=session.call("fs.read", {"path": PROFILE})["result"] == whole
    )


def _retry(stage: Stage, session: Session) -> None:
    stage.output.show_scene("The connection broke, and the agent retries")
    note = {"path": NOTES, "text": "- 2026-11-18: slept well", "idempotencyKey": "evening-4711"}
    first = session.call("fs.append", note)
    again = session.call("fs.append", note)
    stage.expect_ok("fs.append with an idempotency key", first)
    stage.expect("  a retry gets the same answer", held=first.get("result") == again.get("result"))
    stage.expect("  marked as replayed", held=bool(again.get("meta", {}).get("replayed")))
    text = str(session.call("fs.read", {"path": NOTES})["result"])
    stage.expect("  and the notes have one line", held=text.count("slept well") == 1)


def _show_events(stage: Stage, garden: Garden) -> None:
    stage.output.show_scene("Review the events, newest first")
    page = garden.services.reader.query(USER, Query(limit=_EVENTS_SHOWN))
    rows = [
        (
            f"{event.created_at:%H:%M:%S}",
            event.caller.actor,
            event.statement.op,
            (event.statement.path or "").removeprefix(f"users/{USER}/"),
            event.statement.section_anchor or "",
            event.status.value,
        )
        for event in page.events
    ]
    stage.output.show_rows(("time", "actor", "op", "document", "section", "status"), rows)
    open_ones = [event for event in page.events if event.status.value in {"pending", "written"}]
    stage.expect("every change is settled", held=not open_ones)


def _prove(stage: Stage, garden: Garden) -> None:
    stage.output.show_scene("Verify every file and every seal")
    services = garden.services
    for user in services.files.users():
        documents = list(services.files.documents(user))
        report = verify_user(services, user.user_id)
        step = f"{user.user_id}: {len(documents)} files are, byte for byte, what their events say"
        stage.expect(step, held=bool(documents) and report.holds)
        stage.expect(f"{user.user_id}: the seals of {report.events} events verify", held=report.holds)
