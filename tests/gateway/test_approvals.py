"""Approvals: a call that the rules ask about runs once, exactly as it was approved."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from garden.application import Garden, open_garden
from garden.events.approvals import OPEN_MAX, State
from garden.gateway.decisions import ApprovalNotFoundError
from garden.home.folder import Home
from garden.session import Session
from garden.tools.requests import InvalidRequestError
from tests.support.calls import calls_now
from tests.support.gardens import CRITIC, NOTES, edit_outside, ok, plant, refused, rows
from tests.support.recalled import ask, change

ASK = """
[gateway.permissions]
"fs.*" = "ask"
"fs.read" = "allow"
"md.patch_section" = "ask"
"md.snapshot_history" = "ask"
"""
APPEND: tuple[str, dict[str, Any]] = ("fs.append", {"path": NOTES, "text": "Slept well."})
ASIDE = "users/ada/parts/critic/notes.md"
SECRET = f"ghp_{'Zebra9' * 6}"
PATCH: tuple[str, dict[str, Any]] = (
    "md.patch_section",
    {"path": CRITIC, "sectionAnchor": "concerns v1", "change": {"append": "- Says yes"}, "rationale": "r"},
)


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    """A garden that asks before edits; Ada's documents stand in it."""
    with opened(ready_home) as garden:
        plant(garden.session("ada", "companion"), NOTES, CRITIC)
        yield garden


CALLS = [{"name": tool, "args": args} for tool, args in (PATCH, APPEND)]


@contextmanager
def opened(home: Home, settings: str = ASK) -> Iterator[Garden]:
    file = home.path / "garden.toml"
    if "[gateway" not in (text := file.read_text() if file.exists() else ""):
        file.write_text(f"{text}\n{settings}")
    with open_garden(home.path) as garden:
        yield garden


@pytest.fixture
def ada(garden: Garden) -> Session:
    return garden.session("ada", "companion")


@pytest.fixture
def grace(garden: Garden) -> Session:
    """Who approves."""
    return garden.session("ada", "grace", role="maintainer")


