import re

import pytest

from garden.application import Garden
from garden.events.seals import line_seal
from garden.grammar.canonical import canonical, content_hash
from garden.home.keys import KeySource
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

HEAD = "---\nid: ada-notes\nuser_id: ada\nschema: 1\n---\n\n# N\n\n"
INBOX = "## Inbox\n<!-- @anchor: inbox v1 -->\n\n"
REST = "## Summaries\n<!-- @anchor: summaries v1 -->\n"


def _log_of(session: Session, path: str) -> list[str]:
    text = result(session, "fs.read", path=path).replace("\r\n", "\n")
    return [line for line in text.partition("## Change Log")[2].splitlines() if line.startswith("- ")]


def test_a_section_is_replaced_and_nothing_else(ada: Session) -> None:
    plant(ada, NOTES)
    before = result(ada, "fs.read", path=NOTES)
    ok(ada, "md.patch_section", path=NOTES, sectionAnchor="inbox v1", change={"replace": "Slept well."})
    after = result(ada, "fs.read", path=NOTES)
    assert after == before.replace("inbox v1 -->\n", "inbox v1 -->\n\nSlept well.\n")


def test_a_section_is_appended_to(ada: Session) -> None:
    plant(ada, NOTES)
    for words in ("One.", "Two."):
        ok(ada, "md.patch_section", path=NOTES, sectionAnchor="inbox v1", change={"append": words})
    assert "inbox v1 -->\n\nOne.\n\nTwo.\n" in result(ada, "fs.read", path=NOTES)


def test_the_answer_is_the_sections_hashes_before_and_after(ada: Session) -> None:
    plant(ada, CRITIC)
    before = result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1")
    answer = result(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"}
    )
    after = result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1")
    assert answer == {"beforeHash": before, "afterHash": after}
    assert before != after


@pytest.mark.parametrize("name", ["concerns v1", "concerns"])
def test_a_section_goes_by_its_anchor_or_by_the_anchors_id(ada: Session, name: str) -> None:
    plant(ada, CRITIC)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor=name, change={"replace": "- Rest"})
    assert rows(ada, path=CRITIC)[0]["sectionAnchor"] == "concerns v1"


@pytest.mark.parametrize("change", [{}, {"replace": "a", "append": "b"}, {"remove": True}, "a"])
def test_a_change_is_either_a_replacement_or_an_addition(ada: Session, change: object) -> None:
    plant(ada, CRITIC)
    refused(ada, "md.patch_section", "invalid_input", path=CRITIC, sectionAnchor="needs v1", change=change)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("# One", "heading_in_section"),
        ("one\n\n## Two", "heading_in_section"),
        ("Two\n---", "heading_in_section"),
        ("<!-- @anchor: mine v1 -->", "anchor_in_text"),
    ],
)
@pytest.mark.parametrize("how", ["replace", "append"])
def test_text_that_would_begin_a_section_is_refused(ada: Session, text: str, code: str, how: str) -> None:
    plant(ada, NOTES)
    error = refused(ada, "md.patch_section", code, path=NOTES, sectionAnchor="inbox v1", change={how: text})
    assert error["hint"]
    assert events_of(ada, NOTES) == ["plant committed"]


def test_a_heading_in_a_fence_is_text(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "md.patch_section", path=NOTES, sectionAnchor="inbox v1", change={"replace": "```\n## No\n```"})
    assert len(result(ada, "md.list_sections", path=NOTES)) == 2


def test_a_missing_section_is_never_appended(ada: Session) -> None:
    plant(ada, NOTES)
    error = refused(
        ada, "md.patch_section", "anchor_not_found", path=NOTES, sectionAnchor="plans", change={"append": "a"}
    )
    assert "inbox v1" in str(error["details"])
    assert events_of(ada, NOTES) == ["plant committed"]


def test_a_name_that_two_sections_bear_is_refused(garden: Garden, ada: Session) -> None:
    text = HEAD + "## A\n<!-- @anchor: a v1 -->\n\n## B\n<!-- @anchor: a v2 -->\n"
    put(garden, NOTES, text.encode())
    error = refused(
        ada, "md.patch_section", "anchor_ambiguous", path=NOTES, sectionAnchor="a", change={"append": "x"}
    )
    assert "a v2" in str(error["details"])
    ok(ada, "md.patch_section", path=NOTES, sectionAnchor="a v2", change={"append": "x"})


def test_the_sections_hash_is_taken_as_if_match(ada: Session) -> None:
    plant(ada, CRITIC)
    known = result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1")
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change={"replace": "- Rest"})
    ok(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"},
        ifMatch=known,
    )  # fmt: skip


def test_the_documents_hash_is_taken_as_if_match(ada: Session) -> None:
    plant(ada, CRITIC)
    known = result(ada, "fs.hash", path=CRITIC)
    change = {"append": "- Rest"}
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change=change, opts={"ifMatch": known})
    refused(
        ada, "md.patch_section", "precondition_failed", path=CRITIC, sectionAnchor="concerns v1",
        change=change, ifMatch=known,
    )  # fmt: skip


def test_a_stale_section_hash_is_refused_and_names_the_current_one(ada: Session) -> None:
    plant(ada, CRITIC)
    stale = result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1")
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"})
    error = refused(
        ada, "md.patch_section", "precondition_failed", path=CRITIC, sectionAnchor="needs v1",
        change={"replace": "- Play"}, ifMatch=stale,
    )  # fmt: skip
    assert error["details"] == {
        "documentHash": result(ada, "fs.hash", path=CRITIC),
        "sectionHash": result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1"),
    }


