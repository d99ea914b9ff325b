import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    PAIR,
    events_of,
    file_of,
    ok,
    plant,
    put,
    refused,
    result,
    rows,
)

SECTIONS = {
    CRITIC: "Summary summary, Concerns concerns, Needs needs, Strengths strengths, What Helps what_helps, "
    "Evidence evidence, Open Questions questions, Change Log change_log",
    PAIR: "Summary summary, Dynamics dynamics, Concerns concerns, Repair repair, Evidence evidence, "
    "Open Questions questions, Change Log change_log",
    OVERVIEW: "Summary summary, Facts facts, Preferences preferences, Life Goals life_goals, "
    "Projects projects, Open Loops open_loops, Relationships relationships, Health health, Work work, "
    "Personal Context personal_context, Change Log change_log",
    NOTES: "Summaries summaries, Inbox inbox",
    "users/ada/parts/critic/notes.md": "Summaries summaries, Inbox inbox",
    "users/ada/relationships/critic-and-child/notes.md": "Summaries summaries, Inbox inbox",
}


@pytest.mark.parametrize("path", SECTIONS)
def test_a_new_document_has_the_sections_of_its_kind_and_is_clean(ada: Session, path: str) -> None:
    plant(ada, path)
    listed = [f"{each['heading']} {each['anchor']}" for each in result(ada, "md.list_sections", path=path)]
    assert listed == [f"{each} v1" for each in SECTIONS[path].split(", ")]
    assert result(ada, "md.lint", path=path) == {"warnings": [], "blocked": False}


def test_a_new_document_says_whose_it_is(ada: Session) -> None:
    ok(ada, "md.plant", path=PAIR, title="The two", participants=["critic", "child"])
    identity = "---\nid: critic-and-child\nuser_id: ada\nschema: 1\nparticipants:\n- critic\n- child\n---\n"
    assert result(ada, "fs.read", path=PAIR).startswith(f"{identity}\n# The two\n")


def test_the_answer_is_the_new_hash(ada: Session) -> None:
    answer = result(ada, "md.plant", path=CRITIC)
    assert answer == {"newHash": result(ada, "fs.hash", path=CRITIC)}
    assert events_of(ada, CRITIC) == ["plant committed"]
    assert rows(ada, path=CRITIC)[0]["beforeHash"] is None


def test_an_existing_document_is_never_overwritten(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    before = file_of(garden, CRITIC).read_bytes()
    refused(ada, "md.plant", "already_exists", path=CRITIC, title="Another")
    refused(ada, "md.plant", "already_exists", path=CRITIC)
    assert file_of(garden, CRITIC).read_bytes() == before


def test_a_file_made_outside_is_never_overwritten(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"dear diary\n")
    refused(ada, "md.plant", "already_exists", path=NOTES)
    assert file_of(garden, NOTES).read_bytes() == b"dear diary\n"


def test_a_relationship_needs_participants(ada: Session) -> None:
    refused(ada, "md.plant", "invalid_input", path=PAIR)
    assert rows(ada) == []


def test_only_a_relationships_profile_takes_participants(ada: Session) -> None:
    refused(ada, "md.plant", "invalid_input", path=CRITIC, participants=["critic", "child"])


@pytest.mark.parametrize("title", ["# no", "a: b", "日記", '"quoted"', "- item", "*stars*"])
def test_any_line_may_be_a_title(ada: Session, title: str) -> None:
    ok(ada, "md.plant", path=NOTES, title=title)
    assert len(result(ada, "md.list_sections", path=NOTES)) == 2
    assert f"# {title}\n" in result(ada, "fs.read", path=NOTES)


def test_a_dry_run_plants_nothing(garden: Garden, ada: Session) -> None:
    envelope = ok(ada, "md.plant", path=NOTES, dryRun=True)
    assert "+## Inbox" in envelope["meta"]["diff"]
    assert not file_of(garden, "users/ada").exists()
    assert rows(ada) == []
