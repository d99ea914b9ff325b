"""The processes that may be killed at any moment, and what each does until then.

`_ALL` lists the kinds.
"""

import http.client
import itertools
import json
import os
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from garden.application import Garden, open_garden
from garden.grammar.errors import GardenError
from garden.home.settings import Settings, load_settings
from garden.home.setup import PreparedHome, prepare_home
from garden.serving import Offer, serve
from garden.session import Session
from garden.upkeep.broker import BrokerUnavailableError, translate_errors
from garden.upkeep.jobs import declare, job_broker, queue_name
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.tasks import jobs
from garden.upkeep.worker import work
from tests.crash.editor import Editor
from tests.crash.ledger import Request, WitnessClient
from tests.crash.workload import Workload

# Answers that leave open whether the request was carried out or will be.
UNSURE = frozenset({"unavailable", "in_progress"})
_THREADS = 2
_AGAIN = 0.75
_PAUSE_SECONDS = 0.02

Envelope = Mapping[str, Any]


@dataclass(frozen=True)
class Assignment:
    """What a target works on; its name stays the same over restarts, its `life` does not."""

    name: str
    life: int
    seed: int
    home: str
    witness: str
    port: int
    broker: str
    users: tuple[str, ...]
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Assignment":
        return cls(**{**row, "users": tuple(row["users"]), "tokens": tuple(row["tokens"])})


@dataclass(frozen=True)
class TargetKind:
    """A kind of target; `often` weighs how often it is killed.

    `recovers` marks the kinds that settle changes by themselves; only these run while recovery is awaited.
    `actor` is the name under which its changes are recorded, where that is not its own.
    """

    name: str
    live: Callable[[Assignment], None]
    count: int
    often: int
    recovers: bool = False
    actor: str | None = None


class CutOffError(Exception):
    """The connection broke before the answer."""


class Requester:
    """Sends requests one after the other without end, and reports each to the witness."""

    def __init__(self, assignment: Assignment, send: Callable[[Request], Envelope], thread: int) -> None:
        self._send = send
        self._witness = WitnessClient(assignment.witness, f"{assignment.name}-{thread}")
        self._random = random.Random(f"{assignment.seed} {thread}")  # noqa: S311 - it only chooses
        self._users = assignment.users
        self._workload = Workload(
            assignment.name, assignment.life * _THREADS + thread, assignment.users, assignment.seed + thread
        )

    def live(self) -> None:
        for request in self._witness.unanswered():
            if request.user_id in self._users:
                self._again_or_leave(request)
        while True:
            self._ask(self._workload.draw())

    def _again_or_leave(self, request: Request) -> None:
        if self._random.random() < _AGAIN:
            self._ask(request)
        else:
            self._witness.left(request)

    def _ask(self, request: Request) -> None:
        while not answered(self._witness, request, self._send):
            if self._random.random() > _AGAIN:
                self._witness.left(request)
                return
            time.sleep(_PAUSE_SECONDS * self._random.random())


def answered(witness: WitnessClient, request: Request, send: Callable[[Request], Envelope]) -> bool:
    """Send a request and report it before and after; return whether its outcome is known."""
    witness.asked(request)
    try:
        answer = send(request)
    except CutOffError:
        return False
    if answer["ok"]:
        witness.acknowledged(request, {"result": answer["result"], "meta": answer["meta"]})
    elif answer["error"]["code"] in UNSURE:
        return False
    else:
        witness.refused(request, answer["error"])
    return True


def write(assignment: Assignment) -> None:
    """Write like an application that opens the garden in its own process."""
    with _opened(assignment) as garden:
        sessions = {
            user: garden.session(user, assignment.name, role="maintainer") for user in assignment.users
        }
        _ask_without_end(assignment, lambda: sender(sessions))


def sender(sessions: Mapping[str, Session]) -> Callable[[Request], Envelope]:
    """Return a function that calls the garden in this process."""
    return lambda request: sessions[request.user_id].call(request.tool, request.args)


def call(assignment: Assignment) -> None:
    """Write over HTTP, through a service that may be killed too."""
    _ask_without_end(assignment, lambda: _Caller(assignment).send)


