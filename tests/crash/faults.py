"""Make every system call of a write and of recovery fail, one at a time, until a run meets no fault.

    python -m tests.crash.faults [--operation NAME] [--only WORDS] [--sample N] [--seed N] [--prove] [--list]

Each trial has its own process and user. strace kills the process at one of its system calls, or makes that
call fail, once or from then on. Then a process without faults checks the result. The program exits with 1 and
names the broken promises. It needs strace, and the right to trace another process.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from pathlib import Path

from garden.application import Garden
from garden.events.database import connection
from garden.home.folder import ensure_home
from tests.crash.fault_breakages import BREAKAGES
from tests.crash.operations import OPERATIONS, Operation
from tests.crash.strace import (
    CHANGING,
    CLOSING,
    FILES,
    KILL,
    TALKING,
    Called,
    Fault,
    NoStraceError,
    attached,
    calls_in,
    program,
    was_killed,
)
from tests.crash.traced_processes import TracedProcesses, traced_processes_of
from tests.crash.trial_checks import Seen, hashes_of, sealed_hashes, texts_before, wrong_with
from tests.support.crowd import REPOSITORY
from tests.support.databases import TestServer
from tests.support.folders import PREFIX, fast_place
from tests.support.planted import opened, put_database

NOTHING = "no fault"
_NOTICING_SECONDS = 10
_LOOK_SECONDS = 0.02
_LOCKS = (
    b"select 1 from pg_locks where locktype = 'advisory' and granted"
    b" and database = (select oid from pg_database where datname = current_database())"
)
_DISK_ERRORS = {"disk gone": (FILES, "EIO"), "disk full": (CHANGING, "ENOSPC")}


@dataclass(frozen=True)
class Plan:
    """The faults of one trial, and their name in the table."""

    kind: str
    faults: tuple[Fault, ...] = ()

    @property
    def is_lasting(self) -> bool:
        return any(fault.lasting for fault in self.faults)

    @property
    def hits_the_connection(self) -> bool:
        """Whether the faults hit the connection to the database."""
        return any(fault.call in TALKING for fault in self.faults)

    def __str__(self) -> str:
        first = self.faults[0] if self.faults else None
        return f"{self.kind} at {first.call} {first.number}" if first else self.kind


@dataclass(frozen=True)
class Selection:
    """Selects the trials to run."""

    only: tuple[str, ...] = ()
    sample: int = 1
    seed: int = 0
    breakage: str | None = None
    keep: bool = False

    def wants(self, plan: Plan) -> bool:
        return all(word in str(plan) for word in self.only)


@dataclass
class TrialCounts:
    """The outcomes of the trials of one operation."""

    operation: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def trials(self) -> int:
        return self.counts.total()


class Trials:
    """Runs the trials of one operation."""

    def __init__(
        self,
        garden: Garden,
        processes: TracedProcesses,
        operation: Operation,
        selection: Selection,
        database: str,
    ) -> None:
        self._garden = garden
        self._database = database
        self._processes = processes
        self._operation = operation
        self._selection = selection
        self._number = 0
        self._chance = random.Random(selection.seed)  # noqa: S311 - it only chooses trials
        self.counted = TrialCounts(operation.name)

    def run(self) -> TrialCounts:
        started = time.monotonic()
        self._order()
        reference = self._tried(Plan(NOTHING)).calls
        for name, calls in Counter(call.name for call in reference).items():
            # A sample leaves out the trials that only show where the calls end.
            numbers = count(1) if self._selection.sample == 1 else range(1, calls + 1)
            for kind, what, lasting in kinds_of(name):
                self._until_no_fault(name, numbers, kind, what, lasting)
        for plan in (*disk_plans(reference), *database_plans(reference)):
            if self._selection.wants(plan) and self._is_chosen():
                self._tried(plan)
        self.counted.seconds = time.monotonic() - started
        return self.counted

    def _folder(self) -> Path:
        return self._garden.home.path.parent / "trials" / f"u{self._number}"

    def _order(self) -> None:
        """Prepare the process of the next trial ahead of time; that takes longer than the trial."""
        self._folder().mkdir(parents=True)
        self._processes.order(f"u{self._number}", self._folder() / "log", self._selection.breakage)

    def _until_no_fault(self, name: str, numbers: Iterable[int], kind: str, what: str, lasting: bool) -> None:
        for number in numbers:
            plan = Plan(kind, (Fault(name, number, what, lasting),))
            if not self._selection.wants(Plan(kind, (Fault(name, 0, what, lasting),))):
                return
            if not self._is_chosen():
                continue
            if not self._tried(plan).hits:
                return

    def _is_chosen(self) -> bool:
        return self._chance.randrange(self._selection.sample) == 0

    def _tried(self, plan: Plan) -> Seen:
        user_id, folder = f"u{self._number}", self._folder()
        seen, wrong = self._trial(plan, user_id, folder)
        self.counted.counts[plan.kind, seen.outcome if seen.hits or not plan.faults else "not met"] += 1
        if wrong:
            self.counted.broken.append(_report(self._operation, plan, seen, wrong, folder))
        home = self._garden.home.path
        for left in (home / "users" / user_id, home / "history" / user_id, folder):
            shutil.rmtree(left, ignore_errors=True)
        return seen

    def _trial(self, plan: Plan, user_id: str, folder: Path) -> tuple[Seen, list[str]]:
        garden, operation = self._garden, self._operation
        operation.before(garden, user_id)
        known = texts_before(garden, user_id)
        with self._processes.ordered() as process:
            self._number += 1
            self._order()
            if operation.tries_plan:
                tool, args = operation.next_write(user_id, "never said")
                process.call((tool, {**args, "dryRun": True}))
            before = process.handles()
            with attached(process.pid, folder / "calls", plan.faults) as let_go:
                backends = process.backends if plan.hits_the_connection else []
                envelopes = [process.call(operation.ask(user_id), lambda: self._hang_up(backends))]
                if plan.is_lasting and envelopes[0]:
                    envelopes.append(process.call(operation.ask(user_id)))
                if envelopes[-1]:
                    let_go()
            seen = Seen(
                plan.faults,
                calls_in(folder / "calls"),
                [envelope for envelope in envelopes if envelope],
                was_killed(folder / "calls"),
                known,
                files=hashes_of(garden, user_id),
                sealed=sealed_hashes(garden, user_id),
            )
            if envelopes[-1]:
                seen.handles = before, process.handles()
            wrong = [*self._locks_left(), *wrong_with(garden, operation, user_id, seen)]
            if not envelopes[-1] and not seen.killed:
                wrong.append("it gave no answer, or went away by itself")
            if envelopes[-1] and not self._selection.breakage:
                # The fault may have hit a connection that is used again only now.
                asked = operation.next_write(user_id, "the survivor;")
                survivor = process.call(asked, lambda: self._hang_up(backends))
                wrong += [] if survivor.get("ok") else [f"the survivor can't write any more: {survivor}"]
        return seen, wrong

    def _locks_left(self) -> Iterator[str]:
        """Report locks that stay held; the server may need a moment to notice that a process died."""
        deadline = time.monotonic() + _NOTICING_SECONDS
        with connection(self._database) as opened:
            while opened.execute(_LOCKS).fetchall():
                if time.monotonic() > deadline:
                    yield "a lock was left behind"
                    return
                time.sleep(_LOOK_SECONDS)

    def _hang_up(self, backends: Sequence[int]) -> None:
        """End what a send that failed would end: libpq waits for the other side to do it."""
        with connection(self._database) as opened:
            opened.execute("select pg_terminate_backend(pid) from unnest(%s::int[]) pid", [backends])


def kinds_of(name: str) -> Iterator[tuple[str, str, bool]]:
    """Name the faults that a system call can meet, and whether they last."""
    yield KILL, KILL, False
    if name in FILES and name not in CLOSING:
        yield from (("EIO", "EIO", False), ("EIO from then on", "EIO", True))
    if name in CHANGING:
        for error in ("ENOSPC", "EDQUOT"):
            yield from ((error, error, False), (f"{error} from then on", error, True))
    if name in CLOSING:
        yield "EIO", "EIO", False
    if name in {"sendto", "recvfrom"}:
        yield from (("ECONNRESET", "ECONNRESET", False), ("EIO", "EIO", False))
    if name in {"poll", "ppoll"}:
        yield "ENOMEM", "ENOMEM", False


def disk_plans(reference: Sequence[Called]) -> Iterator[Plan]:
    """From one moment on no file can be reached any more, or nothing more fits onto the disk."""
    for kind, (names, error) in _DISK_ERRORS.items():
        names = tuple(name for name in names if name not in CLOSING)
        for moment, call in enumerate(reference):
            if call.name in names:
                yield Plan(kind, _from_then_on(reference[:moment], call.name, names, error))


def database_plans(reference: Sequence[Called]) -> Iterator[Plan]:
    """Plans in which the database is gone from one call on and refuses connections."""
    names = ("sendto", "recvfrom")
    for moment, call in enumerate(reference):
        if call.name in names:
            away = Fault("connect", 1, "ECONNREFUSED", lasting=True)
            faults = _from_then_on(reference[:moment], call.name, names, "ECONNRESET")
            yield Plan("database gone", (*faults, away))


def _from_then_on(
    before: Sequence[Called], first: str, names: Iterable[str], error: str
) -> tuple[Fault, ...]:
    done = Counter(call.name for call in before)
    # The fault that is met first comes first, so that a report names it.
    ordered = sorted(names, key=lambda name: name != first)
    return tuple(Fault(name, done[name] + 1, error, lasting=True) for name in ordered)


def _report(operation: Operation, plan: Plan, seen: Seen, wrong: Sequence[str], folder: Path) -> str:
    log = folder / "log"
    said = [f"{operation.name}: {plan}: {seen.outcome}", *(f"  - {each}" for each in wrong)]
    said += [f"    met: {hit.line[:200]}" for hit in seen.hits[:3]]
    said += [f"    said: {str(envelope)[:600]}" for envelope in seen.envelopes]
    if log.exists():
        said += [f"    log: {line}" for line in log.read_text(errors="replace").splitlines()[-30:]]
    return "\n".join(said)


@contextmanager
def prepared_trials(root: Path, operation: Operation, selection: Selection) -> Iterator[Trials]:
    server, folder = TestServer(root), root / f"{operation.name}-{selection.breakage}"
    folder.mkdir()
    folder.chmod(0o711)
    with server.database(server.template()) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        with opened(home) as garden, traced_processes_of(home.path) as processes:
            yield Trials(garden, processes, operation, selection, url)


def run_operation(root: Path, name: str, selection: Selection) -> TrialCounts:
    with prepared_trials(root, OPERATIONS[name], selection) as ready:
        return ready.run()


@contextmanager
def ground() -> Iterator[Path]:
    """Yield a folder; a guardian removes it and stops its server when this process ends."""
    root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}faults-", dir=fast_place()))
    root.chmod(0o711)
    guardian = subprocess.Popen(
        [sys.executable, "-m", "tests.support.guardian", root],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        TestServer(root).template()
        yield root
    finally:
        guardian.communicate()


def run(root: Path, names: Sequence[str], selection: Selection, workers: int) -> list[TrialCounts]:
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        asked = [pool.submit(run_operation, root, name, selection) for name in names]
        done = []
        for future in as_completed(asked):
            counted = future.result()
            print(
                f"{counted.operation:<18} {counted.trials:>5} trials {counted.seconds:>6.0f} s  "
                f"{len(counted.broken)} broken",
                flush=True,
            )
            for each in counted.broken:
                print(each, flush=True)
            done.append(counted)
        return done


def prove(root: Path, workers: int) -> int:
    """Break the product in every known way, and check that each is detected."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        asked = {
            name: pool.submit(run_operation, root, proof.operation, Selection((proof.faults,), breakage=name))
            for name, proof in BREAKAGES.items()
        }
        missed = 0
        for name, future in asked.items():
            counted = future.result()
            missed += not counted.broken
            complaint = counted.broken[0].splitlines()[1].strip(" -") if counted.broken else "NOT DETECTED"
            print(f"{name:<26}{len(counted.broken):>3} of {counted.trials:>3}  {complaint[:110]}", flush=True)
    return 1 if missed else 0


