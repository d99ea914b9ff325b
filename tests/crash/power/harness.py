"""Tries power failures: builds the state one leaves, has the service settle it, and checks promises."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from unittest import mock

from garden.application import Garden
from garden.events.saga import Status
from garden.grammar.errors import GardenError
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.status import DocumentStatus, status_of_user
from tests.crash.power.disk import (
    Choice,
    Image,
    choices,
    clear,
    image_of,
    named_alike,
    put_on_disk,
    renamed,
    same_shape,
    scanned,
    told,
)
from tests.crash.power.effects import Effect, What, database_steps
from tests.crash.power.operations import BrokenError, Operation, at, prepare
from tests.crash.power.processes import RECONCILE, Asked, Job, Processes, ProcessRun, date_ahead
from tests.support.promises import ADOPTED, broken_promises
from tests.support.promises import told as told_of
from tests.support.waiting import until

RECOVERIES = ("reconcile", "the next", "the same")
# The caller after an interrupted writer, which may be interrupted too.
COMES = ("the same", "reconcile")
# One sequence for all harnesses of a process: two may use one garden, one after the other.
_NUMBERS = count()


@dataclass(frozen=True)
class First:
    """What happened to a write before the process that is watched: it was killed before a step.

    With `choice` the power failed then, and this is what was found; without, only the process died.
    """

    step: int
    choice: Choice | None = None


@dataclass(frozen=True)
class Scenario:
    """An operation, and what is recorded: the write itself, or the next caller after an interruption."""

    operation: Operation
    first: First | None = None
    comes: str = ""

    @property
    def name(self) -> str:
        if self.first is None:
            return self.operation.name
        cut = "power failure" if self.first.choice is not None else "kill"
        return f"{self.operation.name}, {cut} before step {self.first.step}, then {self.comes}"

    def calls(self, user: str) -> list[Asked]:
        requests = [request.asked(user) for request in self.operation.requests]
        if self.first is None or self.comes == "the same":
            return requests
        return [(RECONCILE, {})]


@dataclass(frozen=True)
class Failure:
    """A power failure before a step; `kept` of the database steps survive."""

    step: int
    kept: int
    choice: Choice


@dataclass
class Tried:
    """The outcome of a scenario."""

    scenario: str
    steps: int = 0
    states: int = 0
    tries: int = 0
    broken: list[str] = field(default_factory=list)
    places: Counter[str] = field(default_factory=Counter)


@dataclass
class Ground:
    """A user's files before the watched process, and what was done to them without being synced.

    `answers` are the requests acknowledged so far, `numbers` the labels that new files have used up.
    """

    base: Image
    labels: dict[int, str]
    pending: list[Effect] = field(default_factory=list)
    numbers: int = 0
    answers: int = 0


@dataclass(frozen=True)
class Template:
    """An undisturbed run to compare killed ones with; `effects` begin with the pending ones."""

    user: str
    base: Image
    effects: list[Effect]
    begin: int

    def failures(self) -> Iterator[Failure]:
        """Yield every distinct state that a power failure may leave."""
        seen = set()
        for step in range(self.begin, len(self.effects) + 1):
            done = self.effects[:step]
            answers = sum(effect.what is What.ANSWER for effect in done)
            for kept in _kept(done[self.begin :]):
                for choice in choices(done):
                    state = (kept, answers, image_of(self.base, done, choice).reachable())
                    if state not in seen:
                        seen.add(state)
                        yield Failure(step, kept, choice)


class Harness:
    """Tries scenarios on one garden, with one user per state."""

    def __init__(self, garden: Garden, processes: Processes, *, left_out: str | None = None) -> None:
        date_ahead(garden)
        self._garden = garden
        self._processes = processes
        self._left_out = left_out

    def recorded(self, scenario: Scenario) -> Template:
        """Record an undisturbed run."""
        with self._user() as user:
            ground = self._ground(user, scenario)
            life = self._lived(user, scenario, ground, None)
            if life.ended != "exit 0" or not all(envelope["ok"] for envelope in life.envelopes):
                raise BrokenError(f"undisturbed: {life.ended}, {life.envelopes}")
            return Template(user, ground.base, [*ground.pending, *life.effects], len(ground.pending))

    def reaches(self, scenario: Scenario) -> bool:
        """Whether the scenario's first process reaches the step at which it is killed."""
        return scenario.first is None or scenario.first.step < len(
            self.recorded(Scenario(scenario.operation)).effects
        )

    def scenarios(self, operation: Operation, *, losses: bool = True) -> Iterator[Scenario]:
        """Yield an operation by itself, then every way to interrupt it before another request comes."""
        yield Scenario(operation)
        whole = self.recorded(Scenario(operation))
        kills = [First(step) for step in range(1, len(whole.effects))]
        lost = [
            First(failure.step, failure.choice)
            for failure in whole.failures()
            if 0 < failure.step < len(whole.effects)
            and failure.kept == len(database_steps(whole.effects[: failure.step]))
        ]
        for first in [*kills, *(lost if losses else [])]:
            for comes in COMES:
                yield Scenario(operation, first, comes)

    def tried(
        self,
        scenario: Scenario,
        *,
        every: int = 1,
        recoveries: Sequence[str] = RECOVERIES,
        all_recoveries: bool = True,
        stop_after: int = 10**9,
    ) -> Tried:
        """Try all states of a scenario or every n-th, with all recoveries or one."""
        result = Tried(scenario.name)
        try:
            template = self.recorded(scenario)
        except BrokenError as error:
            result.broken.append(str(error))
            return result
        result.steps = len(template.effects) - template.begin
        result.places.update(effect.place for effect in template.effects if effect.what is What.SYNC)
        for number, failure in enumerate(template.failures()):
            if number % every:
                continue
            result.states += 1
            chosen = recoveries if all_recoveries else (recoveries[result.states % len(recoveries)],)
            for recovery in chosen:
                result.tries += 1
                said = self._broken(scenario, template, failure, recovery)
                if said:
                    result.broken.append(f"{_where(failure, template)}; {recovery}: {said}")
            if len(result.broken) >= stop_after:
                break
        return result

    @contextmanager
    def _user(self) -> Iterator[str]:
        user = f"u{next(_NUMBERS):06}"
        try:
            yield user
        finally:
            clear(self._garden.home.path, user)

    def _ground(self, user: str, scenario: Scenario) -> Ground:
        home, first = self._garden.home.path, scenario.first
        prepare(self._garden, user, scenario.operation)
        base, labels = scanned(home, user)
        if first is None:
            return Ground(base, labels)
        requests = [request.asked(user) for request in scenario.operation.requests]
        life = self._live(Job(user, requests, labels, first.step, self._left_out, scenario.operation.unable))
        assert life.ended == "killed", life
        numbers = sum(effect.number > 0 for effect in life.effects)
        answers = sum(effect.what is What.ANSWER for effect in life.effects)
        if first.choice is None:
            labels |= {effect.number: effect.node for effect in life.effects if effect.number}
            return Ground(base, labels, life.effects, numbers, answers)
        base = image_of(base, life.effects, first.choice)
        return Ground(base, put_on_disk(home, user, base), [], numbers, answers)

    def _lived(self, user: str, scenario: Scenario, ground: Ground, dies_before: int | None) -> ProcessRun:
        job = Job(
            user,
            scenario.calls(user),
            ground.labels,
            dies_before,
            self._left_out,
            scenario.operation.unable,
            ground.numbers,
        )
        return self._live(job)

    def _live(self, job: Job) -> ProcessRun:
        """Let a process live, and its server sessions: they finish what it sent before it was killed."""
        before = self._sessions()
        life = self._processes.live(job)
        until(lambda: self._sessions() <= before)
        return life

    def _sessions(self) -> set[int]:
        with self._garden.services.reader._pool.connection() as asking:
            # This process may open more of its own meanwhile, for its account of calls.
            rows = asking.execute(
                "select pid from pg_stat_activity where datname = current_database()"
                " and application_name <> current_setting('application_name')"
            )
            return {row["pid"] for row in rows}

    def _broken(self, scenario: Scenario, template: Template, failure: Failure, recovery: str) -> str:
        with self._user() as user:
            try:
                acknowledged = self._fail(user, scenario, template, failure)
                check(self._garden, user, scenario.operation, acknowledged, recovery)
            except (BrokenError, GardenError) as error:
                return f"{type(error).__name__}: {error}"
        return ""

    def _fail(self, user: str, scenario: Scenario, template: Template, failure: Failure) -> int:
        """Bring a user's files and account to the state; gives how many requests were acknowledged.

        The process is killed where the last step that the database kept has been taken, so that the account
        is what it would be. What the process went on to do to files is taken from the undisturbed run.
        """
        whole, begin = template.effects, template.begin
        ground = self._ground(user, scenario)
        steps = [index for index in database_steps(whole[: failure.step]) if index >= begin]
        dies = failure.step if failure.kept == len(steps) else steps[failure.kept]
        life = self._lived(user, scenario, ground, dies - begin)
        own = [*ground.pending, *life.effects]
        different = same_shape(own, whole)
        if life.ended != ("exit 0" if dies == len(whole) else "killed") or different or len(own) != dies:
            raise AssertionError(
                f"{scenario.name}, {_where(failure, template)}: two runs of one request differ: "
                f"{life.ended}, {different}, {[str(each) for each in own]}, {[str(each) for each in whole]}"
            )
        names = named_alike((template.base, whole), (ground.base, own))
        users = (template.user.encode(), user.encode())
        later = [renamed(effect, names, users) for effect in whole[dies : failure.step]]
        put_on_disk(self._garden.home.path, user, image_of(ground.base, [*own, *later], failure.choice))
        answers = [effect.name for effect in whole[begin : failure.step] if effect.what is What.ANSWER]
        return max(ground.answers, sum(name != RECONCILE for name in answers))


