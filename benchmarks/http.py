"""HTTP under load: fifty users read and edit; client and server, a process a core, on one machine.

`GARDEN_SOAK_MINUTES` adds a soak: the server's memory after one minute of load, and after so many.
"""

import asyncio
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil
import uvloop

from benchmarks.lean_client import Connection, Tally, as_fast_as_possible, connected, in_step, post
from benchmarks.profiles import profile
from benchmarks.ratios import Ratio
from garden.application import open_garden
from garden.demo.throw_away import throw_away_home
from garden.home.folder import Home

_USERS = 50
_DOCUMENTS = 8
_SECONDS = float(os.environ.get("GARDEN_BENCH_SECONDS", "10"))
_SOAK_MINUTES = float(os.environ.get("GARDEN_SOAK_MINUTES", "0"))
_MOST_READS_A_SECOND = 3500
_MOST_EDITS_A_SECOND = 400
_READS_A_SECOND = 800
_EDITS_A_SECOND = 200
_MILLISECONDS_MAX = 100


@dataclass(frozen=True)
class _User:
    """A user with a garden and a token."""

    user_id: str
    token: str

    def path(self) -> str:
        return f"users/{self.user_id}/parts/part-{secrets.randbelow(_DOCUMENTS)}/profile.md"

    def reading(self) -> bytes:
        return post("/v1/tools/fs.read", json.dumps({"path": self.path()}).encode(), self.token)

    def editing(self) -> bytes:
        words = f"- Says yes before looking at the week\n- Can't sleep then, {secrets.token_hex(4)}\n"
        args = {
            "path": self.path(), "sectionAnchor": "concerns v1", "change": {"replace": words},
            "rationale": "She said so.",
        }  # fmt: skip
        return post("/v1/tools/md.patch_section", json.dumps(args).encode(), self.token)


@dataclass(frozen=True)
class _Service:
    """A service with users."""

    host: str
    port: int
    process: psutil.Process
    users: list[_User]


Load = Callable[[_Service], Awaitable[None]]


def measure() -> Iterator[Ratio]:
    with throw_away_home() as home, _served(home) as service:
        yield _most(service, "reads a second", _User.reading, _MOST_READS_A_SECOND)
        yield _most(service, "durable edits a second", _User.editing, _MOST_EDITS_A_SECOND)
        yield from _at_a_rate(service)
        if _SOAK_MINUTES:
            yield _soak(service)


def _most(service: _Service, name: str, what: Callable[[_User], bytes], reach: int) -> Ratio:
    """The highest rate: each user sends the next request as soon as the last is answered."""
    tally = Tally()

    async def load() -> None:
        connections = await _connections(service)
        until = time.perf_counter() + _SECONDS
        await asyncio.gather(
            *(
                as_fast_as_possible(connection, lambda user=user: what(user), until, tally)  # type: ignore[misc]
                for connection, user in zip(connections, service.users, strict=True)
            )
        )

    uvloop.run(load())
    _check(tally)
    return Ratio(
        f"HTTP: {name}", len(tally.seconds) / _SECONDS, reach, more_is_better=True, detail=_told(tally)
    )


def _at_a_rate(service: _Service) -> Iterator[Ratio]:
    """Reads and edits at their target rates, timed from when each was due."""
    reads, edits = Tally(), Tally()
    uvloop.run(_mixed(service, _SECONDS * 2, reads, edits))
    for name, tally in (("reads", reads), ("edits", edits)):
        _check(tally)
        title = f"HTTP: {_READS_A_SECOND} reads and {_EDITS_A_SECOND} edits a second, p99 of {name} in ms"
        yield Ratio(title, tally.quantile(0.99) * 1000, _MILLISECONDS_MAX, detail=_told(tally))


async def _mixed(service: _Service, seconds: float, reads: Tally, edits: Tally) -> None:
    readers, writers = await _connections(service), await _connections(service)
    until = time.perf_counter() + seconds
    work = []
    for number, user in enumerate(service.users):
        for connection, what, rate, tally in (
            (readers[number], user.reading, _READS_A_SECOND, reads),
            (writers[number], user.editing, _EDITS_A_SECOND, edits),
        ):
            work.append(_after(number / rate, in_step(connection, what, rate / _USERS, until, tally)))
    await asyncio.gather(*work)


async def _after(seconds: float, work: Awaitable[None]) -> None:
    await asyncio.sleep(seconds)
    await work


def _soak(service: _Service) -> Ratio:
    """The server's memory after one minute of load and after many."""
    uvloop.run(_mixed(service, 60, Tally(), Tally()))
    before = _memory(service)
    uvloop.run(_mixed(service, 60 * (_SOAK_MINUTES - 1), Tally(), Tally()))
    after = _memory(service)
    told = f"{before / 2**20:.0f} and {after / 2**20:.0f} MiB"
    return Ratio(
        f"HTTP: memory after {_SOAK_MINUTES:g} minutes / after one", after / before, 1.15, detail=told
    )


def _memory(service: _Service) -> int:
    """The memory of all processes of the service."""
    return sum(each.memory_info().rss for each in (service.process, *service.process.children()))


async def _connections(service: _Service) -> list[Connection]:
    return [await connected(service.host, service.port) for _ in service.users]


def _told(tally: Tally) -> str:
    return f"p50 {tally.quantile(0.5) * 1000:.1f} ms, p99 {tally.quantile(0.99) * 1000:.1f} ms"


def _check(tally: Tally) -> None:
    if tally.failures:
        raise RuntimeError(f"{len(tally.failures)} requests failed: {tally.failures[0].decode()}")


@contextmanager
def serving(home: Home) -> Iterator[tuple[str, int, psutil.Process]]:
    """Serve a home; yields the host, the port and the process."""
    words = [sys.executable, "-m", "garden", "--home", str(home.path), "serve", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = process.stdout.readline() if process.stdout else ""
            url = urlsplit(said.split()[-1])
            yield url.hostname or "", url.port or 0, psutil.Process(process.pid)
        finally:
            process.terminate()


@contextmanager
def _served(home: Home) -> Iterator[_Service]:
    users = _planted(home)
    with serving(home) as (host, port, process):
        yield _Service(host, port, process, users)


def _planted(home: Home) -> list[_User]:
    users = []
    with open_garden(home.path) as garden:
        for number in range(_USERS):
            user_id = f"user-{number}"
            session = garden.session(user_id, "companion")
            for part in range(_DOCUMENTS):
                text = profile().replace("id: anxious-achiever", f"id: part-{part}")
                session.fs.write(
                    f"users/{user_id}/parts/part-{part}/profile.md",
                    text.replace("user_id: sample-user", f"user_id: {user_id}"),
                )
            issued = garden.tokens.create(user_id, role="agent", actor="companion", expires_at=None)
            users.append(_User(user_id, issued.secret))
    return users
