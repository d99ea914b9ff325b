"""An adapter's garden: made at its first use, said once, closed with it or with the program."""

import gc
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from garden.aio import ClosedGardenError
from garden.application import Garden
from garden.grammar.canonical import content_hash
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.integrations.opening import Adapter, UserGarden
from garden.session import Session
from tests.integrations.conformance import REPOSITORY, USER, waited
from tests.support.gardens import ok, plant

LONG = "users/ada/memories/long.md"

_PROGRAM = """
import sys
from garden.integrations.opening import UserGarden
from garden.session import Session
garden = UserGarden("me", actor="program", home=sys.argv[1])
print(garden.ask("fs.write", {"path": "users/me/memories/a.md", "content": "kept"}).new_hash)
"""


def run_program(home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", _PROGRAM, home],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_program_makes_its_home_says_so_once_and_ends_without_closing(folder: Path) -> None:
    first, second = run_program(folder / "home"), run_program(folder / "home")
    assert (first.returncode, first.stderr) == (0, f"Made a new garden home: {folder / 'home'}\n")
    assert (second.returncode, second.stderr) == (0, "")
    assert (folder / "home/users/me/memories/a.md").read_text() == "kept"


def test_nothing_is_opened_or_made_before_the_first_use(folder: Path) -> None:
    UserGarden("me", actor="test", home=folder / "home").close()
    assert not (folder / "home").exists()


@pytest.mark.parametrize(
    ("user", "actor"), [("Ada", "test"), ("../ada", "test"), ("ada", ""), ("ada", "operator")]
)
def test_a_wrong_user_or_actor_is_refused_at_once(folder: Path, user: str, actor: str) -> None:
    with pytest.raises(GardenError):
        UserGarden(user, actor=actor, home=folder / "home")
    assert not (folder / "home").exists()


def test_a_closed_adapter_says_so_and_a_given_garden_stays_open(garden: Garden) -> None:
    opening = UserGarden(USER, actor="test", garden=garden)
    assert opening.session.fs.list("users/ada").result == []
    opening.close()
    opening.close()
    with pytest.raises(ClosedGardenError, match="closed"):
        opening.session  # noqa: B018 - the use is refused
    assert garden.session(USER).fs.list("users/ada").result == []


def test_an_async_with_block_closes_an_adapter(ready_home: Home) -> None:
    async def use() -> Adapter:
        adapter = Adapter()
        adapter.opening = UserGarden(USER, actor="test", home=ready_home.path)
        async with adapter as entered:
            assert entered is adapter
            assert (
                await adapter.opening.run(partial(adapter.opening.ask, "fs.list", {"path": "users/ada"}))
                == []
            )
        return adapter

    with pytest.raises(ClosedGardenError, match="closed"):
        waited(use()).opening.session  # noqa: B018 - the use is refused


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_garden_of_its_own_closes_with_it(
    ready_home: Home, monkeypatch: pytest.MonkeyPatch, is_forgotten: bool
) -> None:
    closed, close = list[Garden](), Garden.close

    def close_and_note(garden: Garden) -> None:
        closed.append(garden)
        close(garden)

    monkeypatch.setattr(Garden, "close", close_and_note)
    opening = UserGarden(USER, actor="test", home=ready_home.path)
    assert waited(opening.run(partial(opening.ask, "fs.list", {"path": "users/ada"}))) == []
    assert closed == []
    if not is_forgotten:
        opening.close()
    del opening
    gc.collect()
    assert len(closed) == 1


class Interrupted(UserGarden):
    """Another writer replaces the document after its second page was read."""

    was_interrupted = False

    @property
    def session(self) -> Session:
        session = super().session
        ask = session.ask

        def ask_and_write(tool: str, fields: Mapping[str, Any]) -> Any:
            answer = ask(tool, fields)
            if "ranges" in fields and not self.was_interrupted:
                self.was_interrupted = True
                ok(session, "fs.write", path=LONG, content=long_text("new"))
            return answer

        session.ask = ask_and_write  # type: ignore[method-assign]
        return session


def long_text(word: str) -> str:
    return "".join(f"{word} {number}\n" for number in range(1200))


def test_a_long_text_is_read_as_it_was_at_one_time(garden: Garden) -> None:
    opening = Interrupted(USER, actor="test", garden=garden)
    ok(opening.session, "fs.write", path=LONG, content=long_text("old"))
    assert opening.text_of(LONG) == (long_text("new"), content_hash(long_text("new")))
    assert opening.was_interrupted


def test_only_free_form_documents_are_moved(garden: Garden) -> None:
    plant(garden.session(USER), "users/ada/notes.md")
    opening = UserGarden(USER, actor="test", garden=garden)
    for path, new in (("notes.md", "memories/a.md"), ("memories/a.md", "notes.md")):
        with pytest.raises(GardenError, match="free-form"):
            opening.move(f"users/ada/{path}", f"users/ada/{new}", "A test.")


@pytest.mark.parametrize(
    ("extra", "framework"),
    [
        ("anthropic", "anthropic"),
        ("langgraph", "langgraph"),
        ("openai-agents", "agents"),
        ("pydantic-ai", "pydantic_ai"),
        ("llama-index", "llama_index"),
        ("google-adk", "google.adk"),
    ],
)
def test_a_missing_framework_is_named_with_its_extra(extra: str, framework: str) -> None:
    module = extra.replace("-", "_")
    program = f"import sys; sys.modules[{framework!r}] = None; import garden.integrations.{module}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert f"comes with the extra '{extra}'" in done.stderr