class _Caller:
    def __init__(self, assignment: Assignment) -> None:
        self._secrets = dict(zip(assignment.users, assignment.tokens, strict=True))
        self._line = http.client.HTTPConnection("127.0.0.1", assignment.port, timeout=60)

    def send(self, request: Request) -> Envelope:
        headers = {
            "Authorization": f"Bearer {self._secrets[request.user_id]}",
            "Content-Type": "application/json",
        }
        try:
            self._line.request("POST", f"/v1/tools/{request.tool}", json.dumps(request.args), headers)
            answer: Envelope = json.loads(self._line.getresponse().read())
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            self._line.close()
            raise CutOffError from None
        return answer


def listen(assignment: Assignment) -> None:
    """Serve the garden like `garden serve`, and start again while the database is away."""
    while True:
        try:
            offer = Offer("127.0.0.1", assignment.port, processes=1)
            return serve(partial(_prepare, assignment), offer, lambda *_: None)
        except GardenError as error:
            _unless_away(error)


def bring_in_order(assignment: Assignment) -> None:
    """Reconcile again and again."""
    with _opened(assignment) as garden:
        while True:
            try:
                for _ in reconcile(garden.services, assignment.users):
                    pass
            except GardenError as error:
                _unless_away(error)
            time.sleep(_PAUSE_SECONDS)


def do_jobs(assignment: Assignment) -> None:
    """Run jobs by message and by timer, like `garden worker`."""
    with _opened(assignment) as garden:
        work(garden.services, garden.home, assignment.broker, _THREADS, lambda: None)


def send_jobs(assignment: Assignment) -> None:
    """Send the messages of all jobs without end."""
    with _opened(assignment) as garden:
        chosen = jobs(garden.settings.upkeep).values()
        actors = declare(job_broker(assignment.broker), queue_name(garden.home), chosen, lambda _job: None)
        while True:
            for actor in actors:
                # On a busy machine the broker may answer too late.
                with suppress(BrokerUnavailableError), translate_errors(assignment.broker):
                    actor.send()
            time.sleep(_PAUSE_SECONDS)


def edit_by_hand(assignment: Assignment) -> None:
    """Edit files by hand, one after the other."""
    witness = WitnessClient(assignment.witness, assignment.name)
    chosen = random.Random(assignment.seed)  # noqa: S311 - it only chooses
    editor = Editor(Path(assignment.home), assignment.users, witness, assignment.name, assignment.seed)
    for number in itertools.count(1):
        editor.edit(f"{assignment.name}-{assignment.life}-{number}")
        # A person is slower than a program.
        time.sleep(0.2 * chosen.random())


def _opened(assignment: Assignment) -> Garden:
    while True:
        try:
            return open_garden(assignment.home)
        except GardenError as error:
            _unless_away(error)


def _prepare(assignment: Assignment) -> tuple[Settings, PreparedHome]:
    settings = load_settings(Path(assignment.home)).settings
    return settings, prepare_home(settings)


def _unless_away(error: GardenError) -> None:
    """Wait a moment where the database is away; raise any other error."""
    if error.code not in UNSURE:
        raise error
    time.sleep(_PAUSE_SECONDS)


def _ask_without_end(assignment: Assignment, sender: Callable[[], Callable[[Request], Envelope]]) -> None:
    threads = [
        threading.Thread(target=_asking, args=(Requester(assignment, sender(), thread),))
        for thread in range(_THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _asking(requester: Requester) -> None:
    try:
        requester.live()
    except BaseException:  # noqa: BLE001 - one failed thread ends the process
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


_ALL: Sequence[TargetKind] = (
    TargetKind("writer", write, count=3, often=4),
    TargetKind("service", listen, count=1, often=3, actor="caller"),
    TargetKind("caller", call, count=2, often=1),
    TargetKind("reconciler", bring_in_order, count=1, often=2, recovers=True),
    TargetKind("worker", do_jobs, count=1, often=2, recovers=True),
    TargetKind("messenger", send_jobs, count=1, often=1),
    TargetKind("editor", edit_by_hand, count=1, often=1),
)
KINDS: Mapping[str, TargetKind] = {kind.name: kind for kind in _ALL}
