"""Many writers at once, in threads and in processes: no edit is lost, and none is doubled."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from garden.application import Garden
from tests.support.crowd import Asked, Crowd, Job
from tests.support.planted import (
    NOTES,
    PROFILE,
    SECTIONS,
    ada,
    anchors_of,
    code_of,
    notes_text,
    ok,
    patching,
    plant,
)
from tests.support.promises import broken_promises, standing_of, text_of, told

AtOnce = Callable[[Garden, Sequence[Asked]], list[dict[str, Any]]]


def by_threads(garden: Garden, calls: Sequence[Asked]) -> list[dict[str, Any]]:
    session, barrier = ada(garden), Barrier(len(calls))

    def call(asked: Asked) -> dict[str, Any]:
        barrier.wait()
        return session.call(*asked)

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(call, calls))


@pytest.fixture(params=["threads", "processes"])
def at_once(request: pytest.FixtureRequest, crowd: Crowd) -> AtOnce:
    """A way to make calls at the same moment."""

    def by_processes(garden: Garden, calls: Sequence[Asked]) -> list[dict[str, Any]]:
        jobs = [Job([each]) for each in calls]
        return [done.envelopes[0] for done in crowd.at(garden.home.path).run(jobs)]

    return by_threads if request.param == "threads" else by_processes


@pytest.mark.parametrize("path", [NOTES, PROFILE])
def test_twenty_edits_of_twenty_sections_at_once_all_succeed_without_a_retry(
    garden: Garden, at_once: AtOnce, path: str
) -> None:
    plant(ada(garden), path)
    anchors = anchors_of(path)
    calls = [
        patching(path, anchor, f"said {number}", rationale=f"why {number}")
        for number, anchor in enumerate(anchors)
    ]
    envelopes = at_once(garden, calls)

    assert [code_of(envelope) for envelope in envelopes] == ["ok"] * SECTIONS
    assert not any("replayed" in envelope["meta"] for envelope in envelopes)
    document = standing_of(garden, path).document
    for number, anchor in enumerate(anchors):
        section = next(each for each in document.sections if each.name == anchor)
        assert section.text.count(f"- said {number}\n") == 1
    edits = told(garden, path).committed[1:]
    assert {str(event.event_id) for event in edits} == {each["meta"]["eventId"] for each in envelopes}
    assert [event.document_version for event in edits] == list(range(2, SECTIONS + 2))
    text = text_of(garden, path)
    assert [text.count(f"(evt:{event.event_id})") for event in edits] == [int(path == PROFILE)] * SECTIONS
    assert broken_promises(garden) == []


@pytest.mark.parametrize("path", [NOTES, PROFILE])
@pytest.mark.parametrize("whose", ["section", "document"])
def test_of_twenty_edits_with_the_same_if_match_exactly_one_wins(
    garden: Garden, at_once: AtOnce, path: str, whose: str
) -> None:
    session = ada(garden)
    plant(session, path)
    anchor = anchors_of(path)[1]
    asked = {"path": path, "sectionAnchor": anchor} if whose == "section" else {"path": path}
    before = ok(session.call("fs.hash", asked))["result"]
    envelopes = at_once(
        garden,
        [patching(path, anchor, f"said {number}", ifMatch=before) for number in range(20)],
    )

    winners = [number for number, envelope in enumerate(envelopes) if envelope["ok"]]
    assert len(winners) == 1
    now = ok(session.call("fs.hash", asked))["result"]
    losers = [envelope["error"] for envelope in envelopes if not envelope["ok"]]
    assert {error["code"] for error in losers} == {"precondition_failed"}
    assert {error["details"][f"{whose}Hash"] for error in losers} == {now}
    said = [line for line in text_of(garden, path).splitlines() if line.startswith("- said")]
    assert said == [f"- said {winners[0]}"]
    assert len(told(garden, path).events) == 2
    assert broken_promises(garden) == []


@pytest.mark.parametrize("key", [{"idempotencyKey": "the same"}, {}], ids=str)
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        patching(PROFILE, "concerns v1", "said once"),
        ("fs.append", {"path": NOTES, "text": "said once"}),
        ("md.plant", {"path": "users/ada/overview.md"}),
        ("fs.move", {"path": NOTES, "newPath": "users/ada/parts/critic/notes.md"}),
    ],
    ids=["patch", "append", "plant", "move"],
)
def test_a_request_sent_sixteen_times_at_once_has_one_effect_and_one_answer(
    garden: Garden, at_once: AtOnce, tool: str, args: dict[str, Any], key: dict[str, str]
) -> None:
    plant(ada(garden), PROFILE)
    plant(ada(garden), NOTES)
    envelopes = at_once(garden, [(tool, {**args, **key})] * 16)

    late = {} if key else {"md.plant": {"already_exists"}, "fs.move": {"not_found"}}
    assert {code_of(envelope) for envelope in envelopes} <= {"ok", "in_progress", *late.get(tool, ())}
    answers = [envelope for envelope in envelopes if envelope["ok"]]
    assert len([answer for answer in answers if not answer["meta"].get("replayed")]) == 1
    assert all(answer["result"] == answers[0]["result"] for answer in answers)
    assert len({answer["meta"]["eventId"] for answer in answers}) == 1
    effects = [each for each in told(garden, args["path"]).events if each.statement.tool == tool]
    assert len(effects) == 1
    if tool in {"md.patch_section", "fs.append"}:
        assert text_of(garden, args["path"]).count("said once") == 1
    assert broken_promises(garden) == []


@pytest.mark.parametrize("key", [{"idempotencyKey": "the same"}, {}], ids=str)
def test_sixteen_snapshots_at_once_make_one_copy(
    garden: Garden, at_once: AtOnce, key: dict[str, str]
) -> None:
    plant(ada(garden), PROFILE)
    envelopes = at_once(garden, [("md.snapshot_history", {"path": PROFILE, **key})] * 16)
    assert {code_of(envelope) for envelope in envelopes} == {"ok"}
    assert len({envelope["result"]["historyPath"] for envelope in envelopes}) == 1
    assert len(list((garden.home.path / "history/ada").rglob("*.md"))) == 1
    assert broken_promises(garden) == []


def test_forty_threads_on_one_document_with_ten_connections_all_succeed(garden: Garden) -> None:
    plant(ada(garden), PROFILE)
    calls = [
        patching(PROFILE, anchor, f"said {number}", idempotencyKey=str(number))
        for number, anchor in enumerate(anchors_of(PROFILE) * 2)
    ]
    assert {code_of(each) for each in by_threads(garden, calls)} == {"ok"}
    assert len(told(garden, PROFILE).committed) == 41
    assert broken_promises(garden) == []


def test_forty_threads_on_forty_documents_with_ten_connections_all_succeed(garden: Garden) -> None:
    paths = [f"users/ada/parts/p{number}/profile.md" for number in range(40)]
    planted = by_threads(garden, [("md.plant", {"path": path}) for path in paths])
    assert {code_of(each) for each in planted} == {"ok"}
    edited = by_threads(garden, [patching(path, "concerns v1", "said") for path in paths])
    assert {code_of(each) for each in edited} == {"ok"}
    assert broken_promises(garden) == []


def test_of_many_creators_of_one_document_one_wins(garden: Garden, at_once: AtOnce) -> None:
    calls = [("md.plant", {"path": PROFILE, "title": f"Title {number}"}) for number in range(12)]
    envelopes = at_once(garden, calls)
    assert sorted(code_of(each) for each in envelopes) == ["already_exists"] * 11 + ["ok"]
    assert len(told(garden, PROFILE).events) == 1
    assert broken_promises(garden) == []


def test_whole_texts_written_at_once_replace_each_other_and_none_is_torn(
    garden: Garden, at_once: AtOnce
) -> None:
    plant(ada(garden), NOTES)
    texts = [notes_text().replace("# Notes", f"# Notes {number}" * 500) for number in range(8)]
    envelopes = at_once(garden, [("fs.write", {"path": NOTES, "content": text}) for text in texts])
    assert [code_of(each) for each in envelopes] == ["ok"] * 8
    assert set(told(garden, NOTES).replay().texts.values()) == {"", notes_text(), *texts}
    assert broken_promises(garden) == []