def table(done: Iterable[TrialCounts]) -> str:
    """Format the counts by fault and outcome."""
    counts: Counter[tuple[str, str]] = Counter()
    for counted in done:
        counts.update(counted.counts)
    outcomes = ("killed", "refused", "in doubt", "answered", "not met")
    lines = [f"{'fault':<24}" + "".join(f"{outcome:>10}" for outcome in outcomes)]
    lines += [
        f"{kind:<24}" + "".join(f"{counts[kind, outcome]:>10}" for outcome in outcomes)
        for kind in dict.fromkeys(kind for kind, _ in counts)
    ]
    return "\n".join(lines)


def main() -> int:
    arguments = _arguments()
    if arguments.list:
        print("\n".join(OPERATIONS))
        return 0
    try:
        program()
    except NoStraceError as error:
        sys.exit(str(error))
    selection = Selection(tuple(arguments.only), arguments.sample, arguments.seed, arguments.breakage)
    started = time.monotonic()
    with ground() as root:
        if arguments.prove:
            return prove(root, arguments.workers)
        done = run(root, arguments.operation or list(OPERATIONS), selection, arguments.workers)
    broken = sum(len(counted.broken) for counted in done)
    print(table(done))
    print(
        f"{sum(counted.trials for counted in done)} trials in {time.monotonic() - started:.0f} s, "
        f"{broken} broken"
    )
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make every system call of a write fail.")
    parser.add_argument("--operation", action="append", choices=OPERATIONS, help="run only this operation")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        help="run only faults whose name contains this, such as 'EIO at fsync'",
    )
    parser.add_argument("--sample", type=int, default=1, help="run one of so many trials, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--breakage", choices=BREAKAGES, help="break the product in this way")
    parser.add_argument("--prove", action="store_true", help="check that a broken product is detected")
    parser.add_argument("--list", action="store_true", help="list the operations")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
