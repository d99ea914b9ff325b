"""The tools that mend a document after an edit from outside: `md.repair`, `md.restore`. For maintainers."""

from dataclasses import replace
from typing import Any

from pydantic import AwareDatetime, Field, model_validator

from garden.events.wire import Wire
from garden.grammar.edits import RepairDocument, RestoreText
from garden.tools.declaration import MAINTAINERS, Call, Edits, Tool, Traits
from garden.tools.edits import editing, intent_of
from garden.tools.places import document_to_edit
from garden.tools.wire import Line, WriteRequest
from garden.writing.documents import identity_by_path
from garden.writing.planner import Intent, Plan
from garden.writing.versions import check_version_is_whole, last_whole_version, resolve_version

_VERSION_MAX = 2**31 - 1
_REPAIRED = "Put back what tools missed."


class RepairRequest(WriteRequest):
    """Which document is to be repaired."""

    path: str = Field(description="The document.")


class RestoreRequest(WriteRequest):
    """Which version is to come back: one of the three."""

    path: str = Field(description="The document.")
    version: int | None = Field(None, ge=1, le=_VERSION_MAX, strict=True, description="The version's number.")
    at: AwareDatetime | None = Field(
        None, description="The version that stood at this time, as in 2026-11-18T08:25:00Z."
    )
    event: Line | None = Field(
        None, description="The version that this event left: its id, or the last six or more signs of it."
    )

    @model_validator(mode="after")
    def _one_of_three(self) -> "RestoreRequest":
        if sum(each is not None for each in (self.version, self.at, self.event)) != 1:
            raise ValueError("give one of version, at and event")
        return self


class Repair(Wire):
    """What the document hashes to now, and what was put back, from which whole version."""

    new_hash: str
    from_version: int
    mended: list[str]


class Restoration(Wire):
    """What the document hashes to now, and which version came back."""

    new_hash: str
    from_version: int


def _repair_intent(call: Call, request: RepairRequest) -> Intent:
    path = document_to_edit(call.caller, request.path)
    reader, identity = call.services.reader, identity_by_path(path)

    def against(newest: int) -> RepairDocument:
        version = last_whole_version(reader, path, newest)
        good = reader.text_at(path.user_id, path.text, version) if version else ""
        return RepairDocument(version, good, identity)

    intent = intent_of(
        call,
        "md.repair",
        request,
        RepairDocument(0, "", identity),
        "repair",
        request.rationale or _REPAIRED,
    )
    return replace(intent, under_lock=against)


def _repaired(plan: Plan) -> dict[str, Any]:
    return {**_recovered(plan), "mended": list(plan.applied.repairs)}


def _restore_intent(call: Call, request: RestoreRequest) -> Intent:
    path = document_to_edit(call.caller, request.path)
    reader = call.services.reader
    version = resolve_version(reader, path, version=request.version, at=request.at, event=request.event)
    check_version_is_whole(reader, path, version)
    edit = RestoreText(version, reader.text_at(path.user_id, path.text, version))
    why = request.rationale or f"Put version {version} back."
    return intent_of(call, "md.restore", request, edit, "restore", why)


def _recovered(plan: Plan) -> dict[str, Any]:
    edit = plan.intent.edit
    version = edit.version if isinstance(edit, RepairDocument | RestoreText) else 0
    return {"newHash": plan.after.document.hash, "fromVersion": version}


_REPAIR = Edits(_repair_intent, _repaired)
_RESTORE = Edits(_restore_intent, _recovered)

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "md.repair",
        "Repair a document",
        "Puts back the anchors and the identity that an edit from outside took away. For maintainers only.",
        "Every line of the person's text stays. The last whole version says what is missing: a comment "
        "goes back below its heading, a section of which nothing is left comes back empty, identity keys get "
        "their values back, and frontmatter that can't be read is replaced. What can't be told for certain "
        "is refused; md.restore puts a whole version back instead. A document that is whole stays unchanged.",
        RepairRequest,
        Repair,
        editing(_REPAIR),
        Traits(writes=True, replaces=True, roles=MAINTAINERS),
        {"path": "users/ada/parts/critic/profile.md", "rationale": "She had edited it on her phone."},
        edits=_REPAIR,
    ),
    Tool(
        "md.restore",
        "Restore a version",
        "Puts the text of an earlier version in a document's place, as a new version. For maintainers only.",
        "Give one of version, at and event. It works where the file is missing or damaged as well; an edit "
        "from outside is taken into the account first, so that nobody's text is lost. The Change Log keeps "
        "what was written in it since. Warnings name the anchors that go. A version that is itself damaged "
        "is refused.",
        RestoreRequest,
        Restoration,
        editing(_RESTORE),
        Traits(writes=True, replaces=True, roles=MAINTAINERS),
        {"path": "users/ada/parts/critic/profile.md", "version": 1, "rationale": "Too much was lost."},
        edits=_RESTORE,
    ),
)
