"""One user's garden for an adapter: opened at its first use, closed with it or when the program ends."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from garden.aio import THREADS, ClosedGardenError, WorkerThreads
from garden.application import Garden, open_garden
from garden.grammar.errors import GardenError
from garden.session import Session
from garden.writing.callers import make_caller
from garden.writing.plan_refusals import NO_DOCUMENT

__all__ = ["NO_DOCUMENT", "Adapter", "UserGarden", "missing_extra"]

_Result = TypeVar("_Result")


def missing_extra(extra: str, missing: ModuleNotFoundError) -> ModuleNotFoundError:
    """Name the extra that brings a framework."""
    return ModuleNotFoundError(
        f"There is no module {missing.name!r} here. It comes with the extra {extra!r} of memory-garden.",
        name=missing.name,
    )


class FixedPlaceError(GardenError):
    """The document has a place of its own, which it can't leave."""

    code = "path_not_allowed"


class UserGarden:
    """One user's garden and one actor in it, for calls from any thread or event loop.

    A given garden stays open after `close`; without one, the home is opened, and made where there is none.
    """

    def __init__(
        self, user: str, *, actor: str, home: str | Path | None = None, garden: Garden | None = None
    ) -> None:
        make_caller(user, actor, "agent")
        self.user = user
        self._actor = actor
        self._home = home
        self._garden = garden
        self._guard = threading.Lock()
        self._workers: WorkerThreads | None = None
        self._finish: Callable[[], object] | None = None
        self._is_closed = False

    @property
    def session(self) -> Session:
        """A session for typed calls; the first use opens the garden, which may take seconds."""
        return self._use().session(self.user, self._actor)

    def move(self, path: str, new_path: str, rationale: str) -> None:
        """Rename a free-form document, for which the gateway asks a maintainer; no other is moved."""
        free = f"users/{self.user}/memories/"
        if not (path.startswith(free) and new_path.startswith(free)):
            raise FixedPlaceError(
                "Only free-form documents can be renamed, and stay free-form.",
                hint="Profiles, notes and the overview have fixed names.",
            )
        mover = self._use().session(self.user, self._actor, role="maintainer")
        mover.fs.move(path, new_path, rationale=rationale)

    def ask(self, tool: str, fields: Mapping[str, Any]) -> Any:
        """Call a tool by name and return its result; a refusal is raised as a `GardenError`."""
        return self.session.ask(tool, fields).result

    def text_of(self, path: str) -> tuple[str, str]:
        """Read a whole document of any length, with the hash for `ifMatch`."""
        ask = self.session.ask
        page = ask("fs.read", {"path": path})
        while "documentHash" not in page.meta:
            # Longer than one answer. The pages belong together only if no one wrote in between.
            before, page = ask("fs.hash", {"path": path}), ask("fs.read", {"path": path})
            text = page.result
            while "truncated" in page.meta:
                page = ask("fs.read", {"path": path, "ranges": [page.meta["truncated"]["next"]]})
                text += "".join(each.text for each in page.result.range_slices)
            if ask("fs.hash", {"path": path}).result == before.result:
                return text, before.result
        return page.result, page.meta["documentHash"]

    def of_user(self, user: str) -> "UserGarden":
        """Another user's garden in the same home, for adapters that serve many; closed with this one."""
        return UserGarden(user, actor=self._actor, garden=self._use())

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run work in a thread; a cancelled task continues once its work has ended or never began."""
        with self._guard:
            if self._workers is None:
                self._workers = WorkerThreads(THREADS)
        return await self._workers.run(work)

    def close(self) -> None:
        """Close the garden, unless it was given."""
        with self._guard:
            self._is_closed = True
            if self._finish is not None:
                self._finish()

    def _use(self) -> Garden:
        with self._guard:
            if self._is_closed:
                raise ClosedGardenError(
                    "This garden has been closed.", hint="Make a new adapter, or use it before 'close'."
                )
            if self._garden is None:
                self._garden = self._open()
            return self._garden

    def _open(self) -> Garden:
        garden = open_garden(self._home)
        # Also when the interpreter ends, and when nothing uses the adapter any more.
        self._finish = weakref.finalize(self, garden.close)
        return garden


class Adapter:
    """What every adapter has beside its framework's interface; it sets `opening`."""

    opening: UserGarden

    def close(self) -> None:
        """Close the garden, unless it was given."""
        self.opening.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: Any) -> bool | None:
        await asyncio.to_thread(self.close)
        return None
