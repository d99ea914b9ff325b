"""The garden in an async application: the same answers, and nothing left halfway by a cancelled task."""

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from garden import aio
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.surfaces.python.answers import Part
from garden.surfaces.python.async_toolbelt import AsyncToolbelt
from garden.surfaces.python.toolbelt import Toolbelt
from tests.support.gardens import out_of_step
from tests.support.planted import NOTES, PROFILE, code_of, notes_text

PATIENCE_SECONDS = 60


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run it to its end, or fail where it hangs."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await work

    asyncio.run(bounded())


class Held:
    """Work in a thread that says when it has begun, and ends when it may."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._may_end = threading.Event()
        self.ended = False

    def work(self) -> str:
        self._loop.call_soon_threadsafe(self._begun.set)
        assert self._may_end.wait(PATIENCE_SECONDS)
        self.ended = True
        return "done"

    async def begun(self) -> None:
        await self._begun.wait()

    def let_end(self) -> None:
        self._may_end.set()


def test_the_typed_coroutines_answer_as_the_typed_methods_do(ready_home: Home) -> None:
    async def story() -> None:
        async with aio.open(ready_home.path) as opened:
            session = opened.session("ada", "companion", transaction_id="evening")
            await session.md.plant(PROFILE, title="The Critic")
            change = {"append": "- Says yes too fast"}
            said = {"rationale": "She said so."}
            answer = await session.md.patch_section(PROFILE, "concerns v1", change, said)
            (event,) = (await session.events.query(section_anchor="concerns v1")).result.rows
            assert str(event.event_id) == answer.meta["eventId"]
            assert (event.actor, event.transaction_id) == ("companion", "evening")
            blocking = opened.blocking.session("ada")
            assert (await session.fs.read(PROFILE)).result == blocking.fs.read(PROFILE).result
            assert session.caller.user_id == "ada"
            assert out_of_step(opened.blocking) == []

    run(story())


def test_a_refusal_is_raised_by_a_coroutine_and_an_envelope_of_call(ready_home: Home) -> None:
    async def story() -> None:
        async with aio.open(ready_home.path) as opened:
            session = opened.session("ada")
            with pytest.raises(GardenError) as refused:
                await session.fs.read("users/ben/notes.md")
            assert refused.value.code == "path_not_allowed"
            assert code_of(await session.call("fs.read", {"path": NOTES})) == "not_found"
            several = await session.call_several([{"name": "fs.read", "args": {"path": NOTES}}])
            assert several["results"][0]["error"]["code"] == "not_found"
            asked = {"root": "users/ada/notes.md", "pattern": "slept", "glob": None}
            await session.md.plant(NOTES, title="Notes")
            await session.fs.append(NOTES, "Slept well.")
            (hit,) = (await session.ask("fs.search", {**asked, "ignore_case": True})).result
            assert hit.match == "Slept well."

    run(story())


def test_many_tasks_edit_one_document_at_once_and_every_line_is_there(ready_home: Home) -> None:
    async def story() -> None:
        async with aio.open(ready_home.path) as opened:
            session = opened.session("ada")
            await session.fs.write(NOTES, notes_text())
            async with asyncio.TaskGroup() as tasks:
                for number in range(40):
                    change = {"append": f"- line {number} of many"}
                    tasks.create_task(session.md.patch_section(NOTES, f"s{number % 20} v1", change))
            text = (await session.fs.read(NOTES)).result
            assert all(f"- line {number} of many\n" in str(text) for number in range(40))
            assert out_of_step(opened.blocking) == []

    run(story())


def test_the_loop_goes_on_while_a_call_runs() -> None:
    async def story() -> None:
        workers, held = aio.WorkerThreads(1), Held()
        waiting = asyncio.create_task(workers.run(held.work))
        # This very line could not be reached if the work kept the loop.
        await held.begun()
        assert not waiting.done()
        held.let_end()
        assert await waiting == "done"
        await workers.close(lambda: None)

    run(story())


def test_a_cancelled_call_that_has_begun_is_carried_out_before_the_task_goes_on() -> None:
    async def story() -> None:
        workers, held = aio.WorkerThreads(1), Held()
        task = asyncio.create_task(workers.run(held.work))
        await held.begun()
        task.cancel()
        # A turn of the loop each: the task sees both cancellations and waits all the same.
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        held.let_end()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert held.ended
        await workers.close(lambda: None)

    run(story())


def test_a_cancelled_call_that_waits_for_its_turn_is_never_begun() -> None:
    async def story() -> None:
        workers, first, second = aio.WorkerThreads(1), Held(), Held()
        running = asyncio.create_task(workers.run(first.work))
        await first.begun()
        waiting = asyncio.create_task(workers.run(second.work))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        first.let_end()
        second.let_end()
        await running
        await workers.close(lambda: None)
        assert not second.ended

    run(story())


def test_cancelled_writes_are_in_the_document_or_never_were(ready_home: Home) -> None:
    async def story() -> None:
        async with aio.open(ready_home.path, threads=2) as opened:
            session = opened.session("ada")
            await session.fs.write(NOTES, notes_text())
            writes = [
                asyncio.create_task(session.fs.append(NOTES, f"- cancelled {number}.", idempotency_key=key))
                for number in range(20)
                for key in [f"key-{number}"]
            ]
            await writes[0]
            for task in writes:
                task.cancel()
            await asyncio.gather(*writes, return_exceptions=True)
            # Every call that began has ended by now, so this is final.
            text = str((await session.fs.read(NOTES)).result)
            rows = (await session.events.query(op="append_file", limit=100)).result.rows
            assert {row.status for row in rows} == {"committed"}
            assert len(rows) == text.count("- cancelled ")
            assert text.count("- cancelled 0.") == 1
            assert out_of_step(opened.blocking) == []

    run(story())


def test_closing_waits_for_calls_that_run_and_refuses_later_ones(ready_home: Home) -> None:
    async def story() -> None:
        async with aio.open(ready_home.path) as opened:
            session = opened.session("ada")
            write = asyncio.create_task(session.fs.write(NOTES, notes_text()))
            await asyncio.sleep(0)
        assert (await write).meta["eventId"]
        with pytest.raises(GardenError) as refused:
            await session.fs.read(NOTES)
        assert refused.value.code == "unavailable"

    run(story())


def test_a_cancelled_opening_leaves_no_thread_behind(ready_home: Home) -> None:
    before = set(threading.enumerate())

    async def story() -> None:
        async def opening() -> None:
            async with aio.open(ready_home.path):
                pytest.fail("it was cancelled before")

        task = asyncio.create_task(opening())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(story())
    assert set(threading.enumerate()) <= before


def test_the_thread_sees_context_variables() -> None:
    request = ContextVar("request", default="")

    async def story() -> None:
        workers = aio.WorkerThreads(1)
        request.set("r-17")
        assert await workers.run(partial(request.get)) == "r-17"
        await workers.close(lambda: None)

    run(story())


def test_every_typed_method_has_its_coroutine_with_the_same_parameters() -> None:
    families = [name for name, value in vars(Toolbelt).items() if isinstance(value, Part)]
    assert families
    pairs = [(_family(Toolbelt, name), _family(AsyncToolbelt, name)) for name in families]
    for methods, coroutines in [(Toolbelt, AsyncToolbelt), *pairs]:
        for name, method in vars(methods).items():
            if inspect.isfunction(method):
                twin = vars(coroutines)[name]
                assert inspect.iscoroutinefunction(twin)
                assert inspect.signature(twin) == inspect.signature(method)


def _family(toolbelt: type, name: str) -> type:
    return type(getattr(toolbelt(lambda *_: None), name))