def _kept(done: Sequence[Effect]) -> range:
    """Yield how many database steps may survive: those confirmed, and one more where it was sent."""
    confirmed = sum(effect.what is What.CONFIRMED for effect in done)
    return range(confirmed, len(database_steps(done)) + 1)


def _where(failure: Failure, template: Template) -> str:
    whole = template.effects
    before = str(whole[failure.step]) if failure.step < len(whole) else "the end"
    found = told(failure.choice, whole) or "all is there"
    return f"before step {failure.step} ({before}), {failure.kept} database steps kept; {found}"


def check(garden: Garden, user: str, operation: Operation, acknowledged: int, recovery: str) -> None:
    """Recover, send everything again, and raise where a promise is broken."""
    session = garden.session(user, "companion", role="maintainer")
    before: list[int] | None = None
    # What was acknowledged is on the disk; only a change on its way may need its file or copy made again.
    may_remake = acknowledged < len(operation.requests)
    if not may_remake:
        for status in status_of_user(garden.services, user):
            _expect_in_step(status)
    if recovery != "the same":
        _recovered(garden, user, operation, recovery, may_remake=may_remake)
        before = [request.seen(garden, user) for request in operation.requests]
        for number, times in enumerate(before):
            if times > 1 or (number < acknowledged and times != 1):
                raise BrokenError(
                    f"request {number} was found {times} times, {acknowledged} were acknowledged"
                )
        _hold(garden, user, operation)
    for number, request in enumerate(operation.requests):
        again = session.call(*request.asked(user))
        if not again["ok"]:
            raise BrokenError(f"sent again, request {number} is refused: {again['error']}")
        known = before[number] if before else number < acknowledged
        if known and request.answers_again and not again["meta"].get("replayed"):
            raise BrokenError(f"sent again, request {number} is done again: {again}")
    for number, request in enumerate(operation.requests):
        # Events from before a move are listed at the old path.
        if number == len(operation.requests) - 1 and request.seen(garden, user) != 1:
            raise BrokenError(f"sent again, request {number} is not there once")
    # This also removes strays beside documents that no caller opened.
    _reconciled(garden, user, may_remake=may_remake)
    _hold(garden, user, operation)