def asked(session: Session, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    error = refused(session, tool, "permission_required", **args)
    details: dict[str, Any] = error["details"]
    assert details["approvalId"] in error["hint"]
    return details


def approve(garden: Garden, approver: Session, approval_id: str) -> None:
    garden.decisions.decide(approver.caller, approval_id, "approved")


def state_of(garden: Garden, approver: Session, approval_id: str) -> str:
    return garden.decisions.find(approver.caller, approval_id).state


@pytest.mark.parametrize("call", [APPEND, PATCH])
def test_an_approved_call_runs_once_and_unchanged(
    garden: Garden, ada: Session, grace: Session, call: tuple[str, dict[str, Any]]
) -> None:
    tool, args = call
    details = asked(ada, tool, args)
    assert details["linesAdded"] >= 1
    assert args.get("text", "- Says yes") in details["diff"]
    # The same call again, with another id, is the same question.
    assert asked(ada, tool, {**args, "toolCallId": "c2"})["approvalId"] == details["approvalId"]
    approve(garden, grace, details["approvalId"])
    done = ok(ada, tool, **args, idempotencyKey="first")
    assert state_of(garden, grace, details["approvalId"]) == "used"
    [event] = [row for row in rows(ada) if row["eventId"] == done["meta"]["eventId"]]
    assert event["actor"] == "companion"
    # A resend is answered from what is stored; any other call is asked about anew.
    assert ok(ada, tool, **args, idempotencyKey="first")["meta"]["replayed"]
    again = asked(ada, tool, {**args, "idempotencyKey": "second"})
    assert again["approvalId"] != details["approvalId"]


def test_a_proposal_says_whether_the_call_needs_an_approval_and_shows_none_that_is_denied(
    garden: Garden, ada: Session
) -> None:
    tool, args = PATCH
    assert ok(ada, "propose_change", tool=tool, args=args)["result"]["requiresApproval"]
    policy = {"permissions": {tool: "deny"}}
    guest = garden.session("ada", "guest", policy=policy)
    assert "diff" not in refused(guest, "propose_change", "permission_denied", tool=tool, args=args)
    allowed = {each["name"] for each in ok(guest, "tools.list")["result"] if each["allowed"]}
    assert "propose_change" in allowed
    assert tool not in allowed


def test_a_read_that_asks_brings_no_secret_into_the_approvals(garden: Garden) -> None:
    guest = garden.session("ada", "guest", policy={"permissions": {"*": "ask"}})
    for tool, args in (
        ("fs.search", {"root": NOTES, "pattern": SECRET}),
        ("memory.recall", {"query": SECRET}),
    ):
        assert SECRET not in str(refused(guest, tool, "invalid_input", **args))
    assert not garden.decisions.list(guest.caller)


def test_a_reason_with_a_secret_is_refused(garden: Garden, ada: Session, grace: Session) -> None:
    tool, args = APPEND
    approval = asked(ada, tool, args)["approvalId"]
    with pytest.raises(Exception, match="holds a secret") as refusal:
        garden.decisions.decide(grace.caller, approval, "denied", f"Not with {SECRET}.")
    assert SECRET not in str(refusal.value)
    assert state_of(garden, grace, approval) == "pending"


def test_the_words_of_a_call_leave_with_its_answer(garden: Garden, ada: Session, grace: Session) -> None:
    for state in ("approved", "denied"):
        tool, args = "fs.append", {"path": NOTES, "text": f"A word, {state}."}
        approval = asked(ada, tool, args)["approvalId"]
        assert garden.decisions.find(grace.caller, approval).args == args
        garden.decisions.decide(grace.caller, approval, state)
        ada.call(tool, args)
        now = garden.decisions.find(grace.caller, approval)
        assert (now.args, now.diff, now.decided_by) == (None, None, "grace")
        assert now.decided_at is not None


def test_a_denied_call_is_refused_when_sent_again(garden: Garden, ada: Session, grace: Session) -> None:
    tool, args = APPEND
    garden.decisions.decide(grace.caller, asked(ada, tool, args)["approvalId"], "denied", "Not today.")
    error = refused(ada, tool, "permission_denied", **args)
    assert error["message"] == "Access denied by creator."
    assert "Not today." in error["hint"]
    # Another actor's same call is a question of its own.
    asked(garden.session("ada", "else"), tool, args)


@pytest.mark.parametrize("state", ["approved", "denied"])
def test_an_answer_can_be_taken_back_and_given_anew(
    garden: Garden, ada: Session, grace: Session, state: State
) -> None:
    tool, args = APPEND
    approval = asked(ada, tool, args)["approvalId"]
    garden.decisions.decide(grace.caller, approval, state, "Hasty.")
    again = garden.decisions.undo(grace.caller, approval)
    assert (again.state, again.args, again.reason, again.decided_by) == ("pending", args, None, None)
    # Sent twice, it does nothing more.
    assert garden.decisions.undo(grace.caller, approval).state == "pending"
    assert asked(ada, tool, args)["approvalId"] == approval
    approve(garden, grace, approval)
    ok(ada, tool, **args)


def test_an_answer_that_is_anothers_or_old_or_used_is_final(
    garden: Garden, ada: Session, grace: Session
) -> None:
    tool, args = APPEND
    approval = asked(ada, tool, args)["approvalId"]
    approve(garden, grace, approval)
    mira = garden.session("ada", "mira", role="maintainer")
    with pytest.raises(InvalidRequestError, match="it is grace's"):
        garden.decisions.undo(mira.caller, approval)
    with pytest.raises(ApprovalNotFoundError):
        garden.decisions.undo(garden.session("ben", "grace", role="maintainer").caller, approval)
    change(garden, "update garden.approvals set decided_at = now() - interval '31 s'")
    with pytest.raises(InvalidRequestError, match="30 seconds have passed"):
        garden.decisions.undo(grace.caller, approval)
    ok(ada, tool, **args)
    with pytest.raises(InvalidRequestError, match="was carried out"):
        garden.decisions.undo(grace.caller, approval)


def test_an_answer_stays_where_the_call_is_asked_about_anew_or_its_time_is_over(
    garden: Garden, ada: Session, grace: Session
) -> None:
    tool, args = APPEND
    first = asked(ada, tool, args)["approvalId"]
    garden.decisions.decide(grace.caller, first, "denied")
    # As if the call had been asked about a moment before the answer.
    change(garden, "update garden.approvals set call_mark = decode(repeat('00', 32), 'hex')")
    asked(ada, tool, args)
    change(
        garden,
        "update garden.approvals as a set call_mark = b.call_mark from garden.approvals as b "
        "where a.state = 'denied' and b.state = 'pending'",
    )
    with pytest.raises(InvalidRequestError, match="asked about anew"):
        garden.decisions.undo(grace.caller, first)
    second = asked(garden.session("ada", "else"), tool, args)["approvalId"]
    approve(garden, grace, second)
    change(garden, "update garden.approvals set asked_at = now() - interval '1 h', expires_at = now()")
    with pytest.raises(InvalidRequestError, match="is over"):
        garden.decisions.undo(grace.caller, second)


def test_the_sweep_takes_the_words_of_a_denied_call(garden: Garden, ada: Session, grace: Session) -> None:
    approval = asked(ada, *APPEND)["approvalId"]
    garden.decisions.decide(grace.caller, approval, "denied")
    kept = "select count(*) from garden.approvals where args is not null"
    garden.services.maintenance.forget_approvals()
    assert ask(garden, kept) == [(1,)]
    change(garden, "update garden.approvals set decided_at = now() - interval '61 s'")
    garden.services.maintenance.forget_approvals()
    assert ask(garden, kept) == [(0,)]


def test_a_time_out_counts_as_no(garden: Garden, ada: Session, grace: Session) -> None:
    tool, args = APPEND
    for answered in (False, True):
        args = {**args, "text": f"answered {answered}"}
        approval = asked(ada, tool, args)["approvalId"]
        if answered:
            approve(garden, grace, approval)
        change(garden, "update garden.approvals set asked_at = now() - interval '1 h', expires_at = now()")
        assert refused(ada, tool, "permission_denied", **args)["details"]["state"] == "expired"
        assert state_of(garden, grace, approval) == "expired"
    change(
        garden,
        "update garden.approvals set asked_at = now() - interval '2 h', expires_at = now() - interval '1 h'",
    )
    assert asked(ada, tool, args)["approvalId"] != approval


@pytest.mark.parametrize("is_approved", [False, True])
@pytest.mark.parametrize("call", [APPEND, PATCH])
def test_a_document_changed_since_is_asked_about_anew(
    garden: Garden, ada: Session, grace: Session, call: tuple[str, dict[str, Any]], is_approved: bool
) -> None:
    tool, args = call
    first = asked(ada, tool, args)["approvalId"]
    if is_approved:
        approve(garden, grace, first)
    edit_outside(garden, args["path"], "---\n\n# ", "---\n\n# The ")
    second = asked(ada, tool, args)["approvalId"]
    assert first != second
    assert state_of(garden, grace, first) == "void"
    approve(garden, grace, second)
    ok(ada, tool, **args)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        PATCH,
        ("fs.move", {"path": ASIDE, "newPath": "users/ada/parts/kid/notes.md"}),
        ("md.snapshot_history", {"path": CRITIC}),
    ],
)
def test_a_change_between_the_gate_and_the_lock_is_refused(
    garden: Garden, grace: Session, monkeypatch: pytest.MonkeyPatch, tool: str, args: dict[str, Any]
) -> None:
    caller = garden.session("ada", "companion", role="maintainer")
    plant(caller, ASIDE)
    approve(garden, grace, asked(caller, tool, args)["approvalId"])
    store = garden.gates.approvals.store
    take = store.take

    def take_then_edit(user_id: str, marks: Mapping[UUID, bytes]) -> bool:
        taken = take(user_id, marks)
        edit_outside(garden, args["path"], "---\n\n# ", "---\n\n# The ")
        return taken

    monkeypatch.setattr(store, "take", take_then_edit)
    error = refused(caller, tool, "precondition_failed", **args)
    assert "approved" in error["message"]
    assert "Says yes" not in (garden.home.path / CRITIC).read_text()
    assert not list((garden.home.path / "history").rglob("*.md"))


