"""The story that the demonstration tells, scene by scene, with the garden of a fictional person."""

import time
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.demo.stage import Audience, Stage
from garden.demo.throw_away import throw_away_home
from garden.events.reader import Query
from garden.events.verifier import Verifier
from garden.home.folder import Home
from garden.home.keys import KeySource
from garden.home.settings import load_settings
from garden.home.setup import prepare_home
from garden.session import Session
from garden.transfer.imports import files_in, import_file
from garden.upkeep.verification import files_not_as_recorded

SAMPLES = Path(__file__).parents[1] / "sample_users"
USER = "tilda-quill"
PROFILE = f"users/{USER}/parts/the-inspector/profile.md"
NOTES = f"users/{USER}/notes.md"
_EVENTS_SHOWN = 8


def tell(audience: Audience) -> bool:
    """Live through the demonstration; False if anything was not as told."""
    stage = Stage(audience)
    with throw_away_home() as home:
        settings = load_settings(home.path).settings.model_copy(update={"database_url": None})
        stage.scene("A home from nothing, with a Postgres of its own")
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
    stage.scene("The gardens of two fictional people move in")
    done = [import_file(garden.services, SAMPLES, file, "operator") for file in files_in(SAMPLES)]
    refused = [each for each in done if each.outcome != "imported"]
    stage.expect(f"{len(done)} documents imported, each with an event", held=bool(done) and not refused)


def _update_a_section(stage: Stage, session: Session) -> None:
    stage.scene("She says something new: a section of a profile is brought up to date")
    stage.accepted("fs.read the profile", session.call("fs.read", {"path": PROFILE}))
    sections = stage.accepted("md.list_sections", session.call("md.list_sections", {"path": PROFILE}))
    names = ", ".join(section["anchor"] for section in sections or ())
    stage.audience.text(f"  {names}")
    change = {
        "path": PROFILE,
        "sectionAnchor": "concerns v1",
        "change": {"append": "- That one good evening was luck, and luck gets inspected too"},
        "rationale": "She named a new worry while talking about the harvest fair.",
        "toolCallId": "call-1",
    }
    preview = session.call("propose_change", {"tool": "md.patch_section", "args": change})
    diff = (stage.accepted("propose_change shows what would happen", preview) or {}).get("diff", "")
    stage.audience.text("\n".join(line for line in diff.splitlines() if line[:1] in "+-@"))
    stage.accepted(
        "md.patch_section, with its Change Log line in the same write",
        session.call("md.patch_section", change),
    )
    copy = session.call("md.snapshot_history", {"path": PROFILE})
    stage.accepted("md.snapshot_history", copy)
    lint = stage.accepted("md.lint", session.call("md.lint", {"path": PROFILE}))
    stage.expect("  nothing in it stops the next edit", held=bool(lint) and not lint["blocked"])
    said = {
        "type": "profile_update",
        "op": "append_section",
        "filePath": PROFILE,
        "sectionAnchor": "concerns v1",
        "rationale": "It is the third worry of this kind since September.",
        "toolCallId": "call-1",
    }
    logged = session.call("events.log", said)
    stage.accepted("events.log adds to the event of that very write", logged)
    stage.expect("  and makes no second one of it", held=bool(logged.get("meta", {}).get("annotated")))


def _add_evidence(stage: Stage, session: Session) -> None:
    stage.scene("Evidence for it, where seven items are enough")
    item = {
        "path": PROFILE,
        "sectionAnchor": "evidence v1",
        "ops": "append",
        "items": ['"I counted the jars twice, and then the lids" (ev:s31-m07)'],
        "reason": "It shows the worry at work.",
    }
    stage.refused(
        "an eighth item, without a word why", session.call("md.curate_list", item), "override_required"
    )
    item["overrideRationale"] = "It is the first one from a good day."
    answer = session.call("md.curate_list", item)
    stage.accepted("the same with an overrideRationale", answer)


