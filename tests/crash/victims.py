"""Those who may be killed at any moment: what each does until then.

A kind of victim is a name, what it does without end, how many of it there are, and how often it is chosen.
One more kind is one more line in `_ALL`.
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
from pathlib import Path
from typing import Any

from garden.application import Garden, open_garden
from garden.grammar.errors import GardenError
from garden.serving import Address, serve
from garden.session import Session
from garden.upkeep.broker import BrokerUnavailableError, translate_errors
from garden.upkeep.jobs import declare, job_broker, queue_name
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.tasks import jobs
from garden.upkeep.worker import work
from tests.crash.editing import Editor
from tests.crash.ledger import Confidant, Wish
from tests.crash.wishes import Wishes

# Answers after which nobody knows whether the request was carried out, or will be.
UNSURE = frozenset({"unavailable", "in_progress"})
_THREADS = 2
_AGAIN = 0.75
_PAUSE_SECONDS = 0.02

Envelope = Mapping[str, Any]


@dataclass(frozen=True)
class Post:
    """Where a victim does its work, and as whom: its name stays, every start is a life of its own."""

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
    def of(cls, row: Mapping[str, Any]) -> "Post":
        return cls(**{**row, "users": tuple(row["users"]), "tokens": tuple(row["tokens"])})


@dataclass(frozen=True)
class Kind:
    """A kind of victim; `often` is how often it is chosen, beside the others.

    `recovers` says that it works without being asked to: it is all there is while recovery is awaited.
    `actor` is by whose name its changes are recorded, where that is not its own.
    """

    name: str
    live: Callable[[Post], None]
    count: int
    often: int
    recovers: bool = False
    actor: str | None = None


class CutOffError(Exception):
    """No answer came."""


class Asker:
    """Asks for things without end, one after the other, and tells the witness of each."""

    def __init__(self, post: Post, send: Callable[[Wish], Envelope], thread: int) -> None:
        self._send = send
        self._witness = Confidant(post.witness, f"{post.name}-{thread}")
        self._random = random.Random(f"{post.seed} {thread}")  # noqa: S311 - it only chooses
        self._users = post.users
        self._wishes = Wishes(post.name, post.life * _THREADS + thread, post.users, post.seed + thread)

    def live(self) -> None:
        for wish in self._witness.unheard():
            if wish.user_id in self._users:
                self._again_or_leave(wish)
        while True:
            self._ask(self._wishes.draw())

    def _again_or_leave(self, wish: Wish) -> None:
        if self._random.random() < _AGAIN:
            self._ask(wish)
        else:
            self._witness.left(wish)

    def _ask(self, wish: Wish) -> None:
        while not answered(self._witness, wish, self._send):
            if self._random.random() > _AGAIN:
                self._witness.left(wish)
                return
            time.sleep(_PAUSE_SECONDS * self._random.random())


def answered(witness: Confidant, wish: Wish, send: Callable[[Wish], Envelope]) -> bool:
    """Ask for something, and tell the witness before and after; whether it is known now what came of it."""
    witness.asked(wish)
    try:
        answer = send(wish)
    except CutOffError:
        return False
    if answer["ok"]:
        witness.acknowledged(wish, {"result": answer["result"], "meta": answer["meta"]})
    elif answer["error"]["code"] in UNSURE:
        return False
    else:
        witness.refused(wish, answer["error"])
    return True


def write(post: Post) -> None:
    """Write as applications do that have the garden in their own process."""
    with _opened(post) as garden:
        sessions = {user: garden.session(user, post.name, role="maintainer") for user in post.users}
        _ask_without_end(post, lambda: sender(sessions))


def sender(sessions: Mapping[str, Session]) -> Callable[[Wish], Envelope]:
    """Give a way to ask the garden itself."""
    return lambda wish: sessions[wish.user_id].call(wish.tool, wish.args)


def call(post: Post) -> None:
    """Write over HTTP, by way of a service that is killed as well."""
    _ask_without_end(post, lambda: _Caller(post).send)


class _Caller:
    def __init__(self, post: Post) -> None:
        self._secrets = dict(zip(post.users, post.tokens, strict=True))
        self._line = http.client.HTTPConnection("127.0.0.1", post.port, timeout=60)

    def send(self, wish: Wish) -> Envelope:
        headers = {
            "Authorization": f"Bearer {self._secrets[wish.user_id]}",
            "Content-Type": "application/json",
        }
        try:
            self._line.request("POST", f"/v1/tools/{wish.tool}", json.dumps(wish.args), headers)
            answer: Envelope = json.loads(self._line.getresponse().read())
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            self._line.close()
            raise CutOffError from None
        return answer


def listen(post: Post) -> None:
    """Serve the garden, as `garden serve` does, and begin anew until there is a database for it."""
    while True:
        try:
            with _opened(post) as garden:
                return serve(garden, Address("127.0.0.1", post.port), None, lambda _url, _can_be_called: None)
        except GardenError as error:
            _unless_away(error)


def bring_in_order(post: Post) -> None:
    """Bring in order what others left, again and again."""
    with _opened(post) as garden:
        while True:
            try:
                for _ in reconcile(garden.services, post.users):
                    pass
            except GardenError as error:
                _unless_away(error)
            time.sleep(_PAUSE_SECONDS)


def do_jobs(post: Post) -> None:
    """Do the jobs that messages name, and the same ones by a timer, as `garden worker` does."""
    with _opened(post) as garden:
        work(garden.services, garden.home, post.broker, _THREADS, lambda: None)


def send_jobs(post: Post) -> None:
    """Send the messages of all jobs without end, so that there are always too many."""
    with _opened(post) as garden:
        chosen = jobs(garden.settings.upkeep).values()
        actors = declare(job_broker(post.broker), queue_name(garden.home), chosen, lambda _job: None)
        while True:
            for actor in actors:
                # On a machine that is busy a broker may take longer to answer than is waited for.
                with suppress(BrokerUnavailableError), translate_errors(post.broker):
                    actor.send()
            time.sleep(_PAUSE_SECONDS)


def edit_by_hand(post: Post) -> None:
    """Edit files as a person does, one after the other."""
    witness = Confidant(post.witness, post.name)
    chosen = random.Random(post.seed)  # noqa: S311 - it only chooses
    editor = Editor(Path(post.home), post.users, witness, post.name, post.seed)
    for number in itertools.count(1):
        editor.edit(f"{post.name}-{post.life}-{number}")
        # A person is slow, beside programs.
        time.sleep(0.2 * chosen.random())


def _opened(post: Post) -> Garden:
    while True:
        try:
            return open_garden(post.home)
        except GardenError as error:
            _unless_away(error)


def _unless_away(error: GardenError) -> None:
    """Wait a moment for a database that is away; anything else is no reason to go on."""
    if error.code not in UNSURE:
        raise error
    time.sleep(_PAUSE_SECONDS)


def _ask_without_end(post: Post, sender: Callable[[], Callable[[Wish], Envelope]]) -> None:
    threads = [
        threading.Thread(target=_asking, args=(Asker(post, sender(), thread),)) for thread in range(_THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _asking(asker: Asker) -> None:
    try:
        asker.live()
    except BaseException:  # noqa: BLE001 - a thread that fails is to be noticed, though the other could go on
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


_ALL: Sequence[Kind] = (
    Kind("writer", write, count=3, often=4),
    Kind("service", listen, count=1, often=3, actor="caller"),
    Kind("caller", call, count=2, often=1),
    Kind("reconciler", bring_in_order, count=1, often=2, recovers=True),
    Kind("worker", do_jobs, count=1, often=2, recovers=True),
    Kind("messenger", send_jobs, count=1, often=1),
    Kind("editor", edit_by_hand, count=1, often=1),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
