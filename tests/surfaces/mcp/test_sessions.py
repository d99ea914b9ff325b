"""The count of open sessions, and the choice of the one to end for one more."""

import pytest

from garden.events.records import Caller
from garden.gateway.processes import SharedCounts
from garden.gateway.threads import TooManyCallsError
from garden.surfaces.mcp.sessions import Sessions

ADA, BEN = Caller("ada", "companion"), Caller("ben", "companion")
NEVER = 3600.0


def open_all(sessions: Sessions, owner: Caller, *names: str) -> None:
    for name in names:
        with sessions.count_opening(owner) as name_session:
            name_session(name)


def test_the_session_not_used_for_longest_is_to_end() -> None:
    sessions = Sessions(3, NEVER)
    open_all(sessions, ADA, "first", "second")
    assert sessions.find_one_to_end(ADA) is None
    open_all(sessions, ADA, "third")
    open_all(sessions, BEN, "other")
    with sessions.keep_in_use("first", ADA), sessions.keep_in_use("second", BEN):
        pass
    assert sessions.find_one_to_end(ADA) == "second"
    sessions.forget("second")
    assert sessions.find_one_to_end(ADA) is None


def test_a_session_in_use_or_being_opened_is_not_to_end() -> None:
    sessions = Sessions(2, NEVER)
    open_all(sessions, ADA, "first")
    with sessions.count_opening(ADA):
        assert sessions.find_one_to_end(ADA) == "first"
        with sessions.keep_in_use("first", ADA), pytest.raises(TooManyCallsError):
            sessions.find_one_to_end(ADA)
        assert sessions.find_one_to_end(BEN) is None
    assert sessions.find_one_to_end(ADA) is None


def test_a_caller_whose_sessions_are_all_in_another_process_may_open_one() -> None:
    counts = SharedCounts(2)
    open_all(Sessions(2, NEVER, counts), ADA, "first", "second")
    counts.join(1)
    here = Sessions(2, NEVER, counts)
    assert here.find_one_to_end(ADA) is None
    open_all(here, ADA, "third")
    assert here.find_one_to_end(ADA) == "third"


def test_a_session_silent_for_too_long_is_not_counted() -> None:
    sessions = Sessions(2, idle_seconds_max=0)
    open_all(sessions, ADA, "first")
    with sessions.count_opening(ADA) as second:
        second("second")
        assert sessions.find_one_to_end(ADA) is None
        assert sessions.find_one_to_end(ADA) is None
