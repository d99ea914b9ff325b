"""Whose sessions are open, and which of them has to go for one more."""

import pytest

from garden.access.threads import TooManyCallsError
from garden.events.records import Caller
from garden.surfaces.mcp.sessions import Sessions

ADA, BEN = Caller("ada", "companion"), Caller("ben", "companion")
NEVER = 3600.0


def opened(sessions: Sessions, owner: Caller, *names: str) -> None:
    for name in names:
        with sessions.count_opening(owner) as opened:
            opened(name)


def test_the_session_that_was_not_used_for_longest_is_in_the_way() -> None:
    sessions = Sessions(3, NEVER)
    opened(sessions, ADA, "first", "second")
    assert sessions.find_one_to_end(ADA) is None
    opened(sessions, ADA, "third")
    opened(sessions, BEN, "other")
    with sessions.keep_in_use("first", ADA), sessions.keep_in_use("second", BEN):
        pass
    assert sessions.find_one_to_end(ADA) == "second"
    sessions.forget("second")
    assert sessions.find_one_to_end(ADA) is None


def test_a_session_in_use_or_being_opened_is_not_in_the_way() -> None:
    sessions = Sessions(2, NEVER)
    opened(sessions, ADA, "first")
    with sessions.count_opening(ADA):
        assert sessions.find_one_to_end(ADA) == "first"
        with sessions.keep_in_use("first", ADA), pytest.raises(TooManyCallsError):
            sessions.find_one_to_end(ADA)
        assert sessions.find_one_to_end(BEN) is None
    assert sessions.find_one_to_end(ADA) is None


def test_what_was_silent_for_too_long_counts_no_more() -> None:
    sessions = Sessions(2, idle_seconds_max=0)
    opened(sessions, ADA, "first")
    with sessions.count_opening(ADA) as second:
        second("second")
        assert sessions.find_one_to_end(ADA) is None
        assert sessions.find_one_to_end(ADA) is None
