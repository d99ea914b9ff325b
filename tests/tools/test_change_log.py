"""The Change Log of a profile: forged lines are refused, and it never fills the file."""

from typing import Any

import pytest

from garden.application import Garden
from garden.grammar.change_log import log_entry
from garden.grammar.log_roll import roll_line
from garden.session import Session
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    edit_outside,
    file_of,
    ok,
    plant,
    refused,
    result,
    rows,
)

UNKNOWN = "01a9b0c1-0000-7000-8000-000000000000"


@pytest.fixture
def edited(ada: Session) -> Session:
    """A session with an edited profile and notes with an entry."""
    plant(ada, CRITIC, NOTES)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs", change={"replace": "- Rest"})
    ok(ada, "fs.append", path=NOTES, text="Slept well.")
    return ada


def event(session: Session, path: str) -> tuple[str, str]:
    """The newest event of a document: its id and its time."""
    (row,) = rows(session, path=path, limit=1)
    return row["eventId"], row["createdAt"][:16].replace("T", " ") + "Z"


def additions(session: Session, path: str, line: str) -> list[tuple[str, dict[str, Any]]]:
    """Every way to add a line to a Change Log."""
    text: str = result(session, "fs.read", path=path)
    last = text.splitlines()[-1]
    diff = f"@@ -{len(text.splitlines())},1 +{len(text.splitlines())},2 @@\n {last}\n+{line}\n"
    return [
        ("fs.patch", {"diffText": diff}),
        ("fs.edit", {"find": last, "replace": f"{last}\n{line}"}),
        ("md.patch_section", {"sectionAnchor": "Change Log", "change": {"append": line}}),
        ("md.curate_list", {"sectionAnchor": "change_log", "ops": "append", "items": [line], "reason": "x"}),
        ("fs.write", {"content": f"{text}{line}\n"}),
    ]


def test_a_line_that_names_an_event_that_did_not_happen_is_refused_by_every_tool(edited: Session) -> None:
    event_id, time = event(edited, CRITIC)
    notes_id, notes_time = event(edited, NOTES)
    forged = [
        (time, UNKNOWN), (time, "none"), (time, ""), (time, event_id[-6:]),
        (notes_time, notes_id), ("2020-01-01 00:00Z", event_id), ("once", event_id),
    ]  # fmt: skip
    before = result(edited, "fs.read", path=CRITIC)
    for at, named in forged:
        line = log_entry(at, "needs v1", "replace_section", "She agreed.", named)
        for tool, args in additions(edited, CRITIC, line):
            error = refused(edited, tool, "invalid_input", path=CRITIC, **args)
            assert "Change Log" in error["message"]
            refused(edited, "propose_change", "invalid_input", tool=tool, args={"path": CRITIC, **args})
    assert result(edited, "fs.read", path=CRITIC) == before


@pytest.mark.parametrize(
    "mark", ["evt&#58;", "e**v**t:", "evt\\:", "ev\u200bt:", "evt\uff1a", "ev<b></b>t:", "EVT: "]
)
def test_a_line_that_only_reads_as_if_it_named_an_event_is_refused_too(edited: Session, mark: str) -> None:
    line = f"- 2026-11-18 08:25Z · needs v1 · replace_section · She agreed. ({mark}{UNKNOWN})"
    for tool, args in additions(edited, CRITIC, line)[:2]:
        refused(edited, tool, "invalid_input", path=CRITIC, **args)


def test_a_line_may_name_an_event_of_its_document_with_its_time(edited: Session) -> None:
    event_id, time = event(edited, CRITIC)
    for number in range(4):
        line = log_entry(time, "needs v1", "replace_section", f"Said {number} times.", event_id)
        tool, args = additions(edited, CRITIC, line)[number]
        ok(edited, tool, path=CRITIC, **args)
        assert result(edited, "fs.read", path=CRITIC).splitlines()[-1] == line


def test_a_new_document_does_not_begin_with_a_forged_line(edited: Session) -> None:
    ok(edited, "md.plant", path=OVERVIEW)
    text = result(edited, "fs.read", path=CRITIC).replace("id: critic", "id: child")
    refused(edited, "fs.write", "invalid_input", path=CRITIC.replace("critic", "child"), content=text)


def test_a_person_may_write_what_they_like_and_agents_go_on(garden: Garden, edited: Session) -> None:
    edit_outside(garden, CRITIC, "- 2", f"- mine (evt:{UNKNOWN})\n- 2")
    ok(edited, "md.patch_section", path=CRITIC, sectionAnchor="needs", change={"append": "- Sun"})
    assert UNKNOWN in result(edited, "fs.read", path=CRITIC)


def test_a_log_rolls_with_the_write_and_its_lines_stay_in_the_event_and_in_the_history(
    garden: Garden, ada: Session
) -> None:
    plant(ada, CRITIC)
    file = file_of(garden, CRITIC)
    file.write_text(file.read_text() + "\n" + "".join(f"- line {number};\n" for number in range(200)))
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs", change={"replace": "- Rest"})
    text = file.read_text()
    assert "\n\n" + roll_line(100) + "\n- line 100;\n" in text
    assert "needs v1 · replace_section" in text.splitlines()[-1]
    removed = str(rows(ada, path=CRITIC, limit=1))
    copies = [each.read_text() for each in (garden.home.path / "history").rglob("*.md")]
    for number in range(100):
        assert f"line {number};" in removed
        assert any(f"- line {number};" in copy for copy in copies)
    # Those of the person's own lines; the line about the earlier ones has no finding.
    assert len(result(ada, "md.lint", path=CRITIC)["warnings"]) == 100