def test_who_may_decide(garden: Garden, ada: Session) -> None:
    tool, args = APPEND
    approval = asked(ada, tool, args)["approvalId"]
    others = [
        ("companion", "maintainer"),
        ("companion", "reviewer"),
        ("else", "agent"),
        ("companion", "agent"),
    ]
    for actor, role in others:
        session = garden.session("ada", actor, role=role)
        with pytest.raises(Exception, match=r"can't approve|no such approval"):
            garden.decisions.decide(session.caller, approval, "approved")
    with pytest.raises(Exception, match="no such approval"):
        garden.decisions.decide(
            garden.session("ben", "grace", role="maintainer").caller, approval, "approved"
        )
    reviewer = garden.session("ada", "grace", role="reviewer")
    approve(garden, reviewer, approval)
    approve(garden, reviewer, approval)
    with pytest.raises(Exception, match="is approved and can't be decided"):
        garden.decisions.decide(reviewer.caller, approval, "denied")
    assert refused(garden.session("ada", "else"), tool, "permission_required", **args)
    ok(ada, tool, **args)


def test_an_edited_call_is_the_approvers_own(garden: Garden, ada: Session, grace: Session) -> None:
    tool, args = APPEND
    approval = asked(ada, tool, args)["approvalId"]
    wrong = garden.decisions.carry_out_edited(grace.access, approval, {"path": NOTES})
    assert wrong["error"]["code"] == "invalid_input"
    assert state_of(garden, grace, approval) == "pending"
    better = {**args, "text": "Slept a little.", "agentActionId": "mine"}
    done = garden.decisions.carry_out_edited(grace.access, approval, better)
    event = garden.lookups.event_named(grace.access, done["meta"]["eventId"])
    assert (event.actor, event.agent_action_id) == ("grace", f"approval:{approval}")
    error = refused(ada, tool, "permission_denied", **args)
    assert done["meta"]["eventId"] in error["message"]
    assert "Slept well" not in (garden.home.path / NOTES).read_text()
    with pytest.raises(Exception, match="is edited and can't be decided"):
        garden.decisions.carry_out_edited(grace.access, approval, better)


