"""Times, event ids and sections are read alike by every tool and every command that takes them."""

from typing import Any

import pytest

from garden.application import Garden
from garden.session import Session
from garden.tools.registry import REGISTRY
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, ok, plant
from tests.surfaces.cli.conftest import Command

TIMES = [
    "{now}", "2026-11-01", "2026-11-01 08:25", "2026-11-01T08:25:00+01:00", "Yesterday", "today", "3d",
    "3 weeks ago", " an  Hour ago ",
]  # fmt: skip
EVENTS = ["{event}", "{event:.0}{short}", "{shorter}", "{upper}", "evt:{event}"]
SECTIONS = [
    "questions v1",
    "questions",
    "Open Questions",
    "QUESTIONS V1",
    " questions  v1 ",
    "open questions",
]

# Each field of a sort, with the others that its tool needs. A test looks for fields left out here.
TIME_FIELDS: dict[str, dict[str, Any]] = {
    "events.query since": {}, "events.query until": {}, "history.log from": {}, "history.log to": {},
    "history.blame at": {"path": CRITIC}, "history.diff from": {"path": CRITIC},
    "history.diff to": {"path": CRITIC, "from": "1"}, "history.show at": {"path": CRITIC},
    "md.restore at": {"path": CRITIC, "dryRun": True}, "memory.list from": {}, "memory.list to": {},
    "memory.list asOf": {}, "memory.recall from": {"query": "no"}, "memory.recall to": {"query": "no"},
    "memory.recall asOf": {"query": "no"},
}  # fmt: skip
EVENT_FIELDS: dict[str, dict[str, Any]] = {
    "events.query eventId": {}, "history.blame at": {"path": CRITIC}, "history.diff from": {"path": CRITIC},
    "history.diff to": {"path": CRITIC, "from": "1"}, "history.show at": {"path": CRITIC},
    "md.restore event": {"path": CRITIC, "dryRun": True}, "md.undo event": {"dryRun": True},
}  # fmt: skip
SECTION_FIELDS: dict[str, dict[str, Any]] = {
    "events.query sectionAnchor": {"path": CRITIC}, "events.log sectionAnchor": {
        "type": "observation", "rationale": "So.", "filePath": CRITIC},
    "fs.hash sectionAnchor": {"path": CRITIC}, "history.blame anchor": {"path": CRITIC},
    "history.diff anchor": {"path": CRITIC, "from": "1"}, "history.log anchor": {"path": CRITIC},
    "history.show anchor": {"path": CRITIC, "at": "head"},
    "md.curate_list sectionAnchor": {
        "path": CRITIC, "op": "append", "item": "x", "reason": "So.", "dryRun": True},
    "md.patch_section sectionAnchor": {"path": CRITIC, "change": {"append": "x"}, "dryRun": True},
}  # fmt: skip
# It takes sections of the overview alone, and has a test of its own.
ELSEWHERE = {"memory.context sections"}


@pytest.fixture
def ids(garden: Garden) -> tuple[Session, dict[str, str]]:
    """A maintainer's session in a garden with a profile, and the forms of the id of its newest event."""
    session = garden.session("ada", "companion", role="maintainer")
    plant(session, OVERVIEW, NOTES, CRITIC)
    worry = {"replace": "- Says yes before looking"}
    done = ok(session, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=worry)
    event = done["meta"]["eventId"]
    (row,) = ok(session, "events.query", eventId=event)["result"]["rows"]
    known = {"event": event, "short": event[-8:], "shorter": event[-6:], "upper": event.upper()}
    return session, {**known, "now": row["committedAt"]}


def formed(form: str, known: dict[str, str]) -> str:
    return form.replace("{event:.0}", "").format(**known)


