"""Whose sessions are open, and which of them has to go for one more."""

import pytest

from garden.access.threads import TooManyCallsError
from garden.events.records import Caller
from garden.surfaces.mcp.sessions import Sessions

ADA, BEN = Caller("ada", "companion"), Caller("ben", "companion")
NEVER = 3600.0


def opened(sessions: Sessions, owner: Caller, *names: str) -> None:
    for name in names:
        with sessions.opening(owner) as opened:
            opened(name)


def test_the_session_that_was_not_used_for_longest_is_in_the_way() -> None:
    sessions = Sessions(3, NEVER)
    opened(sessions, ADA, "first", "second")
    assert sessions.in_the_way(ADA) is None
    opened(sessions, ADA, "third")
    opened(sessions, BEN, "other")
    with sessions.used("first", ADA), sessions.used("second", BEN):
        pass
    assert sessions.in_the_way(ADA) == "second"
    sessions.ended("second")
    assert sessions.in_the_way(ADA) is None


def test_a_session_in_use_or_being_opened_is_not_in_the_way() -> None:
    sessions = Sessions(2, NEVER)
    opened(sessions, ADA, "first")
    with sessions.opening(ADA):
        assert sessions.in_the_way(ADA) == "first"
        with sessions.used("first", ADA), pytest.raises(TooManyCallsError):
            sessions.in_the_way(ADA)
        assert sessions.in_the_way(BEN) is None
    assert sessions.in_the_way(ADA) is None


def test_what_was_silent_for_too_long_counts_no_more() -> None:
    sessions = Sessions(2, idle_seconds_max=0)
    opened(sessions, ADA, "first")
    with sessions.opening(ADA) as second:
        second("second")
        assert sessions.in_the_way(ADA) is None
        assert sessions.in_the_way(ADA) is None
