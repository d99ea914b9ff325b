"""The sample gardens after an evening: what agents, a person and the disk did, made with the real tools."""

from dataclasses import dataclass
from typing import Any

from garden.application import Garden
from garden.demo.story import SAMPLES
from garden.session import Session
from garden.transfer.imports import files_in, import_file
from tests.support.gardens import edit_outside, file_of

USER, OTHER = "tilda-quill", "leander-moss"
NOTES = f"users/{USER}/notes.md"
PROFILE = f"users/{USER}/parts/the-inspector/profile.md"
MISSING = f"users/{USER}/parts/the-quay-girl/notes.md"
LAMPLIGHTER = f"users/{USER}/parts/the-lamplighter/profile.md"


@dataclass(frozen=True)
class Story:
    """The names that addresses of the console hold."""

    user_id: str
    other_id: str
    document: str
    event: str
    approval: str
    erasure: str
    missing: str

    def address(self, pattern: str) -> str:
        """An address with the names put in."""
        return pattern.format(**vars(self))


def tell(garden: Garden) -> Story:
    """Import the sample gardens, and let an evening pass in one of them."""
    for file in files_in(SAMPLES):
        assert import_file(garden.services, SAMPLES, file, "operator").outcome == "imported"
    event = _talk(garden.session(USER, "companion", transaction_id="evening-talk"))
    edit_outside(garden, NOTES, "LIBRARY LAMP, which", "LIBRARY LAMP by now, which")
    _tidy(garden.session(USER, "gardener"))
    owner = garden.session(USER, "owner", role="maintainer")
    erased = _ok(owner, "garden.erase", text="Comma brought a wren", reason="It was told in confidence.")
    # An erasure takes what was given of its document as well, and ends every open approval.
    _ok(garden.session(USER, "companion"), "memory.context", query="the night before", tokens=2000)
    approval = _ask(garden.session(USER, "letter-writer", policy=_asking()))
    file_of(garden, MISSING).unlink()
    erasure = erased["result"]["tombstone"]
    return Story(USER, OTHER, PROFILE, event, approval, erasure, MISSING)


def _talk(companion: Session) -> str:
    changed = _ok(
        companion,
        "md.patch_section",
        path=PROFILE,
        sectionAnchor="concerns v1",
        change={"append": "- That one good evening was luck, and luck gets inspected too"},
        rationale="She named a new worry while talking about the harvest fair.",
        toolCallId="call-1",
    )
    _ok(companion, "md.snapshot_history", path=PROFILE)
    _ok(companion, "fs.append", path=NOTES, text="- 2026-11-18: counting comes up when something went well")
    _ok(
        companion,
        "events.log",
        type="observation",
        rationale="Counting seems to be how she calms herself.",
        filePath=NOTES,
    )
    return str(changed["meta"]["eventId"])


def _tidy(gardener: Session) -> None:
    _ok(
        gardener,
        "md.curate_list",
        path=LAMPLIGHTER,
        sectionAnchor="what_helps v1",
        ops="append",
        items=["Soup at seven, before the first letter"],
        reason="She said that it worked three evenings in a row.",
    )
    _ok(gardener, "memory.store", content="Osk comes on the second ferry of April", category="fact")


def _asking() -> Any:
    return {"permissions": {"fs.append": "ask", "md.patch_section": "ask"}}


def _ask(writer: Session) -> str:
    call = {"path": NOTES, "text": "- 2026-11-19: a first sentence for Osk: the kettle is on in April"}
    refused = writer.call("fs.append", call)
    assert refused["error"]["code"] == "permission_required", refused
    return str(refused["error"]["details"]["approvalId"])


def _ok(session: Session, tool: str, /, **args: Any) -> dict[str, Any]:
    envelope = session.call(tool, args)
    assert envelope["ok"], envelope
    return envelope
