"""Rate limits, shared by all processes of a home."""

import math
import threading
import time
from typing import Any

from garden.events.call_counts import CallCounts, CallWindow
from garden.gateway.access import Access
from garden.gateway.policies import Rules
from garden.grammar.errors import GardenError
from garden.tools.declaration import Tool

Windows = tuple[CallWindow, ...]

_LEASED_A_MINUTE_MIN = 60
_LEASE_SHARE = 16
_LEASES_MAX = 10_000


class RateLimitedError(GardenError):
    """A limit has let all its calls pass."""

    code = "rate_limited"


class RateLimits:
    """Counts calls against the limits of the rules; a call is counted before it passes.

    Where every limit lets a call a second pass, calls are leased: counted some at a time, for as long as
    their slots last.
    """

    def __init__(self, counts: CallCounts) -> None:
        self._counts = counts
        self._leases: dict[tuple[str, Windows], _Lease] = {}
        self._guard = threading.Lock()

    def take(self, access: Access, rules: Rules, tool: Tool[Any]) -> None:
        """Count a call, or refuse it and say when to come back."""
        windows = rules.windows(tool)
        if windows:
            user_id = access.caller.user_id
            self._lease(user_id, windows).take(self._counts, user_id)

    def _lease(self, user_id: str, windows: Windows) -> "_Lease":
        key = user_id, windows
        if found := self._leases.get(key):
            return found
        with self._guard:
            if len(self._leases) >= _LEASES_MAX:
                del self._leases[next(iter(self._leases))]
            return self._leases.setdefault(key, _Lease(windows))


class _Lease:
    """Calls of one user that were counted in advance against the same limits."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._guard = threading.Lock()
        self._size = self._left = 0
        self._until = 0.0
        self._slots: tuple[int, ...] = ()

    def take(self, counts: CallCounts, user_id: str) -> None:
        """Use one of the calls, or count more."""
        with self._guard:
            if not self._left or time.monotonic() >= self._until:
                self._renew(counts, user_id)
            self._left -= 1

    def _renew(self, counts: CallCounts, user_id: str) -> None:
        unused = self._left
        # As many as were used, or twice as many where all were used before their slot ended.
        wanted = max(1, min(self._size - unused if unused else self._size * 2, _lease_max(self._windows)))
        self._size = self._left = 0
        # Taken before the request, so that the lease ends before its slots.
        asked_at = time.monotonic()
        answer = counts.take(user_id, self._windows, wanted, unused, self._slots)
        self._size = self._left = answer["taken"]
        self._until, self._slots = asked_at + answer["lasts_ms"] / 1000, tuple(answer["slots"])
        if not self._left:
            raise _refusal(self._windows[answer["exhausted"] - 1], answer["retry_ms"])


def _lease_max(windows: Windows) -> int:
    if min(window.most * 60 // window.seconds for window in windows) < _LEASED_A_MINUTE_MIN:
        return 1
    return max(1, min(window.most for window in windows) // _LEASE_SHARE)


def _refusal(window: CallWindow, retry_ms: int) -> RateLimitedError:
    span = "minute" if window.seconds == 60 else "hour"
    return RateLimitedError(
        f"The limit {window.name} lets {window.most} calls a {span} pass, and they are used up.",
        hint=f"Call again in {math.ceil(retry_ms / 1000)} seconds.",
        details={"limit": window.name, "retryAfterMs": retry_ms},
    )