@pytest.mark.parametrize(
    ("fields", "forms"),
    [(TIME_FIELDS, TIMES), (EVENT_FIELDS, EVENTS), (SECTION_FIELDS, SECTIONS)],
    ids=["times", "events", "sections"],
)
def test_every_tool_reads_every_form(
    ids: tuple[Session, dict[str, str]], fields: dict[str, dict[str, Any]], forms: list[str]
) -> None:
    session, known = ids
    misread = []
    for field, others in fields.items():
        tool, name = field.split()
        for form in forms:
            envelope = session.call(tool, {**others, name: formed(form, known)})
            # A version of that time may not exist; its name was read then.
            if not envelope["ok"] and "from before that time" not in envelope["error"]["message"]:
                misread.append((field, form, envelope["error"]["message"]))
    assert not misread, "\n".join(map(str, misread))


def test_the_block_for_a_prompt_reads_every_form_of_a_section(ids: tuple[Session, dict[str, str]]) -> None:
    session, _ = ids
    ok(session, "memory.store", content="Wants to sail.", category="life-goal")
    for form in ("life_goals v1", "life_goals", "Life Goals", "LIFE_GOALS V1", " life_goals  v1 "):
        items = ok(session, "memory.context", tokens=500, sections=[form])["result"]["items"]
        assert [each["anchor"] for each in items] == ["life_goals v1"], form


def test_the_matrix_has_every_field_of_every_tool() -> None:
    names = {
        "since",
        "until",
        "from",
        "to",
        "at",
        "asOf",
        "event",
        "eventId",
        "anchor",
        "sectionAnchor",
        "sections",
    }
    fields = {
        f"{tool.name} {name}"
        for tool in REGISTRY.values()
        for name in tool.request_schema["properties"]
        if name in names
    }
    assert fields - ELSEWHERE == TIME_FIELDS.keys() | EVENT_FIELDS.keys() | SECTION_FIELDS.keys()


TIME_WORDS = [
    "events --since", "events --from", "events --until", "events --to", "log --since", "log --from",
    "log --until", "log --to", "memory list --from", "memory list --since", "memory list --to",
    "memory list --until",
    "memory list --as-of", "recall no --from", "recall no --to", "recall no --as-of", "cat PATH --at",
    "restore PATH --dry-run --at", "show PATH", "diff PATH", "blame PATH --at",
]  # fmt: skip
EVENT_WORDS = [
    "event", "undo --dry-run", "show", "prove --json", "restore PATH --dry-run --event", "show PATH",
    "diff PATH", "blame PATH --at", "cat PATH --at",
]  # fmt: skip
SECTION_WORDS = [
    "cat PATH --section", "log PATH --section", "show PATH head --section", "diff PATH 1 --section",
    "blame PATH --section", "events PATH --section", "patch PATH --dry-run --append x",
]  # fmt: skip


@pytest.mark.parametrize(
    ("places", "forms"),
    [(TIME_WORDS, TIMES), (EVENT_WORDS, EVENTS), (SECTION_WORDS, SECTIONS)],
    ids=["times", "events", "sections"],
)
def test_every_command_reads_every_form(
    ids: tuple[Session, dict[str, str]], run: Command, folder: Any, monkeypatch: pytest.MonkeyPatch,
    places: list[str], forms: list[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    misread = []
    for place in places:
        words = place.replace("PATH", "parts/critic/profile.md").split()
        for form in forms:
            ran = run(*words, formed(form, ids[1]), GARDEN_USER="ada")
            if (
                ran.code
                and "before that time" not in ran.err
                and not place.startswith(("memory list", "recall"))
            ):
                misread.append((place, form, ran.code, ran.err))
    assert not misread, "\n".join(map(str, misread))


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("events --since", "--since"), ("log --until", "--until"), ("memory list --from", "--from"),
        ("memory list --as-of", "--as-of"), ("memory list --limit", "--limit"),
        ("restore notes.md --at", "--at"), ("memory store x --period", "--period"),
        ("token create --user ada --role agent --expires", "--expires"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("ids")
def test_a_refusal_names_the_option_that_was_typed(run: Command, words: str, option: str) -> None:
    ran = run(*words.split(), "nonsense", GARDEN_USER="ada")
    assert ran.code in {1, 2}
    assert f"{option}" in ran.err.split("hint:")[0]
