"""How a garden and its home are doing, from what the database, the disk and the account of calls know."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from garden.events.attempts import Trouble
from garden.events.call_counts import CallCounts, CallWindow
from garden.events.calls import CallFigures
from garden.events.records import Caller
from garden.gateway.access import Access
from garden.gateway.dispatcher import Dispatcher
from garden.gateway.storage import Storage, StorageCounts
from garden.tools.calls import PERIODS
from garden.tools.registry import REGISTRY
from garden.upkeep.job_runs import JobRun, last_runs
from garden.upkeep.tasks import jobs
from garden.writing.callers import Role
from garden.writing.services import Services


@dataclass(frozen=True)
class LimitUse:
    """A rate limit: whose calls it counts, of which tool, and how many of how many it has let pass."""

    actor: str | None
    tool: str | None
    seconds: int
    used: int
    most: int


@dataclass(frozen=True)
class JobState:
    """A background job: how often it should run, and its last run, if it has run."""

    name: str
    every_seconds: int
    last: JobRun | None

    @property
    def is_late(self) -> bool:
        """Whether it has missed three of its runs."""
        if not self.every_seconds or self.last is None:
            return False
        late = timedelta(seconds=3 * self.every_seconds + self.last.seconds)
        return datetime.now(UTC) - self.last.ended_at > late


@dataclass(frozen=True)
class HomeHealth:
    """What is known of the home; it names no user. `facts` are those of `home_facts` and of the disk."""

    jobs: Sequence[JobState]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Health:
    """What is known of a garden and its calls; for a maintainer its home."""

    facts: Mapping[str, Any]
    troubles: Sequence[Trouble]
    storage: Storage | None
    home: HomeHealth | None
    calls: Sequence[CallFigures]
    limits: Sequence[LimitUse]


class HealthReader:
    """Reads how things are, for those who may call `calls.stats`."""

    def __init__(self, services: Services, dispatcher: Dispatcher, counts: CallCounts) -> None:
        self._services, self._counts, self._admit = services, counts, dispatcher.admit
        self._policies = dispatcher.gates.policies
        self._storage = StorageCounts(services.files)
        self.close = self._storage.close

    def read(self, access: Access, period: str) -> Health:
        """Read everything that a caller may know, with the calls of this period."""
        with self._admit(access, "calls.stats", {"period": period}):
            services, user_id = self._services, access.caller.user_id
            stalled = datetime.now(UTC) - timedelta(seconds=services.upkeep.stalled_seconds)
            facts = services.maintenance.facts_of(user_id, stalled)
            return Health(
                facts,
                services.recoveries.troubles(user_id) if facts["open_changes"] else (),
                self._storage.of(user_id),
                self._home() if access.caller.role == Role.MAINTAINER else None,
                services.calls.figures(user_id, PERIODS[period]),
                self._limits(access),
            )

    def _home(self) -> HomeHealth:
        services, runs = self._services, last_runs(self._services.home)
        every = jobs(services.upkeep).values()
        facts = {**services.maintenance.facts(), "free_bytes": services.disk_space.free_bytes}
        facts["floor_bytes"] = services.limits.free_disk_bytes
        return HomeHealth([JobState(job.name, job.every_seconds, runs.get(job.name)) for job in every], facts)

    def _limits(self, access: Access) -> list[LimitUse]:
        """The limits of the caller, and those of other actors that have let calls pass lately."""
        rows = self._counts.in_use(access.caller.user_id)
        used = {(row["key"], row["seconds"]): row["used"] for row in rows}
        others = sorted({key.partition("actor ")[2] for key, _ in used} - {"", access.caller.actor})
        ways = [access, *(Access(Caller(access.caller.user_id, each, Role.AGENT)) for each in others)]
        windows = {(each.key, each.seconds): each for way in ways for each in self._windows(way)}
        found = [_use_of(window, used.get(place, 0)) for place, window in windows.items()]
        shown = (each for each in found if each.used or not each.tool)
        return sorted(shown, key=lambda each: (-each.used / each.most, each.seconds, each.actor or ""))

    def _windows(self, access: Access) -> Iterator[CallWindow]:
        rules = self._policies.rules(access)
        for tool in REGISTRY.values():
            yield from rules.windows(tool)


def _use_of(window: CallWindow, used: int) -> LimitUse:
    of, _, actor = window.key.partition("actor ")
    return LimitUse(actor or None, (of.strip() if actor else None) or None, window.seconds, used, window.most)
