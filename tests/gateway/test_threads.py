"""The threads of the surfaces: how many calls may wait, in all and of each user."""

import asyncio
import gc
import weakref
from contextlib import suppress
from functools import partial
from threading import Event

import pytest

from garden.gateway.threads import WAITING_MAX, CallThreads, OverloadedError, TooManyCallsError


async def given_up(calls: CallThreads, user_id: str) -> None:
    """Run a call, and cancel it at once."""
    call = asyncio.create_task(calls.run(user_id, Event))
    await asyncio.sleep(0)
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call


def test_cancelled_calls_keep_their_place_until_a_thread_reaches_them() -> None:
    async def converse() -> None:
        calls, held = CallThreads(threads=1), Event()
        holding = asyncio.create_task(calls.run("ada", held.wait))
        await asyncio.sleep(0)
        try:
            for number in range(WAITING_MAX):
                await given_up(calls, f"user-{number}")
            with pytest.raises(OverloadedError):
                await given_up(calls, "ben")
        finally:
            held.set()
        assert await holding
        calls.close()
        assert calls.refused == {"unavailable": 1}

    asyncio.run(converse())


def test_calls_cancelled_before_their_turn_keep_no_place() -> None:
    async def converse() -> None:
        calls, held = CallThreads(threads=1), Event()
        holding = asyncio.create_task(calls.run("ada", held.wait))
        await asyncio.sleep(0)
        for _ in range(2 * WAITING_MAX):
            await given_up(calls, "ada")
        assert calls.under_way == 1
        held.set()
        assert await holding
        calls.close()

    asyncio.run(converse())


def test_one_user_does_not_take_every_place() -> None:
    async def converse() -> None:
        calls, held = CallThreads(threads=2, of_user_max=3), Event()
        waiting = [asyncio.create_task(calls.run("ada", held.wait)) for _ in range(4)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_EXCEPTION)
        with pytest.raises(TooManyCallsError):
            await waiting[-1]
        others = asyncio.create_task(calls.run("ben", Event))
        await asyncio.sleep(0)
        held.set()
        assert isinstance(await others, Event)
        assert all(await asyncio.gather(*waiting[:-1]))
        calls.close()
        assert calls.refused == {"rate_limited": 1}

    asyncio.run(converse())


def test_one_user_does_not_take_every_thread() -> None:
    async def converse() -> None:
        calls, held = CallThreads(threads=3), Event()
        waiting = [asyncio.create_task(calls.run("ada", held.wait)) for _ in range(10)]
        # Ada's calls take their threads before Ben's call asks for one.
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(30):
                assert isinstance(await calls.run("ben", Event), Event)
        finally:
            held.set()
        assert all(await asyncio.gather(*waiting))
        calls.close()
        assert calls.under_way == 0

    asyncio.run(converse())


@pytest.mark.parametrize("writers", [["ada"] * 10, [f"user-{number}" for number in range(10)]])
def test_a_reader_finds_a_thread_while_others_write(writers: list[str]) -> None:
    async def converse() -> None:
        calls, held = CallThreads(threads=4), Event()
        writing = [asyncio.create_task(calls.run(each, held.wait, writes=True)) for each in writers]
        try:
            async with asyncio.timeout(30):
                assert isinstance(await calls.run(writers[0], Event), Event)
                assert isinstance(await calls.run("ben", Event), Event)
        finally:
            held.set()
        assert all(await asyncio.gather(*writing))
        calls.close()
        assert calls.under_way == 0

    asyncio.run(converse())


def test_one_users_writes_leave_a_thread_for_others() -> None:
    async def converse() -> None:
        calls, held = CallThreads(threads=4), Event()
        writing = [asyncio.create_task(calls.run("ada", held.wait, writes=True)) for _ in range(10)]
        try:
            async with asyncio.timeout(30):
                assert isinstance(await calls.run("ben", Event, writes=True), Event)
        finally:
            held.set()
        assert all(await asyncio.gather(*writing))
        calls.close()

    asyncio.run(converse())


def test_a_write_cancelled_before_its_turn_blocks_no_other() -> None:
    async def converse() -> None:
        calls, held = CallThreads(threads=3), Event()
        holding = asyncio.create_task(calls.run("ada", held.wait, writes=True))
        waiting = [asyncio.create_task(calls.run(each, Event, writes=True)) for each in ("ada", "ben", "cyn")]
        await asyncio.sleep(0)
        for each in waiting:
            each.cancel()
        await asyncio.wait(waiting)
        held.set()
        assert await holding
        async with asyncio.timeout(30):
            assert isinstance(await calls.run("ben", Event, writes=True), Event)
        calls.close()
        assert calls.under_way == 0

    asyncio.run(converse())


def test_a_write_that_waits_for_its_users_reads_blocks_no_other_user() -> None:
    async def converse() -> None:
        calls, order = CallThreads(threads=6), list[str]()
        runs = [
            calls.run(user_id, partial(order.append, user_id), writes=writes)
            for writes, count in ((False, 40), (True, 5))
            for user_id in ["ada"] * count + ["cyn"] * count
        ]
        await asyncio.gather(*runs, calls.run("ben", partial(order.append, "ben"), writes=True))
        calls.close()
        # Five reads of each other user reach a thread first.
        assert order.index("ben") < 20

    asyncio.run(converse())


class WatchedError(Exception):
    """An error that can be watched."""


def test_an_error_is_gone_once_it_was_handled() -> None:
    def refuse() -> None:
        raise WatchedError

    async def converse() -> "weakref.ref[WatchedError]":
        calls = CallThreads()
        try:
            await calls.run("ada", refuse)
        except WatchedError as error:
            refused = weakref.ref(error)
        await asyncio.to_thread(calls.close)
        return refused

    gc.disable()
    try:
        assert asyncio.run(converse())() is None
    finally:
        gc.enable()
