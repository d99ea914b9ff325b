"""Several edits are carried out together, or none of them."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from garden.application import Garden
from garden.files.errors import StorageError
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.grammar.errors import GardenError
from garden.upkeep.reconciliation import reconcile
from tests.support.crowd import Crowd, Job
from tests.support.planted import NOTES, PROFILE, ada, code_of, ok, patching, plant
from tests.support.promises import broken_promises, text_of, told
from tests.support.stored import everything
from tests.support.transacting import (
    DONE,
    NOT_DONE,
    call,
    codes_of,
    done,
    edits,
    new_profile,
    patch,
    times_said,
)


@pytest.fixture(autouse=True)
def documents(garden: Garden) -> None:
    for path in (PROFILE, NOTES):
        plant(ada(garden), path)


def assert_nothing_happened(garden: Garden) -> None:
    assert times_said(garden, 1) == NOT_DONE
    assert [len(told(garden, path).events) for path in (PROFILE, NOTES)] == [1, 1]
    assert broken_promises(garden) == []


def test_all_edits_are_made_and_share_a_transaction(garden: Garden) -> None:
    answer = done(ada(garden), edits(1))
    assert times_said(garden, 1) == DONE
    [transaction] = {each["meta"]["transactionId"] for each in answer["results"]}
    rows = ok(ada(garden).call("events.query", {"transactionId": transaction}))["result"]["rows"]
    assert {row["path"] for row in rows} == {PROFILE, NOTES, new_profile(1)}
    named = {each["meta"]["eventId"] for each in answer["results"]}
    assert named == {row["eventId"] for row in rows}
    assert broken_promises(garden) == []


def test_edits_of_one_document_are_one_event_which_can_be_undone(garden: Garden) -> None:
    before = text_of(garden, PROFILE)
    calls = [
        patch(PROFILE, "concerns v1", "first;", rationale="One.", toolCallId="a"),
        patch(PROFILE, "needs v1", "second;", rationale="Two.", toolCallId="b"),
        call(("md.fix", {"path": PROFILE, "rationale": "Three."})),
    ]
    answer = done(ada(garden), calls)
    [event] = told(garden, PROFILE).committed[1:]
    said = event.statement
    assert (said.op, said.rationale) == ("several_edits", "One.; Two.; Three.")
    assert {"concerns v1", "needs v1"} <= set(said.sections)
    assert event.caller.tool_call_id == "a"
    log = text_of(garden, PROFILE).partition("@anchor: change_log v1 -->")[2]
    assert [line.split(" · ")[3].split(" (")[0] for line in log.strip().splitlines()] == [
        "One.",
        "Two.",
        "Three.",
    ]
    ok(ada(garden).call("md.undo", {"event": answer["results"][0]["meta"]["eventId"], "rationale": "No."}))
    assert text_of(garden, PROFILE).startswith(before.partition("## Change Log")[0])
    assert broken_promises(garden) == []


def test_an_edit_is_made_on_what_the_one_before_leaves(garden: Garden) -> None:
    replace = {"path": PROFILE, "sectionAnchor": "needs v1", "change": {"replace": "- rest"}}
    path = new_profile(2)
    calls = [
        patch(PROFILE, "needs v1", "gone;"),
        call(("md.patch_section", replace)),
        {"name": "md.plant", "args": {"path": path}},
        patch(path, "concerns v1", "said 2;"),
    ]
    answer = done(ada(garden), calls)
    first, second = (each["result"] for each in answer["results"][:2])
    assert first["afterHash"] == second["beforeHash"]
    assert "gone;" not in text_of(garden, PROFILE)
    assert "- said 2;" in text_of(garden, path)
    assert len(told(garden, path).events) == 1


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        (patch(NOTES, "nowhere v1", "said 1;"), "anchor_not_found"),
        (patch(NOTES, "s3 v1", "said 1;", ifMatch="sha256:" + "0" * 64), "precondition_failed"),
        (patch("users/ben/notes.md", "s3 v1", "said 1;"), "path_not_allowed"),
        (patch(NOTES, "s3 v1", "said 1;", dryRun=True), "invalid_input"),
        (patch(NOTES, "s3 v1", "said 1;", idempotencyKey="own"), "invalid_input"),
        (call(("fs.read", {"path": NOTES})), "invalid_input"),
        (call(("fs.move", {"path": NOTES, "newPath": new_profile(1)})), "invalid_input"),
        (call(("md.restore", {"path": NOTES, "version": 1, "rationale": "Back."})), "invalid_input"),
        (call(("fs.delete", {"path": NOTES})), "delete_not_allowed"),
        (call(("md.plant", {"path": PROFILE})), "already_exists"),
        ({"name": "no.such"}, "unknown_tool"),
    ],
)
def test_a_refusal_of_one_call_refuses_all(garden: Garden, refused: dict[str, Any], code: str) -> None:
    first, *others = edits(1)
    answer = ada(garden).transaction([first, refused, *others])
    assert not answer["success"]
    assert codes_of(answer) == ["not_run", code, "not_run", "not_run", "not_run"]
    assert answer["results"][0]["error"]["details"] == {"refusedIndex": 1}
    assert_nothing_happened(garden)


@pytest.mark.parametrize(
    "calls", [[], [{}] * 2, "ab", None, edits(1) * 6, [{"name": "a", "args": {}, "x": 1}], [{"name": 7}]]
)
def test_calls_of_another_form_are_refused(garden: Garden, calls: Any) -> None:
    with pytest.raises(Exception, match="call") as refusal:
        ada(garden).transaction(calls)
    assert getattr(refusal.value, "code", None) == "invalid_input"
    assert_nothing_happened(garden)


def test_a_caller_who_may_only_read_writes_nothing(garden: Garden) -> None:
    reader = garden.session("ada", "guest", role="reviewer")
    assert codes_of(reader.transaction(edits(1))) == ["permission_denied", *["not_run"] * 3]
    assert_nothing_happened(garden)


def test_an_invalid_call_costs_no_rate_and_asks_nobody(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step of the chain is taken for all calls before the next one."""
    steps: list[str] = []
    for gate, step in ((garden.gates.limits, "take"), (garden.gates.approvals, "is_asked")):
        monkeypatch.setattr(gate, step, lambda *_, step=step: steps.append(step))
    ada(garden).transaction([*edits(1), patch(NOTES, "s3 v1", "x", unknown=1)])
    assert steps == []
    done(ada(garden), edits(1))
    assert steps == ["take"] * 4 + ["is_asked"] * 4


