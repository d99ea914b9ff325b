"""`memory.store`: one memory more, in its place and its form, and none twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from garden.application import Garden
from garden.home.local_day import today_in
from garden.recall.periods import key_of
from garden.session import Session
from tests.support.gardens import (
    NOTES,
    OVERVIEW,
    edit_outside,
    events_of,
    file_of,
    ok,
    plant,
    refused,
    result,
    rows,
)

SAIL = "Wants to sail the Baltic"


def stored(ada: Session, content: str = SAIL, **fields: object) -> dict[str, str]:
    found: dict[str, str] = result(ada, "memory.store", content=content, **fields)
    return found


def test_a_category_is_a_section_of_the_overview_which_is_made_if_missing(
    garden: Garden, ada: Session
) -> None:
    memory = stored(ada, category="life-goal", tags=["sailing", "#sea"], pursuingPriority=80)
    assert memory == {"id": memory["id"], "path": OVERVIEW, "anchor": "life_goals v1"}
    text = file_of(garden, OVERVIEW).read_text()
    assert f"<!-- @anchor: life_goals v1 -->\n\n- {SAIL} (priority: 80) #sailing #sea\n" in text
    second = stored(ada, "Learn Danish", category="life-goal", rationale="She said so.")
    assert " #sailing #sea\n- Learn Danish\n" in file_of(garden, OVERVIEW).read_text()
    assert "· life_goals v1 · append_item · She said so. (evt:" in file_of(garden, OVERVIEW).read_text()
    listed = result(ada, "memory.list", categories=["life-goal"])["memories"]
    assert [each["id"] for each in listed] == [second["id"], memory["id"]]
    assert listed[1]["tags"] == ["sailing", "sea"]
    assert listed[1]["pursuingPriority"] == 80
    assert rows(ada)[0]["tool"] == "memory.store"


@pytest.mark.parametrize(
    ("category", "anchor"),
    [
        ("fact", "facts"), ("preference", "preferences"), ("life-goal", "life_goals"),
        ("project", "projects"),
        ("open-loop", "open_loops"), ("relationship", "relationships"), ("health", "health"),
        ("work", "work"), ("personal-context", "personal_context"),
    ],
)  # fmt: skip
def test_every_category_has_its_section(ada: Session, category: str, anchor: str) -> None:
    assert stored(ada, category=category)["anchor"] == f"{anchor} v1"
    [memory] = result(ada, "memory.list")["memories"]
    assert memory["category"] == category


def test_without_a_category_it_is_an_entry_of_today_in_the_inbox(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    for content in ("Slept well", "- Slept badly"):
        memory = stored(ada, content)
        assert (memory["path"], memory["anchor"]) == (NOTES, "inbox v1")
        assert memory["id"] == result(ada, "memory.list", limit=1)["memories"][0]["id"]
    today = today_in(garden.settings.timezone)
    assert file_of(garden, NOTES).read_text().endswith(f"\n\n{today}: Slept well\n\n- {today}: Slept badly\n")


def test_summaries_have_a_canonical_key_and_a_period_has_one(garden: Garden, ada: Session) -> None:
    first = stored(ada, "She slept better.", summaryType="weekly", periodKey="2026-W47", tags=["sleep"])
    assert first["anchor"] == "summaries v1"
    assert "\n- 2026-W47 (weekly): She slept better. #sleep\n" in file_of(garden, NOTES).read_text()
    error = refused(
        ada, "memory.store", "already_exists", content="Other", summaryType="weekly", periodKey="2026-W47"
    )
    assert error["details"]["id"] == first["id"]
    again = stored(ada, "She slept better", summaryType="weekly", periodKey="2026-W47")
    assert again["id"] == first["id"]
    assert again["alreadyKnown"]
    beside = stored(ada, "Other", summaryType="weekly", periodKey="2026-W47", insist=True)
    talks = [
        stored(ada, "On tea", summaryType="conversation", periodKey="2026-11-19", chatId=chat)["id"]
        for chat in ("chat-7", "chat-8")
    ]
    assert len({first["id"], beside["id"], *talks}) == 4
    refused(
        ada, "memory.store", "already_exists", content="x", summaryType="conversation",
        periodKey="2026-11-19", chatId="chat-8",
    )  # fmt: skip
    listed = result(ada, "memory.list", summaryTypes=["weekly"], periodKeyPrefix="2026-W")["memories"]
    assert {each["id"] for each in listed} == {first["id"], beside["id"]}
    assert {each["periodKey"] for each in listed} == {"2026-W47"}


def test_a_wrong_key_or_field_is_refused_with_what_is_right(ada: Session) -> None:
    def refusal(**fields: object) -> str:
        return str(refused(ada, "memory.store", "invalid_input", content="x", **fields))

    assert "2026-W47" in refusal(summaryType="weekly", periodKey="2026-11-19")
    assert key_of("monthly", date.fromisoformat(today_in(None))) in refusal(summaryType="monthly")
    assert "chatId" in refusal(summaryType="conversation", periodKey="2026-11-19")
    assert "chatId" in refusal(summaryType="daily", periodKey="2026-11-19", chatId="c")
    for chat in ("a b", "a(b", "a)"):
        talk = refusal(summaryType="conversation", periodKey="2026-11-19", chatId=chat)
        assert "no space and no parenthesis" in talk
    assert "summaryType" in refusal(periodKey="2026-W47")
    assert "category" in refusal(category="fact", summaryType="daily", periodKey="2026-11-19")
    assert "A tag is" in refusal(category="fact", tags=["two words"])
    assert "100" in refusal(category="fact", pursuingPriority=101)
    refused(ada, "memory.store", "invalid_input", content="")
    for several in ("### Secret plans", "### Plans\n- sail", "- one\n- two"):
        refused(ada, "memory.store", "patch_conflict", content=several)
    refused(ada, "memory.store", "anchor_in_text", content="<!-- @anchor: x v1 -->", category="fact")


def test_the_same_memory_is_shown_and_stored_only_by_insisting(garden: Garden, ada: Session) -> None:
    first = stored(ada, category="life-goal", tags=["sailing"])
    text = file_of(garden, OVERVIEW).read_bytes()
    again = ok(ada, "memory.store", content="She wants to sail the Baltic.", category="life-goal")
    assert again["result"] == {**first, "alreadyKnown": f"{SAIL} #sailing"}
    assert again["meta"]["unchanged"]
    assert file_of(garden, OVERVIEW).read_bytes() == text
    assert stored(ada, category="project")["id"] != first["id"]
    beside = stored(ada, category="life-goal", tags=["sailing"], insist=True)
    assert beside["id"] == f"{first['id']}~2"
    assert "alreadyKnown" not in stored(ada, "No longer wants to sail the Baltic", category="life-goal")
    assert file_of(garden, OVERVIEW).read_text().count("sail the Baltic") == 4


@pytest.mark.parametrize("fields", [{"category": "fact"}, {}])
def test_the_id_is_that_of_the_new_memory_also_if_the_language_of_the_section_changes(
    garden: Garden, ada: Session, fields: dict[str, str]
) -> None:
    plant(ada, NOTES)
    stored(ada, "Anna", category="fact")
    ok(ada, "fs.append", path=NOTES, text=f"{today_in(garden.settings.timezone)}:")
    memory = stored(ada, "Anna ist mit der F\u00e4hre nach Kiel und mag die See nicht", **fields)
    found = {each["id"]: each["text"] for each in result(ada, "memory.list")["memories"]}
    assert found[memory["id"]].endswith("mag die See nicht")


def test_an_entry_of_an_earlier_day_is_known_unless_the_caller_names_another_day(ada: Session) -> None:
    first = stored(ada, f"2026-11-18: {SAIL}", tags=["sea"])
    assert stored(ada)["alreadyKnown"] == f"2026-11-18: {SAIL} #sea"
    assert stored(ada, f"- {SAIL}!")["id"] == stored(ada, f"2026-11-18: {SAIL}")["id"] == first["id"]
    assert "alreadyKnown" not in stored(ada, f"2026-11-17: {SAIL}")
    for day in ("2026-11-18", "2026-11-19", "2026-11-18"):
        slept = stored(ada, f"On {day} she slept badly")
    assert "On 2026-11-18" in slept["alreadyKnown"]


def test_tags_and_a_priority_that_a_known_memory_lacks_are_named(ada: Session) -> None:
    def warnings(**fields: object) -> list[str]:
        meta = ok(ada, "memory.store", content=SAIL, category="fact", **fields)["meta"]
        return [str(each) for each in meta.get("warnings", ())]

    assert warnings(tags=["Sea"], pursuingPriority=80) == warnings(tags=["sea"]) == warnings() == []
    [warning] = warnings(tags=["Sea", "baltic"], pursuingPriority=60)
    assert warning.startswith("Not applied, since the memory stands already: priority 60, #baltic.")
    assert "insist: true" in warning


def test_what_a_person_wrote_is_known_too(garden: Garden, ada: Session) -> None:
    stored(ada, category="fact")
    edit_outside(garden, OVERVIEW, SAIL, "Has two cats")
    assert stored(ada, "has two cats", category="fact")["alreadyKnown"] == "Has two cats"
    assert "alreadyKnown" not in stored(ada, category="fact")


def test_two_callers_at_once_store_a_memory_once(garden: Garden, ada: Session) -> None:
    plant(ada, OVERVIEW)
    sessions = [garden.session("ada", f"companion {number}") for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda session: stored(session, category="fact"), sessions))
    assert len({each["id"] for each in found}) == 1
    assert sum("alreadyKnown" not in each for each in found) == 1
    assert events_of(ada, OVERVIEW) == ["plant committed", "append_item committed"]


def test_the_fields_of_every_write_count(garden: Garden, ada: Session) -> None:
    dry = ok(ada, "memory.store", content=SAIL, category="fact", dryRun=True)
    assert f"+- {SAIL}" in dry["meta"]["diff"]
    assert not file_of(garden, OVERVIEW).exists()
    first = ok(ada, "memory.store", content=SAIL, category="fact", idempotencyKey="k")
    again = ok(ada, "memory.store", content=SAIL, category="fact", idempotencyKey="k")
    assert again["meta"]["replayed"]
    assert again["result"] == first["result"] == dry["result"]
    stale = {"content": "x", "category": "fact", "ifMatch": "sha256:" + "0" * 64}
    refused(ada, "memory.store", "precondition_failed", **stale)
    refused(garden.session("ada", "rita", role="reviewer"), "memory.store", "permission_denied", content="x")
