"""The command run in this process; tests of process behaviour start real ones."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from garden.application import Garden
from garden.session import Session
from garden.surfaces.cli.main import main
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, ok, plant


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a run."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value that was printed."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class _Stream(io.TextIOWrapper):
    """A stream that claims to be a terminal, or not."""

    def __init__(self, *, tty: bool, encoding: str = "utf-8") -> None:
        self.bytes = io.BytesIO()
        self._tty = tty
        super().__init__(self.bytes, encoding=encoding, newline="", write_through=True)

    def isatty(self) -> bool:
        return self._tty


class Command:
    """Runs `garden` in a home."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self._patch = monkeypatch

    def __call__(
        self, *words: str | Path, given: bytes = b"", tty: bool = False, columns: int = 200, **env: str
    ) -> Ran:
        out, err = _Stream(tty=tty), _Stream(tty=tty)
        with self._patch.context() as patch:
            patch.setattr(sys, "argv", ["garden", *map(str, words)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setenv("GARDEN_HOME", str(self.home))
            patch.setenv("COLUMNS", str(columns))
            patch.setenv("TERM", "xterm-256color")
            for name, value in env.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as end:
                main()
        code = end.value.code or 0
        assert isinstance(code, int)
        return Ran(code, out.bytes.getvalue().decode(), err.bytes.getvalue().decode())

    def fails(self, *words: str | Path, code: int = 1, **also: Any) -> str:
        """Run a command that must fail, and return its standard error."""
        ran = self(*words, **also)
        assert ran.code == code, ran
        assert ran.out == ""
        assert "Traceback" not in ran.err
        return ran.err

    def well(self, *words: str | Path, **also: Any) -> str:
        """Run a command that must succeed, and return its standard output."""
        ran = self(*words, **also)
        assert ran.code == 0, ran
        return ran.out


@pytest.fixture
def run(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, in a home with a database of its own."""
    return Command(garden.home.path, monkeypatch)


@pytest.fixture
def ada(garden: Garden) -> Session:
    """Ada's garden with four documents, and her companion's session."""
    session = garden.session("ada", "companion")
    plant(session, OVERVIEW, NOTES, CRITIC, CRITIC.replace("profile", "notes"))
    worry = {"replace": "- Says yes before looking\n- Counts the hours"}
    reason = {"rationale": "She named it.", "evidenceRefs": ["ev:s12-m40"]}
    ok(session, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=worry, **reason)
    ok(session, "fs.append", path=NOTES, text="Slept well, after the deadline.")
    return session


@contextmanager
def untouched(garden: Garden) -> Iterator[None]:
    """Check that the block changes no file and records no event."""
    before = _everything(garden)
    yield
    assert _everything(garden) == before


def _everything(garden: Garden) -> tuple[dict[str, bytes], int]:
    files = {str(file): file.read_bytes() for file in garden.home.path.glob("[uh]*/**/*") if file.is_file()}
    users = garden.services.maintenance.users()
    pages = [garden.session(user).call("events.query", {"limit": 500}) for user in users]
    return files, sum(len(page["result"]["rows"]) for page in pages)
