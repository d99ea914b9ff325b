"""`md.fix`: the mechanical findings of a document, and nothing else."""

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import (
    CRITIC,
    NOTES,
    edit_outside,
    events_of,
    file_of,
    ok,
    plant,
    refused,
    result,
    rows,
)

MESS = [
    ("## Needs\n", "## needs\n"),
    ("# Part\n", "# Part  \n\n\n\n"),
    ("needs v1 -->\n", "needs v1 -->\n\n- early\n- late  \n\n```\ncode  \n```\n"),
]


@pytest.fixture
def messy(garden: Garden, ada: Session) -> Session:
    plant(ada, CRITIC)
    for old, new in MESS:
        edit_outside(garden, CRITIC, old, new)
    return ada


def test_canonical_headings_and_form_are_restored_and_no_word_changes(garden: Garden, messy: Session) -> None:
    before = file_of(garden, CRITIC).read_text()
    envelope = ok(messy, "md.fix", path=CRITIC)
    text = file_of(garden, CRITIC).read_text()
    rules = {each.split("(")[-1].split()[0] for each in envelope["result"]["fixed"]}
    assert {"MG401", "MG603"} <= rules
    assert "## Needs\n<!-- @anchor: needs v1 -->\n\n- early" in text
    assert "# Part\n\n##" in text
    assert "```\ncode  \n```\n" in text
    log = text.index("- 20")
    assert text[:log].split() == before.replace("## needs", "## Needs").split()
    assert text[log:].count("\n") == 1
    assert "· document · fix · " in text[log:]
    assert envelope["result"]["newHash"] == result(messy, "fs.hash", path=CRITIC)
    assert (rows(messy)[0]["op"], rows(messy)[0]["tool"]) == ("fix", "md.fix")
    assert result(messy, "md.lint", path=CRITIC)["warnings"] == []


def test_a_preview_shows_the_fixes_and_makes_none(garden: Garden, messy: Session) -> None:
    before = file_of(garden, CRITIC).read_bytes()
    proposal = result(messy, "propose_change", tool="md.fix", args={"path": CRITIC})
    dry = ok(messy, "md.fix", path=CRITIC, dryRun=True)
    assert "\n+## Needs\n" in proposal["diff"]
    assert "\n+## Needs\n" in dry["meta"]["diff"]
    assert file_of(garden, CRITIC).read_bytes() == before
    assert dry["result"]["fixed"] == ok(messy, "md.fix", path=CRITIC)["result"]["fixed"]


def test_a_clean_document_stays_unchanged_and_a_mess_made_again_is_fixed_again(
    garden: Garden, ada: Session
) -> None:
    plant(ada, NOTES)
    for _ in range(2):
        edit_outside(garden, NOTES, "# Notes\n", "# Notes  \n")
        assert len(result(ada, "md.fix", path=NOTES)["fixed"]) == 1
    envelope = ok(ada, "md.fix", path=NOTES)
    assert envelope["meta"]["unchanged"]
    assert envelope["result"]["fixed"] == []
    assert events_of(ada, NOTES)[-1] == "fix committed"


def test_other_findings_and_damage_are_left_alone(garden: Garden, ada: Session) -> None:
    refused(ada, "md.fix", "not_found", path=CRITIC)
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "## Needs", "## Concerns\n\nLoose.\n\n## Needs")
    assert ok(ada, "md.fix", path=CRITIC)["meta"]["unchanged"]
    refused(ada, "md.fix", "precondition_failed", path=CRITIC, ifMatch="sha256:" + "0" * 64)
    edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
    refused(ada, "md.fix", "document_damaged", path=CRITIC)