def test_a_tool_without_a_plan_is_bound_to_the_files_it_names(
    garden: Garden, ada: Session, grace: Session
) -> None:
    plant(ada, "users/ada/parts/child/notes.md")
    args = {"path": "users/ada/parts/child/notes.md", "newPath": "users/ada/parts/kid/notes.md"}
    mover = garden.session("ada", "mover", role="maintainer")
    first = asked(mover, "fs.move", args)["approvalId"]
    approve(garden, grace, first)
    edit_outside(garden, args["path"], "---\n\n# ", "---\n\n# The ")
    second = asked(mover, "fs.move", args)["approvalId"]
    assert first != second
    approve(garden, grace, second)
    ok(mover, "fs.move", **args)


def test_a_dry_run_is_not_asked_about_and_gives_no_approval(
    garden: Garden, ada: Session, grace: Session
) -> None:
    tool, args = APPEND
    assert ok(ada, tool, **args, dryRun=True)["meta"]["dryRun"]
    assert garden.decisions.list(grace.caller) == ()


def test_deny_and_the_two_tools_that_are_never_asked(ready_home: Home) -> None:
    with opened(ready_home, '[gateway.permissions]\n"*" = "ask"\n"fs.append" = "deny"\n') as garden:
        ada = garden.session("ada", "companion")
        ok(ada, "tools.list")
        ok(ada, "tools.help", tool="fs.read")
        error = refused(ada, "fs.append", "permission_denied", path=NOTES, text="x")
        assert error["message"] == "Access denied by creator."
        assert asked(ada, "fs.read", {"path": NOTES})["diff"] == ""


def test_a_secret_asks_where_the_settings_say_so(ready_home: Home) -> None:
    token = "ghp_" + "a1B2c3" * 6
    with opened(ready_home, 'secrets = "ask"\n[gateway]\n') as garden:
        ada, grace = garden.session("ada", "companion"), garden.session("ada", "grace", role="reviewer")
        plant(ada, NOTES)
        args = {"path": NOTES, "text": token}
        approve(garden, grace, asked(ada, "fs.append", args)["approvalId"])
        warnings = ok(ada, "fs.append", **args)["meta"]["warnings"]
        assert "text holds a GitHub token." in warnings


def test_an_erasure_ends_what_waits(garden: Garden, ada: Session, grace: Session) -> None:
    tool, args = APPEND
    approval = asked(ada, tool, args)["approvalId"]
    # Nothing but the approval holds the words.
    ok(grace, "garden.erase", text="Slept well.", reason="She asked.")
    now = garden.decisions.find(grace.caller, approval)
    assert (now.state, now.args, now.diff) == ("void", None, None)
    ok(grace, "garden.erase", everything=True, reason="She left.")
    assert garden.decisions.list(grace.caller) == ()


def test_the_sweep_takes_the_words_of_what_expired(garden: Garden, ada: Session, grace: Session) -> None:
    approval = asked(ada, *APPEND)["approvalId"]
    change(garden, "update garden.approvals set asked_at = now() - interval '1 h', expires_at = now()")
    garden.services.maintenance.forget_approvals()
    assert garden.decisions.find(grace.caller, approval).args is None
    change(garden, "update garden.approvals set asked_at = now() - interval '91 days'")
    garden.services.maintenance.forget_approvals()
    assert garden.decisions.list(grace.caller) == ()