def _capture_a_note(stage: Stage, session: Session) -> None:
    stage.scene("A theme runs through the garden, and is noted")
    search = {"root": f"users/{USER}", "pattern": "count(ed|s|ing)?", "ignoreCase": True, "maxMatches": 5}
    found = stage.accepted("fs.search for it", session.call("fs.search", search)) or []
    for hit in found[:3]:
        stage.audience.text(f"  {hit['path'].removeprefix('users/')}:{hit['line']}  {hit['match'][:80]}")
    note = {"path": NOTES, "text": "- 2026-11-18: counting comes up whenever something went well"}
    stage.accepted("fs.append to the notes", session.call("fs.append", note))
    said = {
        "type": "observation",
        "rationale": "Counting seems to be how she calms herself.",
        "filePath": NOTES,
    }
    stage.accepted("events.log an observation", session.call("events.log", said))


def _edit_from_outside(stage: Stage, session: Session, home: Home) -> None:
    stage.scene("She opens her notes in an editor and writes a line of her own")
    file = home.path / NOTES
    file.write_bytes(file.read_bytes() + b"\nI was here too. T.\n")
    answer = session.call("fs.append", {"path": NOTES, "text": "- 2026-11-18: she wrote in here herself"})
    stage.accepted("the next edit finds her line", answer)
    stage.expect("  takes it into the account first", held="adoptedEventId" in answer.get("meta", {}))
    text = str(session.call("fs.read", {"path": NOTES}).get("result"))
    stage.expect("  and both are there", held="I was here too" in text and "wrote in here herself" in text)


def _refusals(stage: Stage, session: Session) -> None:
    stage.scene("What no tool does, by any trick")
    whole = str(session.call("fs.read", {"path": PROFILE})["result"])
    tries: tuple[tuple[str, str, dict[str, Any], str], ...] = (
        ("delete a document", "fs.delete", {"path": NOTES}, "delete_not_allowed"),
        (
            "write beyond the garden",
            "fs.append",
            {"path": "users/../../etc/passwd", "text": "x"},
            "path_not_allowed",
        ),
        ("read another's garden", "fs.read", {"path": f"users/{USER}-evil/notes.md"}, "path_not_allowed"),
        (
            "take an anchor out",
            "fs.write",
            {"path": PROFILE, "content": whole.replace("<!-- @anchor: needs v1 -->\n", "")},
            "anchor_changed",
        ),
        (
            "change whose profile it is",
            "fs.write",
            {"path": PROFILE, "content": whole.replace(f"user_id: {USER}", "user_id: somebody")},
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
    for told, tool, args, code in tries:
        stage.refused(told, session.call(tool, args), code)
    stage.expect(
        "the profile is as it was", held=session.call("fs.read", {"path": PROFILE})["result"] == whole
    )


def _retry(stage: Stage, session: Session) -> None:
    stage.scene("The connection broke, and the agent asks again")
    note = {"path": NOTES, "text": "- 2026-11-18: slept well", "idempotencyKey": "evening-4711"}
    first = session.call("fs.append", note)
    again = session.call("fs.append", note)
    stage.accepted("fs.append under a key of its own", first)
    stage.expect("  the same answer the second time", held=first.get("result") == again.get("result"))
    stage.expect("  said to be from before", held=bool(again.get("meta", {}).get("replayed")))
    text = str(session.call("fs.read", {"path": NOTES})["result"])
    stage.expect("  and one line in the notes", held=text.count("slept well") == 1)


def _show_events(stage: Stage, garden: Garden) -> None:
    stage.scene("What the reviewer sees, newest first")
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
    stage.audience.table(("time", "actor", "op", "document", "section", "status"), rows)
    open_ones = [event for event in page.events if event.status.value in {"pending", "written"}]
    stage.expect("every change has come to its end", held=not open_ones)


def _prove(stage: Stage, garden: Garden) -> None:
    stage.scene("The proof")
    services = garden.services
    verifier = Verifier(services.reader, KeySource(garden.settings, garden.home))
    for user in services.files.users():
        documents = list(services.files.documents(user))
        wrong = list(files_not_as_recorded(services.files, services.reader, user.user_id))
        told = f"{user.user_id}: {len(documents)} files are, byte for byte, what their events say"
        stage.expect(told, held=bool(documents) and not wrong)
        verdict = verifier.check_user(user.user_id)
        stage.expect(f"{user.user_id}: the seals of {verdict.events} events hold", held=verdict.holds)