@pytest.mark.parametrize("path", [CRITIC, PAIR, OVERVIEW])
def test_a_material_edit_leaves_a_line_in_the_change_log(ada: Session, path: str) -> None:
    plant(ada, path)
    envelope = ok(
        ada, "md.patch_section", path=path, sectionAnchor="summary v1", change={"replace": "Calmer."},
        rationale="She said so.",
    )  # fmt: skip
    (line,) = _log_of(ada, path)
    assert re.fullmatch(
        r"- \d{4}-\d\d-\d\d \d\d:\d\dZ · summary v1 · replace_section · She said so\. "
        rf"\(evt:{envelope['meta']['eventId']}\)",
        line,
    )


def test_the_line_is_part_of_the_same_write(ada: Session) -> None:
    plant(ada, CRITIC)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"})
    assert events_of(ada, CRITIC) == ["plant committed", "replace_section committed"]
    newest = rows(ada, path=CRITIC)[0]
    assert "- Rest" in newest["splices"][0]["inserted"]
    assert newest["eventId"] in newest["splices"][1]["inserted"]
    assert newest["documentVersion"] == 2


def test_the_change_log_line_names_an_overridden_cap(ada: Session) -> None:
    plant(ada, CRITIC)
    ok(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="evidence v1",
        change={"replace": "\n".join(f'- "so it is {n}" (ev:s1-m{n})' for n in range(8))},
        rationale="Weighty.", overrideRationale="All eight matter.",
    )  # fmt: skip
    (line,) = _log_of(ada, CRITIC)
    assert line.endswith(") · override: All eight matter.")
    assert rows(ada, path=CRITIC)[0]["overrideRationale"] == "All eight matter."


def test_words_of_several_lines_become_one_in_the_change_log(ada: Session) -> None:
    plant(ada, CRITIC)
    ok(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"},
        rationale="First.\n\n## Second\n<!-- no -->",
    )  # fmt: skip
    assert len(_log_of(ada, CRITIC)) == 1
    assert len(result(ada, "md.list_sections", path=CRITIC)) == 8


def test_notes_have_no_change_log(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "md.patch_section", path=NOTES, sectionAnchor="inbox v1", change={"replace": "a"}, rationale="b")
    assert "evt:" not in result(ada, "fs.read", path=NOTES)


def test_a_line_of_ones_own_may_be_appended_to_the_change_log(ada: Session) -> None:
    plant(ada, CRITIC)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="change_log v1", change={"append": "- Mine."})
    assert _log_of(ada, CRITIC) == ["- Mine."]


def test_the_change_log_is_neither_replaced_nor_pruned(ada: Session) -> None:
    plant(ada, CRITIC)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="change_log v1", change={"append": "- Mine."})
    refused(
        ada, "md.patch_section", "permission_denied", path=CRITIC, sectionAnchor="change_log",
        change={"replace": "- Other."},
    )  # fmt: skip
    refused(
        ada, "md.curate_list", "permission_denied", path=CRITIC, sectionAnchor="change_log", ops="prune",
        items=[{"match": "Mine."}], reason="tidy",
    )  # fmt: skip
    text = result(ada, "fs.read", path=CRITIC).replace("- Mine.", "- Other.")
    refused(ada, "fs.write", "permission_denied", path=CRITIC, content=text)


def test_the_event_stores_the_edit_and_seals_the_section(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    before = result(ada, "fs.hash", path=CRITIC)
    ok(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"},
        rationale="Tired.", evidenceRefs=["ev:s1-m1"], toolCallId="c1", transactionId="t1",
        agentActionId="a1",
    )  # fmt: skip
    event = rows(ada, path=CRITIC)[0]
    text = file_of(garden, CRITIC).read_text()
    told = {
        "type": "profile_update", "op": "replace_section", "tool": "md.patch_section", "status": "committed",
        "path": CRITIC, "entity": "critic", "sectionAnchor": "needs v1", "rationale": "Tired.",
        "evidenceRefs": ["ev:s1-m1"], "toolCallId": "c1", "transactionId": "t1", "agentActionId": "a1",
        "beforeHash": before, "afterHash": content_hash(text), "intendedHash": content_hash(text),
        "actor": "companion", "role": "agent", "documentVersion": 2,
    }  # fmt: skip
    assert {key: event[key] for key in told} == told
    assert event["edit"]["asked"] == {"sectionAnchor": "needs v1", "change": {"replace": "- Rest"}}
    assert event["lint"]["counts"] == {"cap": 0, "block": 0, "style": 0}
    keys = KeySource(garden.settings, garden.home)()
    section = text[text.index("## Needs") : text.index("## Strengths")]
    assert event["lineHash"] == line_seal(canonical(section), keys).hex()
    assert event["integritySaltVersion"] == 1


@pytest.mark.parametrize(
    "content",
    [
        (HEAD + INBOX + REST + " \n").replace("1\n", "1\nmood:   'grey' # now\n").replace("\n", "\r\n"),
        "\ufeff" + HEAD + INBOX + REST + "\ttail \nwithout an end",
        (HEAD + INBOX + REST).replace("# N", "# 日記").replace("Summaries", "要約") + "\n한국어 e\u0301\n",
    ],
    ids=["carriage returns", "byte order mark and no final line end", "other scripts"],
)
def test_bytes_outside_the_section_stay(garden: Garden, ada: Session, content: str) -> None:
    put(garden, NOTES, content.encode())
    ok(ada, "md.patch_section", path=NOTES, sectionAnchor="inbox v1", change={"replace": "睡得\n很好"})
    newline = "\r\n" if "\r" in content else "\n"
    anchor = f"<!-- @anchor: inbox v1 -->{newline}"
    words = f"{newline}睡得{newline}很好{newline}"
    assert file_of(garden, NOTES).read_bytes().decode() == content.replace(anchor, anchor + words)
