"""A garden home in which processes work and are killed, and the figures of their recovery."""

import itertools
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from garden.application import Garden
from garden.home.folder import Home
from garden.upkeep.jobs import queue_name
from garden.upkeep.status import status_of_user
from tests.crash.judge import judge
from tests.crash.ledger import Ledger, WitnessClient, run_witness
from tests.crash.process_starter import ProcessStarter, process_starter
from tests.crash.targets import KINDS, Assignment, TargetKind, answered, sender
from tests.crash.workload import PLANTED
from tests.support.brokers import real_broker
from tests.support.planted import ok, opened
from tests.support.ports import free_port
from tests.support.waiting import until

USERS = 4
RECOVERY_SECONDS = 60
_LOOK_SECONDS = 0.01
_SETTLING_SECONDS = 0.5
_ACKNOWLEDGED = b'"acknowledged"'


@dataclass
class Figures:
    """Counts, and the broken promises."""

    kills: Counter[str] = field(default_factory=Counter)
    outages: int = 0
    asked: int = 0
    acknowledged: int = 0
    refused: int = 0
    by_hand: int = 0
    stalled: int = 0
    recovered: int = 0
    longest_seconds: float = 0.0
    longest_alone_seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def progress(self) -> str:
        """Format the progress in one line."""
        return (
            f"{self.kills.total()} kills, {self.outages} outages, {self.acknowledged} acknowledged, "
            f"{len(self.faults)} broken promises"
        )

    def lines(self) -> list[str]:
        kinds = ", ".join(f"{count} {name}" for name, count in sorted(self.kills.items()))
        return [
            f"kills: {self.kills.total()} ({kinds})" if self.kills else "kills: 0",
            f"outages: {self.outages}",
            f"requests: {self.asked} sent, {self.acknowledged} acknowledged, {self.refused} refused; "
            f"{self.by_hand} edits by hand",
            f"sagas left open: {self.stalled}, of which {self.recovered} were settled; "
            f"the longest took {self.longest_seconds:.2f} s, "
            f"and recovery alone at most {self.longest_alone_seconds:.2f} s",
            f"broken promises: {len(self.faults)}",
            *self.faults,
        ]


@dataclass
class Target:
    """A process that may be killed, and is started again under the same name."""

    kind: TargetKind
    name: str
    pid: int = 0