def test_a_call_sent_again_is_answered_from_the_store(garden: Garden) -> None:
    first = done(ada(garden), edits(1), "mine")
    ok(ada(garden).call(*patching(PROFILE, "needs v1", "later;")))
    again = done(ada(garden), edits(1), "mine")
    for name in ("result", "tool", "ok"):
        assert [each[name] for each in again["results"]] == [each[name] for each in first["results"]]
    assert again["results"][0]["meta"]["transactionId"] == first["results"][0]["meta"]["transactionId"]
    assert {each["meta"]["effectStands"] for each in again["results"]} == {True}
    assert times_said(garden, 1) == DONE
    ok(ada(garden).call("md.restore", {"path": PROFILE, "version": 1, "rationale": "Back."}))
    undone = done(ada(garden), edits(1), "mine")
    assert [each["meta"]["effectStands"] for each in undone["results"]] == [False, True, True, False]
    other = ada(garden).transaction(edits(1)[:2], "mine")
    assert codes_of(other) == ["idempotency_conflict"] * 2
    assert (
        code_of(ada(garden).call(*patching(NOTES, "s3 v1", "x", idempotencyKey="mine")))
        == "idempotency_conflict"
    )
    assert broken_promises(garden) == []


def test_the_same_calls_without_a_key_count_once_while_nothing_else_has_changed(garden: Garden) -> None:
    first = done(ada(garden), edits(1)[:2])
    again = done(ada(garden), edits(1)[:2])
    assert [each["meta"]["eventId"] for each in again["results"]] == [
        each["meta"]["eventId"] for each in first["results"]
    ]
    assert times_said(garden, 1) == [1, 1, 0]
    ok(ada(garden).call(*patching(PROFILE, "needs v1", "later;")))
    assert "replayed" not in done(ada(garden), edits(1)[:2])["results"][0]["meta"]
    assert times_said(garden, 1) == [2, 2, 0]
    assert broken_promises(garden) == []


@pytest.mark.parametrize("key", ["", "a\nb", f"ghp_{'Zebra9' * 6}"])
def test_a_key_that_can_not_be_one_is_refused(garden: Garden, key: str) -> None:
    refused = ada(garden).transaction(edits(1), key)
    assert "invalid_input" in codes_of(refused)
    assert_nothing_happened(garden)


@pytest.mark.parametrize("key", [5, ["a"]])
def test_a_key_that_is_no_text_is_refused(garden: Garden, key: Any) -> None:
    with pytest.raises(GardenError) as refused:
        ada(garden).transaction(edits(1), key)
    assert refused.value.code == "invalid_input"
    assert_nothing_happened(garden)


def test_a_transaction_that_changes_nothing_records_nothing(garden: Garden) -> None:
    same = [call(("fs.write", {"path": path, "content": text_of(garden, path)})) for path in (PROFILE, NOTES)]
    answer = done(ada(garden), same, "mine")
    assert [each["meta"]["unchanged"] for each in answer["results"]] == [True, True]
    assert_nothing_happened(garden)
    half = [same[1], patch(PROFILE, "needs v1", "said 1;")]
    assert [each["result"] is None for each in done(ada(garden), half, "half")["results"]] == [False, False]
    again = done(ada(garden), half, "half")["results"]
    assert [each["result"] is None for each in again] == [True, False]
    assert len(told(garden, NOTES).events) == 1