def test_one_of_two_racing_calls_uses_an_approval(
    ready_home: Home, garden: Garden, ada: Session, grace: Session
) -> None:
    tool, args = APPEND
    approve(garden, grace, asked(ada, tool, args)["approvalId"])
    with open_garden(ready_home.path) as other:
        sessions = [ada, other.session("ada", "companion")]
        start, answers = threading.Barrier(2), list[dict[str, Any]]()

        def race(number: int) -> None:
            start.wait()
            answers.append(sessions[number].call(tool, {**args, "idempotencyKey": f"key {number}"}))

        threads = [threading.Thread(target=race, args=(number,)) for number in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert sorted(answer["ok"] for answer in answers) == [False, True]
    assert (garden.home.path / NOTES).read_text().count("Slept well.") == 1


def test_a_session_with_a_person_asks_them(garden: Garden, ada: Session, grace: Session) -> None:
    tool, args = APPEND
    questions: list[Any] = []

    def say_no_and_then_yes(details: Mapping[str, Any]) -> bool:
        questions.append(details["diff"])
        return len(questions) > 1

    ada.confirm = say_no_and_then_yes
    refused(ada, tool, "permission_denied", **args)
    ok(ada, tool, **{**args, "text": "Woke early."})
    assert "Woke early." in questions[1]
    assert {each.decided_by for each in garden.decisions.list(grace.caller)} == {"person"}


def test_several_tools_run_in_order_until_the_gate_refuses(ada: Session) -> None:
    read, lost = (
        {"name": "fs.read", "args": {"path": NOTES}},
        {"name": "fs.read", "args": {"path": CRITIC + "x"}},
    )
    done = ada.call_several([read, lost, {"name": "tools.list"}])
    assert [each["ok"] for each in done["results"]] == [True, False, True]
    assert not done["success"]
    stopped = ada.call_several([read, {"name": APPEND[0], "args": APPEND[1]}, read])
    assert (stopped["success"], stopped["denied"], stopped["ran"]) == (False, "fs.append", ["fs.read"])
    assert len(stopped["results"]) == 2
    assert ada.call_several([read])["success"]
    several: list[object] = [[], {}, [read] * 51, [{"args": {}}], [{**read, "more": 1}]]
    for wrong in several:
        with pytest.raises(Exception, match="several calls"):
            ada.call_several(wrong)


def codes_of(answer: Mapping[str, Any]) -> list[str]:
    return ["ok" if each["ok"] else each["error"]["code"] for each in answer["results"]]


def said(garden: Garden) -> list[int]:
    files = [garden.home.path / path for path in (CRITIC, NOTES)]
    return [sum(file.read_text().count(words) for words in ("Says yes", "Slept well.")) for file in files]


def test_a_transaction_runs_once_all_its_calls_are_approved(
    garden: Garden, ada: Session, grace: Session
) -> None:
    asked_first = ada.transaction(CALLS, "turn")
    assert codes_of(asked_first) == ["permission_required"] * 2
    ids = [each["error"]["details"]["approvalId"] for each in asked_first["results"]]
    for number, approval in enumerate(ids):
        assert said(garden) == [0, 0]
        approve(garden, grace, approval)
        if number == 0:
            # What is approved is not used up while another call waits.
            assert codes_of(ada.transaction(CALLS, "turn")) == ["not_run", "permission_required"]
            assert state_of(garden, grace, approval) == "approved"
    assert codes_of(ada.transaction(CALLS, "turn")) == ["ok", "ok"]
    assert said(garden) == [1, 1]
    assert {state_of(garden, grace, approval) for approval in ids} == {"used"}
    again = ada.transaction(CALLS, "turn")
    assert {each["meta"]["replayed"] for each in again["results"]} == {True}
    assert codes_of(ada.transaction(CALLS, "other")) == ["permission_required"] * 2


def test_a_denied_call_refuses_its_transaction(garden: Garden, ada: Session, grace: Session) -> None:
    first, second = (each["error"]["details"]["approvalId"] for each in ada.transaction(CALLS)["results"])
    approve(garden, grace, first)
    garden.decisions.decide(grace.caller, second, "denied")
    assert codes_of(ada.transaction(CALLS)) == ["not_run", "permission_denied"]
    assert said(garden) == [0, 0]
    assert state_of(garden, grace, first) == "approved"


def test_a_transaction_runs_the_plans_that_were_approved(
    garden: Garden, ada: Session, grace: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ada.transaction(CALLS)["results"]:
        approve(garden, grace, each["error"]["details"]["approvalId"])
    store = garden.gates.approvals.store
    take = store.take

    def take_then_edit(user_id: str, marks: Mapping[UUID, bytes]) -> bool:
        taken = take(user_id, marks)
        edit_outside(garden, NOTES, "---\n\n# ", "---\n\n# The ")
        return taken

    monkeypatch.setattr(store, "take", take_then_edit)
    assert codes_of(ada.transaction(CALLS)) == ["not_run", "precondition_failed"]
    assert said(garden) == [0, 0]


def test_an_approval_that_another_process_has_just_used_is_used_by_no_other(
    garden: Garden, ada: Session, grace: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [each["error"]["details"]["approvalId"] for each in ada.transaction(CALLS)["results"]]
    for approval in ids:
        approve(garden, grace, approval)
    store = garden.gates.approvals.store
    take = store.take

    def take_late(user_id: str, marks: Mapping[UUID, bytes]) -> bool:
        first = UUID(ids[0])
        assert take(user_id, {first: marks[first]})
        return take(user_id, marks)

    monkeypatch.setattr(store, "take", take_late)
    assert "ok" not in codes_of(ada.transaction(CALLS))
    assert said(garden) == [0, 0]
    assert [state_of(garden, grace, approval) for approval in ids] == ["used", "approved"]


def test_an_asked_edit_comes_first_in_its_document(garden: Garden, ada: Session, grace: Session) -> None:
    twice = [CALLS[1], {"name": "fs.append", "args": {"path": NOTES, "text": "Woke early."}}]
    assert codes_of(ada.transaction(twice)) == ["not_run", "invalid_input"]
    assert garden.decisions.list(grace.caller) == ()


def test_a_person_at_hand_answers_for_each_call_of_a_transaction(garden: Garden, ada: Session) -> None:
    tools: list[str] = []

    def say_yes(details: Mapping[str, Any]) -> bool:
        tools.append(details["tool"])
        return True

    ada.confirm = say_yes
    assert ada.transaction(CALLS)["success"]
    assert tools == ["md.patch_section", "fs.append"]
    ada.confirm = lambda _: False
    assert codes_of(ada.transaction(CALLS, "other")) == ["permission_denied", "not_run"]
    assert said(garden) == [1, 1]


def test_a_bounded_number_of_calls_may_wait(garden: Garden, ada: Session) -> None:
    approval = asked(ada, *APPEND)["approvalId"]
    change(
        garden,
        "insert into garden.approvals select user_id, gen_random_uuid(), actor, role, tool, "
        "sha256(number::text::bytea), effect_mark, args, diff, state, asked_at, expires_at "
        f"from garden.approvals, generate_series(2, {OPEN_MAX}) as number",
    )
    other = {"path": NOTES, "text": "Woke early."}
    assert "approvals list" in refused(ada, "fs.append", "rate_limited", **other)["hint"]
    assert asked(ada, *APPEND)["approvalId"] == approval
    change(garden, "update garden.approvals set state = 'void'")
    asked(ada, "fs.append", other)


def test_each_call_of_every_way_in_has_one_row(garden: Garden, ada: Session, grace: Session) -> None:
    known = len(calls_now(garden))
    read = {"name": "fs.read", "args": {"path": NOTES}}
    ada.call_several([read, CALLS[1], read])
    ada.archon({"phase": "EXECUTE", "intent": "tool_call", "tools": [read, CALLS[1], read]})
    first = ada.transaction(CALLS)
    ada.transaction([CALLS[0], read])
    for each in first["results"]:
        approve(garden, grace, each["error"]["details"]["approvalId"])
    done = ada.transaction(CALLS)
    rows = calls_now(garden)[known:]
    assert [row["code"] or "ok" for row in rows] == [
        *["ok", "permission_required"] * 2,
        *["permission_required"] * 2,
        *["not_run", "invalid_input"],
        *["ok"] * 2,
    ]
    events = [each["meta"]["eventId"] for each in done["results"]]
    assert [str(row["event_id"]) for row in rows[-2:]] == events
    assert {row["status"] for row in rows[-2:]} == {"success"}
