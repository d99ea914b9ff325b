"""What every adapter must do, as tests; an adapter supplies a driver and inherits `Conformance`.

    class MyDriver(Driver):
        actor = "my-framework"
        def __init__(self, home: Path, user: str = USER) -> None: ...   # make the adapter on this home
        def remember(self, text: str) -> None: ...          # keep a text, in the framework's way
        def recalled(self, query: str) -> str: ...          # all that comes back for a question
        def replace(self, old: str, new: str) -> None: ...  # change a kept text; leave out if there is no way
        def refused(self) -> str: ...                       # one refused call, as its caller sees it
        def resend(self, text: str) -> None: ...            # send one request twice, as after a lost answer
        def close(self) -> None: ...

    class TestMyAdapter(Conformance):
        driver = MyDriver

A driver calls the framework's own interface and nothing of the garden. It must be importable by name, since a
second process makes one as well. `remember` is called from several threads at once. Texts are words without
line ends; `recalled` may return more than was asked for, but each text exactly as often as it is kept.
Drivers for async interfaces can use `waited`.
"""

import asyncio
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from garden.home.folder import Home
from tests.support.gardens import out_of_step, rows
from tests.support.planted import opened

REPOSITORY = Path(__file__).parents[2]
USER = "ada"
LAMP = "The lamp was lit late."
WRITERS, TEXTS_EACH = 4, 3

_Result = TypeVar("_Result")


class Driver(ABC):
    """An adapter on one home, behind the few verbs that the cases need."""

    actor: ClassVar[str]
    copies_of_resent: ClassVar[int] = 1
    """How often a text is kept that came in one request sent twice."""

    @abstractmethod
    def __init__(self, home: Path, user: str = USER) -> None:
        """Make the adapter; the home exists."""

    @abstractmethod
    def remember(self, text: str) -> None: ...

    @abstractmethod
    def recalled(self, query: str) -> str: ...

    def replace(self, old: str, new: str) -> None:
        raise NotImplementedError

    @abstractmethod
    def refused(self) -> str: ...

    @abstractmethod
    def resend(self, text: str) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class Conformance:
    """The cases."""

    driver: ClassVar[type[Driver]]

    @pytest.fixture
    def adapter(self, ready_home: Home) -> Any:
        driver = self.driver(ready_home.path)
        yield driver
        driver.close()

    def test_a_kept_text_is_recalled_and_recorded(self, adapter: Driver, ready_home: Home) -> None:
        adapter.remember(LAMP)
        adapter.remember("Bread on Sunday.")
        assert LAMP in adapter.recalled("When was the lamp lit?")
        self.check_account(ready_home)

    def test_what_was_kept_is_there_after_a_restart(self, adapter: Driver, ready_home: Home) -> None:
        adapter.remember(LAMP)
        adapter.close()
        again = self.driver(ready_home.path)
        assert LAMP in again.recalled("When was the lamp lit?")
        again.close()

    def test_another_user_recalls_nothing_of_it(self, adapter: Driver, ready_home: Home) -> None:
        adapter.remember(LAMP)
        other = self.driver(ready_home.path, "ben")
        assert LAMP not in other.recalled("When was the lamp lit?")
        other.close()

    def test_a_replaced_text_is_recalled_no_more(self, adapter: Driver) -> None:
        adapter.remember(LAMP)
        try:
            adapter.replace(LAMP, "The lamp was lit early.")
        except NotImplementedError:
            assert type(adapter).replace is Driver.replace
            return
        found = adapter.recalled("When was the lamp lit?")
        assert "The lamp was lit early." in found
        assert LAMP not in found

    def test_threads_lose_no_text_of_each_other(self, adapter: Driver, ready_home: Home) -> None:
        texts = [f"Lamp number{number} was lit." for number in range(WRITERS * TEXTS_EACH)]
        with ThreadPoolExecutor(WRITERS) as threads:
            list(threads.map(adapter.remember, texts))
        self.check_kept(adapter, texts)
        self.check_account(ready_home)

    def test_processes_lose_no_text_of_each_other(self, adapter: Driver, ready_home: Home) -> None:
        adapter.remember(LAMP)
        own, others = ([f"Lamp {name}{number} was lit." for number in range(6)] for name in ("own", "other"))
        name = f"{self.driver.__module__}:{self.driver.__qualname__}"
        with subprocess.Popen(
            [sys.executable, "-m", __name__, name, str(ready_home.path), *others],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            # It has opened the garden, and recalls what this process kept.
            assert LAMP in process.stdout.readline()
            print("go", file=process.stdin, flush=True)
            for text in own:
                adapter.remember(text)
        assert process.returncode == 0
        self.check_kept(adapter, own + others)
        self.check_account(ready_home)

    def test_a_refusal_says_what_to_do_and_changes_nothing(self, adapter: Driver, ready_home: Home) -> None:
        adapter.remember(LAMP)
        before = contents_of(ready_home)
        assert len(adapter.refused().split()) > 5
        assert contents_of(ready_home) == before

    def test_a_request_sent_twice_is_kept_as_often_as_the_framework_wants(self, adapter: Driver) -> None:
        adapter.resend(LAMP)
        assert adapter.recalled("When was the lamp lit?").count(LAMP) == adapter.copies_of_resent

    def check_kept(self, adapter: Driver, texts: list[str]) -> None:
        for text in texts:
            assert adapter.recalled(text).count(text) == 1, text

    def check_account(self, home: Home) -> None:
        """Every change is an event of this adapter's actor, and files and events agree."""
        with opened(home) as garden:
            made = rows(garden.session(USER, role="maintainer"), limit=50)
            assert {row["actor"] for row in made} == {self.driver.actor}
            assert out_of_step(garden) == []


def contents_of(home: Home) -> dict[str, bytes]:
    """Every document of a home."""
    files = (path for path in home.users.rglob("*") if path.is_file())
    return {str(path.relative_to(home.path)): path.read_bytes() for path in files}


def waited(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine to its end, from any thread."""
    return asyncio.run(work)


def _remember_in_this_process(name: str, home: str, *texts: str) -> None:
    module, _, class_name = name.partition(":")
    driver: Driver = getattr(import_module(module), class_name)(Path(home))
    print(driver.recalled("When was the lamp lit?").replace("\n", " "), flush=True)
    sys.stdin.readline()
    for text in texts:
        driver.remember(text)
    driver.close()


if __name__ == "__main__":
    _remember_in_this_process(*sys.argv[1:])