def test_outside_edits_are_recorded_first(garden: Garden) -> None:
    with (garden.home.path / NOTES).open("a") as file:
        file.write("\n- by hand\n")
    moved = garden.home.path / "users/ada/parts/tired/profile.md"
    moved.parent.mkdir()
    (garden.home.path / PROFILE).rename(moved)
    path = str(moved.relative_to(garden.home.path))
    answer = done(ada(garden), [patch(NOTES, "s3 v1", "said 1;"), patch(path, "needs v1", "said 1;")])
    assert "adoptedEventId" in answer["results"][0]["meta"]
    assert [event.statement.type for event in told(garden, NOTES).committed[1:]] == [
        "external_edit",
        "notes_update",
    ]
    assert "- by hand" in text_of(garden, NOTES)
    assert "- said 1;" in text_of(garden, path)
    assert broken_promises(garden) == []


def test_erased_words_are_refused_in_texts_and_in_ids(garden: Garden) -> None:
    words = "the quick brown fox jumps over the lazy dog"
    ok(ada(garden).call(*patching(NOTES, "s3 v1", words)))
    ok(ada(garden).call("garden.erase", {"text": words, "reason": "Asked."}))
    for refused in (patch(PROFILE, "needs v1", words), patch(PROFILE, "needs v1", "x", toolCallId=words)):
        answer = ada(garden).transaction([patch(NOTES, "s4 v1", "said 1;"), refused])
        assert codes_of(answer) == ["not_run", "erased"]
    assert "said 1;" not in text_of(garden, NOTES)
    assert broken_promises(garden) == []


@pytest.mark.parametrize("step", [Failpoint.KEPT, Failpoint.REPLACED])
def test_a_failing_disk_leaves_no_half(garden: Garden, step: Failpoint) -> None:
    """The profile can't be written; the others are, and the profile as soon as the disk is well."""

    def fail(reached: Failpoint) -> None:
        if reached is step:
            raise StorageError("No room.", hint="Make some.")

    with watch_failpoints(fail):
        answer = ada(garden).transaction(edits(1), "mine")
    assert codes_of(answer) == ["unavailable"] * 4
    assert len(answer["results"][0]["error"]["details"]["eventIds"]) == 3
    list(reconcile(garden.services, ["ada"]))
    assert times_said(garden, 1) == DONE
    assert done(ada(garden), edits(1), "mine")["results"][0]["meta"]["effectStands"]
    assert broken_promises(garden) == []


def test_a_disk_that_fails_before_the_intents_are_recorded_changes_nothing(garden: Garden) -> None:
    def fail(reached: Failpoint) -> None:
        if reached is Failpoint.PREPARED:
            raise StorageError("No room.", hint="Make some.")

    with watch_failpoints(fail):
        answer = ada(garden).transaction(edits(1))
    assert codes_of(answer) == ["unavailable"] * 4
    assert_nothing_happened(garden)


def opposite(number: int) -> list[dict[str, Any]]:
    """Edits of the same two documents, in one order or the other."""
    both = [patch(PROFILE, "concerns v1", f"said {number};"), patch(NOTES, "s3 v1", f"said {number};")]
    return both if number % 2 else both[::-1]


def assert_each_once(garden: Garden, numbers: range, paths: Mapping[str, str]) -> None:
    for number in numbers:
        for path, words in paths.items():
            assert text_of(garden, path).count(f"- {words} {number};\n") == 1
    assert broken_promises(garden) == []


def test_transactions_in_opposite_orders_and_single_writers_lose_nothing(garden: Garden) -> None:
    session = ada(garden)

    def work(number: int) -> None:
        done(session, opposite(number))
        ok(session.call(*patching((PROFILE, NOTES)[number % 2], "s1 v1", f"alone {number};")))

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(work, range(24)))
    assert_each_once(garden, range(24), {PROFILE: "said", NOTES: "said"})
    assert_each_once(garden, range(0, 24, 2), {PROFILE: "alone"})


def test_transactions_of_several_processes_lose_nothing(garden: Garden, crowd: Crowd) -> None:
    jobs = [
        Job(
            [
                ("transaction", {"calls": opposite(number), "idempotency_key": f"{number}"})
                for number in numbers
            ]
        )
        for numbers in (range(5), range(5, 10), range(3, 8))
    ]
    answers = [each for one in crowd.run(jobs) for each in one.envelopes]
    assert all(answer["success"] for answer in answers)
    assert_each_once(garden, range(10), {PROFILE: "said", NOTES: "said"})


def test_an_erasure_takes_the_words_of_a_transaction_out_of_every_place(
    garden: Garden, database: str
) -> None:
    words = "the quick brown fox jumps over the lazy dog"
    calls = [
        patch(NOTES, "s3 v1", "said 1;"),
        patch(PROFILE, "needs v1", words, rationale=words),
        patch(PROFILE, "evidence v1", f"{words} (unsourced)", toolCallId=words),
    ]
    hashes = [each["result"]["afterHash"] for each in done(ada(garden), calls, "mine")["results"]]
    ok(ada(garden).call("garden.erase", {"text": words, "reason": "Asked."}))
    kept = everything(garden, database)
    assert "brown fox" not in kept
    assert hashes[0] in kept
    assert not [each for each in hashes[1:] if each in kept]
    again = done(ada(garden), [*calls], "mine")
    assert [each["result"] is None for each in again["results"]] == [False, True, True]
    # A copy is known by a hash, which went with the words.
    assert broken_promises(garden, spare_copies=True) == []