class LoadedGarden:
    """Targets that work in one garden; the campaign chooses which to kill."""

    def __init__(
        self,
        home: Home,
        garden: Garden,
        process_starter: ProcessStarter,
        witness: tuple[str, Path],
        broker: str,
        seed: int,
    ) -> None:
        self.garden = garden
        self.figures = Figures()
        self.patience_seconds = RECOVERY_SECONDS
        self.targets: list[Target] = []
        self._home, self._starter = home, process_starter
        self._witness, self._ledger = witness
        self._port = free_port()
        self._broker = broker
        self._processes, self._seasons = itertools.count(seed * 1_000_000), itertools.count()
        self._users: tuple[str, ...] = ()
        self._tokens: tuple[str, ...] = ()
        self._open: dict[UUID, float] = {}

    @property
    def users(self) -> tuple[str, ...]:
        """The users whose gardens are in use now."""
        return self._users

    def begin(self, kinds: Sequence[TargetKind]) -> None:
        """Start these kinds for new users, so that no document grows without end."""
        self._settle_new_users()
        known = self._ledger.stat().st_size
        self.enlist(kinds)
        # A kill before the first acknowledged change proves nothing.
        until(lambda: _ACKNOWLEDGED in self._ledger.read_bytes()[known:])
        self.watch(_SETTLING_SECONDS)

    def recover_and_judge(self) -> None:
        """Wait for recovery and compare with the ledger; then send unanswered requests again and compare."""
        self.recover()
        self.judge()
        self.send_again()
        self.judge()

    def _settle_new_users(self) -> None:
        season = next(self._seasons)
        self._users = tuple(f"user{season}-{number}" for number in range(USERS))
        issue = self.garden.tokens.create
        self._tokens = tuple(
            issue(user, role="maintainer", actor="caller", expires_at=None).secret for user in self._users
        )
        for user in self._users:
            for path in PLANTED:
                ok(self.garden.session(user).call("md.plant", {"path": f"users/{user}/{path}"}))

    def enlist(self, kinds: Sequence[TargetKind]) -> None:
        """Start all targets of these kinds."""
        self.targets = [
            Target(kind, f"{kind.name}{number}") for kind in kinds for number in range(kind.count)
        ]
        for target in self.targets:
            self.start(target)

    def start(self, target: Target) -> None:
        life = next(self._processes)
        assignment = Assignment(
            target.name,
            life,
            life,
            str(self._home.path),
            self._witness,
            self._port,
            self._broker,
            self._users,
            self._tokens,
        )
        target.pid = self._starter.start(target.kind.name, assignment)

    def kill(self, targets: Sequence[Target]) -> None:
        """Kill targets at once, count them, and remember the changes they left open."""
        moment = time.monotonic()
        lived = self._starter.kill([target.pid for target in targets])
        for target, alive in zip(targets, lived, strict=True):
            self.figures.kills[target.kind.name] += 1
            if not alive:
                self.figures.faults.append(f"{target.name} ended by itself: see {self._starter.log}")
        dead = {target.kind.actor or target.name for target in targets}
        self.remember_open(moment, dead)

    def remember_open(self, moment: float, actors: Collection[str] | None = None) -> None:
        """Remember the changes of these actors, or of all, that are open since this moment."""
        for event_id in self._stalled(actors) - self._open.keys():
            self._open[event_id] = moment
            self.figures.stalled += 1

    def watch(self, seconds: float) -> None:
        """Let the targets work for a while, and note which open changes are settled."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            self.look()
            time.sleep(min(left, _LOOK_SECONDS))

    def look(self) -> None:
        """Note which of the open changes are settled."""
        if not self._open:
            return
        still = {event_id for _, event_id in self._sagas()}
        now = time.monotonic()
        for event_id in self._open.keys() - still:
            self.figures.longest_seconds = max(self.figures.longest_seconds, now - self._open.pop(event_id))
            self.figures.recovered += 1

    def retire(self) -> None:
        """Kill all targets at the same moment."""
        self.kill(self.targets)
        self.targets = []

    def recover(self) -> None:
        """Run only the targets that settle changes, until all is in order or time is up."""
        begun = time.monotonic()
        self.enlist([kind for kind in KINDS.values() if kind.recovers])
        while not self.in_order():
            self.look()
            if time.monotonic() - begun > self.patience_seconds:
                self.figures.faults += self._out_of_order()
                break
            time.sleep(_LOOK_SECONDS)
        self.look()
        self.figures.longest_alone_seconds = max(self.figures.longest_alone_seconds, time.monotonic() - begun)
        self._starter.kill([target.pid for target in self.targets])
        self.targets = []

    def send_again(self) -> None:
        """Send unanswered requests again, long after their senders died."""
        sessions = {user: self.garden.session(user, "again", role="maintainer") for user in self._users}
        with WitnessClient(self._witness, "again") as witness:
            for told in Ledger.read(self._ledger).unanswered():
                if told.request.user_id in sessions:
                    answered(witness, told.request, sender(sessions))

    def judge(self) -> None:
        """Compare the ledger with files, history and events, for the present users."""
        told = Ledger.read(self._ledger)
        for user in self._users:
            self.figures.faults += judge(self.garden, user, told)
        self.figures.asked, self.figures.by_hand = len(told.told), told.counts["saved"]
        self.figures.acknowledged = sum(each.acknowledged for each in told.told.values())
        self.figures.refused = sum(each.refusal is not None for each in told.told.values())

    def in_order(self) -> bool:
        return not list(self._sagas()) and not self._out_of_order()

    def _out_of_order(self) -> list[str]:
        wrong = [
            f"{status.path}: still {status.state} after {self.patience_seconds} s: {status.message}"
            for user in self._users
            for status in status_of_user(self.garden.services, user)
            if not status.in_step
        ]
        strays = [path.name for path in self._home.path.rglob(".new-*")]
        return [*wrong, *(f"{name}: still there after {self.patience_seconds} s" for name in strays)]

    def _sagas(self) -> Iterator[tuple[str, UUID]]:
        for user in self._users:
            with self.garden.services.reader.snapshot(user) as snapshot:
                heads = snapshot.fetch("heads", {})
            yield from ((user, row["open_event_id"]) for row in heads if row["open_event_id"])

    def _stalled(self, actors: Collection[str] | None) -> set[UUID]:
        read = self.garden.services.reader.event
        found = [read(user, event_id) for user, event_id in self._sagas()]
        return {
            event.event_id for event in found if event and (actors is None or event.caller.actor in actors)
        }


@contextmanager
def loaded_garden(home: Home, seed: int, breakage: str | None = None) -> Iterator[LoadedGarden]:
    """Open a loaded garden, with its process starter, witness and broker."""
    folder = home.path.parent
    # Every process settles stalled changes at once, the service and the worker too.
    with (home.path / "garden.toml").open("a") as settings:
        settings.write("[upkeep]\nsweep_seconds = 1\nstalled_seconds = 0\nadopt_seconds = 1\n")
    with (
        opened(home) as garden,
        run_witness(folder) as witness,
        real_broker("redis", folder, queue_name(home)) as broker,
        process_starter(folder / "targets.log", breakage) as targets,
    ):
        yield LoadedGarden(home, garden, targets, witness, broker.url, seed)