def _recovered(garden: Garden, user: str, operation: Operation, recovery: str, *, may_remake: bool) -> None:
    if recovery == "the next":
        tool, args = operation.next_comes(user)
        envelope = garden.session(user, "other", role="maintainer").call(tool, args)
        expected = {"precondition_failed", "not_found", "already_exists"} if args.get("ifMatch") else set()
        if not envelope["ok"] and envelope["error"]["code"] not in expected:
            raise BrokenError(f"the next is refused: {envelope['error']}")
    # The next caller settles only its own document.
    _reconciled(garden, user, may_remake=may_remake)


def _reconciled(garden: Garden, user: str, *, may_remake: bool) -> None:
    # A reconciler leaves recent attempts of another alone; here that time is over.
    with mock.patch("garden.events.attempts.PAUSE_SECONDS", 0):
        reconciled = list(reconcile(garden.services, [user]))
    for each in reconciled:
        if not each.is_well or (each.outcome == "made again" and not may_remake):
            raise BrokenError(f"{each.path} could not be reconciled: {each.outcome}, {each.message}")


def _expect_in_step(status: DocumentStatus) -> None:
    if not status.in_step:
        raise BrokenError(f"{status.path} is {status.state}: {status.message}")


def _hold(garden: Garden, user: str, operation: Operation) -> None:
    for status in status_of_user(garden.services, user):
        _expect_in_step(status)
        events = told_of(garden, status.path, user).events
        if any(event.statement.type == ADOPTED for event in events):
            raise BrokenError(f"{status.path}: what the disk lost was taken for an edit from outside")
        errors = [event.error["code"] for event in events if event.status is Status.FAILED and event.error]
        if set(errors) - {"stalled_before_write"}:
            raise BrokenError(f"{status.path}: a change failed for {errors}")
    for wrong in broken_promises(garden, user, spare_copies=operation.spare_copies):
        raise BrokenError(wrong)
    for path, words in operation.earlier:
        file = garden.home.path / at(user, path)
        if not file.exists() or words not in file.read_text():
            raise BrokenError(f"{path} has lost what was said earlier")
