"""Every system call of a write, and of recovery, is made to fail: one at a time, until a run meets no fault.

    python -m tests.crash.faults [--sort NAME] [--only WORDS] [--sample N] [--seed N] [--prove] [--list]

Each trial has a process and a user of its own. strace kills the process at one of its system calls, or lets
that call fail, once or from then on; then a process to which no fault happens judges what is left. It ends
with 1 where anything was broken, and tells what. It needs strace, and the right to watch another process.
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
from tests.crash.breaking import BREAKAGES
from tests.crash.judging import Seen, hashes_of, texts_before, wrong_with
from tests.crash.sorts import SORTS, Sort
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
from tests.crash.subjects import Subjects, subjects_of
from tests.support.crowd import REPOSITORY
from tests.support.databases import TestServer
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
    """Faults that belong to one trial, and what they are called in the table."""

    kind: str
    faults: tuple[Fault, ...] = ()

    @property
    def is_lasting(self) -> bool:
        return any(fault.lasting for fault in self.faults)

    @property
    def is_of_the_line(self) -> bool:
        """Whether what is said to the database or heard from it meets a fault."""
        return any(fault.call in TALKING for fault in self.faults)

    def __str__(self) -> str:
        first = self.faults[0] if self.faults else None
        return f"{self.kind} at {first.call} {first.number}" if first else self.kind


@dataclass(frozen=True)
class Wish:
    """Which trials are wanted."""

    only: tuple[str, ...] = ()
    sample: int = 1
    seed: int = 0
    breakage: str | None = None
    keep: bool = False

    def wants(self, plan: Plan) -> bool:
        return all(word in str(plan) for word in self.only)


@dataclass
class Told:
    """What became of the trials of one sort."""

    sort: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def trials(self) -> int:
        return self.counts.total()


class Bench:
    """Where trials of one sort take place."""

    def __init__(self, garden: Garden, subjects: Subjects, sort: Sort, wish: Wish, database: str) -> None:
        self._garden = garden
        self._database = database
        self._subjects = subjects
        self._sort = sort
        self._wish = wish
        self._number = 0
        self._chance = random.Random(wish.seed)  # noqa: S311 - it only chooses trials
        self.told = Told(sort.name)

    def run(self) -> Told:
        started = time.monotonic()
        self._order()
        reference = self._tried(Plan(NOTHING)).calls
        for name in dict.fromkeys(call.name for call in reference):
            for kind, what, lasting in kinds_of(name):
                self._until_no_fault(name, kind, what, lasting)
        for plan in (*disk_plans(reference), *database_plans(reference)):
            if self._wish.wants(plan) and self._is_chosen():
                self._tried(plan)
        self.told.seconds = time.monotonic() - started
        return self.told

    def _folder(self) -> Path:
        return self._garden.home.path.parent / "told" / f"u{self._number}"

    def _order(self) -> None:
        """Have the process of the next trial made ready, which takes longer than the trial."""
        self._folder().mkdir(parents=True)
        self._subjects.order(f"u{self._number}", self._folder() / "log", self._wish.breakage)

    def _until_no_fault(self, name: str, kind: str, what: str, lasting: bool) -> None:
        for number in count(1):
            plan = Plan(kind, (Fault(name, number, what, lasting),))
            if not self._wish.wants(Plan(kind, (Fault(name, 0, what, lasting),))):
                return
            if not self._is_chosen():
                continue
            if not self._tried(plan).hits:
                return

    def _is_chosen(self) -> bool:
        return self._chance.randrange(self._wish.sample) == 0

    def _tried(self, plan: Plan) -> Seen:
        user_id, folder = f"u{self._number}", self._folder()
        seen, wrong = self._trial(plan, user_id, folder)
        self.told.counts[plan.kind, seen.outcome if seen.hits or not plan.faults else "not met"] += 1
        if wrong:
            self.told.broken.append(_report(self._sort, plan, seen, wrong, folder))
        home = self._garden.home.path
        for left in (home / "users" / user_id, home / "history" / user_id, folder):
            shutil.rmtree(left, ignore_errors=True)
        return seen

    def _trial(self, plan: Plan, user_id: str, folder: Path) -> tuple[Seen, list[str]]:
        garden, sort = self._garden, self._sort
        sort.before(garden, user_id)
        known = texts_before(garden, user_id)
        with self._subjects.ordered() as subject:
            self._number += 1
            self._order()
            before = subject.handles()
            with attached(subject.pid, folder / "calls", plan.faults) as let_go:
                backends = subject.backends if plan.is_of_the_line else []
                envelopes = [subject.call(sort.ask(user_id), lambda: self._hang_up(backends))]
                if plan.is_lasting and envelopes[0]:
                    envelopes.append(subject.call(sort.ask(user_id)))
                if envelopes[-1]:
                    let_go()
            seen = Seen(
                plan.faults,
                calls_in(folder / "calls"),
                [envelope for envelope in envelopes if envelope],
                was_killed(folder / "calls"),
                known,
                files=hashes_of(garden, user_id),
            )
            if envelopes[-1]:
                seen.handles = before, subject.handles()
            wrong = [*self._locks_left(), *wrong_with(garden, sort, user_id, seen)]
            if not envelopes[-1] and not seen.killed:
                wrong.append("it gave no answer, or went away by itself")
            if envelopes[-1] and not self._wish.breakage:
                survivor = subject.call(sort.next_write(user_id, "the survivor;"))
                wrong += [] if survivor.get("ok") else [f"the survivor can't write any more: {survivor}"]
        return seen, wrong

    def _locks_left(self) -> Iterator[str]:
        """Say whether a lock is held for good; the server may still have to notice that somebody has died."""
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
    """From one moment on the database is away, and nobody can connect to it."""
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
    # The one that is met first stands first, so that a report names it.
    ordered = sorted(names, key=lambda name: name != first)
    return tuple(Fault(name, done[name] + 1, error, lasting=True) for name in ordered)


def _report(sort: Sort, plan: Plan, seen: Seen, wrong: Sequence[str], folder: Path) -> str:
    log = folder / "log"
    said = [f"{sort.name}: {plan}: {seen.outcome}", *(f"  - {each}" for each in wrong)]
    said += [f"    met: {hit.line[:200]}" for hit in seen.hits[:3]]
    said += [f"    said: {str(envelope)[:600]}" for envelope in seen.envelopes]
    if log.exists():
        said += [f"    log: {line}" for line in log.read_text(errors="replace").splitlines()[-30:]]
    return "\n".join(said)


@contextmanager
def bench(root: Path, sort: Sort, wish: Wish) -> Iterator[Bench]:
    server, folder = TestServer(root), root / f"{sort.name}-{wish.breakage}"
    folder.mkdir()
    folder.chmod(0o711)
    with server.database(server.template()) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        with opened(home) as garden, subjects_of(home.path) as subjects:
            yield Bench(garden, subjects, sort, wish, url)


def run_sort(root: Path, name: str, wish: Wish) -> Told:
    with bench(root, SORTS[name], wish) as ready:
        return ready.run()


@contextmanager
def ground() -> Iterator[Path]:
    """A folder for everything, which goes when this process does, and with it the server in it."""
    root = Path(tempfile.mkdtemp(prefix="garden-faults-"))
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


def run(root: Path, names: Sequence[str], wish: Wish, workers: int) -> list[Told]:
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        asked = [pool.submit(run_sort, root, name, wish) for name in names]
        done = []
        for future in as_completed(asked):
            told = future.result()
            print(
                f"{told.sort:<18} {told.trials:>5} trials {told.seconds:>6.0f} s  {len(told.broken)} broken",
                flush=True,
            )
            for each in told.broken:
                print(each, flush=True)
            done.append(told)
        return done


def prove(root: Path, workers: int) -> int:
    """Break the product in each of the ways there are, and see that each is found."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        asked = {
            name: pool.submit(run_sort, root, proof.sort, Wish((proof.faults,), breakage=name))
            for name, proof in BREAKAGES.items()
        }
        missed = 0
        for name, future in asked.items():
            told = future.result()
            missed += not told.broken
            complaint = told.broken[0].splitlines()[1].strip(" -") if told.broken else "NOT FOUND"
            print(f"{name:<26}{len(told.broken):>3} of {told.trials:>3}  {complaint[:110]}", flush=True)
    return 1 if missed else 0


def table(done: Iterable[Told]) -> str:
    """Counts by fault and outcome."""
    counts: Counter[tuple[str, str]] = Counter()
    for told in done:
        counts.update(told.counts)
    outcomes = ("killed", "refused", "in doubt", "answered", "not met")
    lines = [f"{'fault':<24}" + "".join(f"{outcome:>10}" for outcome in outcomes)]
    lines += [
        f"{kind:<24}" + "".join(f"{counts[kind, outcome]:>10}" for outcome in outcomes)
        for kind in dict.fromkeys(kind for kind, _ in counts)
    ]
    return "\n".join(lines)


def main() -> int:
    wanted = _arguments()
    if wanted.list:
        print("\n".join(SORTS))
        return 0
    try:
        program()
    except NoStraceError as error:
        sys.exit(str(error))
    wish = Wish(tuple(wanted.only), wanted.sample, wanted.seed, wanted.breakage)
    started = time.monotonic()
    with ground() as root:
        if wanted.prove:
            return prove(root, wanted.workers)
        done = run(root, wanted.sort or list(SORTS), wish, wanted.workers)
    broken = sum(len(told.broken) for told in done)
    print(table(done))
    print(
        f"{sum(told.trials for told in done)} trials in {time.monotonic() - started:.0f} s, {broken} broken"
    )
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make every system call of a write fail.")
    parser.add_argument("--sort", action="append", choices=SORTS, help="only this sort of write")
    parser.add_argument(
        "--only", action="append", default=[], help="only faults whose names hold this: 'EIO at fsync'"
    )
    parser.add_argument("--sample", type=int, default=1, help="one of so many trials, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--breakage", choices=BREAKAGES, help="break the product in this way")
    parser.add_argument("--prove", action="store_true", help="see that a broken product is found out")
    parser.add_argument("--list", action="store_true", help="name the sorts of writes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
