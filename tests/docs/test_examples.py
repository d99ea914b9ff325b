"""Every example runs as its docstring says, and does what it tells."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from garden.home.folder import Home
from tests.docs.pages import REPOSITORY, make_programs
from tests.support.planted import ok, opened
from tests.support.ports import free_port

EXAMPLES = REPOSITORY / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
LINES_MAX = 80
PATIENCE_SECONDS = 120
TILDA = "users/tilda-quill/notes.md"
LEANDER = "users/leander-moss/notes.md"


def surroundings(home: Path) -> Mapping[str, str]:
    return {**os.environ, "GARDEN_HOME": str(home), "PYTHONPATH": str(REPOSITORY)}


def run(example: str, home: Home, *words: str) -> str:
    done = ran(example, home, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ran(example: str, home: Home, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / example, *words],
        cwd=home.path,
        env=surroundings(home.path),
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_example_is_in_the_list_and_none_else() -> None:
    listed = re.findall(r"^\| `(\S+)` \|", (EXAMPLES / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in {".py", ".sh"})


@pytest.mark.parametrize("program", [*PROGRAMS, EXAMPLES / "backup.sh"], ids=lambda path: path.name)
def test_an_example_is_short_and_says_how_to_run_it(program: Path) -> None:
    text = program.read_text("utf-8")
    assert len(text.splitlines()) < LINES_MAX
    assert re.search(rf"(python|sh) examples/{program.name}", text)


def test_the_agents_loop_goes_on_after_a_refusal_and_remembers(ready_home: Home) -> None:
    told = run("agent_loop.py", ready_home)
    assert "I will remember" in told
    assert told.count("fs_append") == 2
    with opened(ready_home) as garden:
        text = garden.session("tilda-quill").fs.read(TILDA).result
        assert str(text).count("The lamp was lit late") == 1


def test_the_agent_over_mcp_remembers_and_is_told_that_nothing_is_deleted(ready_home: Home) -> None:
    told = run("mcp_agent.py", ready_home)
    assert "can be read as a resource" in told
    with opened(ready_home) as garden:
        text = garden.session("tilda-quill").fs.read(TILDA).result
        assert "She read aloud again." in str(text)


def test_the_reviewer_pages_through_the_events_and_finds_the_text(ready_home: Home) -> None:
    with opened(ready_home) as garden:
        session = garden.session("tilda-quill")
        ok(session.call("md.plant", {"path": TILDA, "title": "Notes"}))
        for number in range(105):
            ok(session.call("fs.append", {"path": TILDA, "text": f"- Page {number}, für Lio."}))
        said = {"type": "observation", "filePath": TILDA, "rationale": "No version of the document."}
        ok(session.call("events.log", said))
    told = run("rebuild_text.py", ready_home, "tilda-quill", TILDA)
    assert "v106 agent: append_file" in told
    assert told.endswith("The file is what its events say.\n")


def test_the_reviewer_notices_a_file_that_is_not_what_its_events_say(ready_home: Home) -> None:
    with opened(ready_home) as garden:
        ok(garden.session("tilda-quill").call("md.plant", {"path": TILDA, "title": "Notes"}))
    with (ready_home.path / TILDA).open("a") as file:
        file.write("- Nobody saw me write this.\n")
    with pytest.raises(AssertionError, match="The file differs from its events"):
        run("rebuild_text.py", ready_home, "tilda-quill", TILDA)


def test_the_reviewer_has_the_text_of_a_file_that_is_gone(ready_home: Home) -> None:
    with opened(ready_home) as garden:
        ok(garden.session("tilda-quill").call("md.plant", {"path": TILDA, "title": "Notes"}))
    file = ready_home.path / TILDA
    text = file.read_text("utf-8")
    file.unlink()
    done = ran("rebuild_text.py", ready_home, "tilda-quill", TILDA)
    assert (done.returncode, done.stdout) == (0, text), done.stderr
    assert "The file is gone." in done.stderr


@pytest.mark.parametrize("path", ["users/tilda-quill/../notes.md", "/etc/passwd", LEANDER, TILDA])
def test_the_reviewer_is_told_in_a_line_of_a_path_that_is_none(ready_home: Home, path: str) -> None:
    done = ran("rebuild_text.py", ready_home, "tilda-quill", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr


@contextmanager
def served(home: Home, port: int) -> Iterator[HTTPConnection]:
    """Run the web application until the block ends."""
    program = [sys.executable, "-W", "error", str(EXAMPLES / "async_web_app.py"), str(port)]
    with subprocess.Popen(program, cwd=home.path, env=surroundings(home.path)) as process:
        try:
            yield HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        finally:
            process.terminate()
    assert process.returncode in {0, -15}


def answer(service: HTTPConnection, method: str, body: bytes | None = None) -> bytes:
    """Ask until the server listens."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            service.request(method, "/notes", body)
            return service.getresponse().read()
        except ConnectionRefusedError:
            service.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_the_web_application_notes_and_shows(ready_home: Home) -> None:
    with served(ready_home, free_port()) as service:
        assert b"Notes" in answer(service, "GET")
        answer(service, "POST", b"Mended the tower clock.")
        assert b"- Mended the tower clock.\n" in answer(service, "GET")
        service.close()
    with opened(ready_home) as garden:
        (event,) = garden.session("leander-moss").events.query(path=LEANDER, limit=1).result.rows
        assert event.actor == "web-app"


def backup(folder: Path, home: Path, copy: Path) -> "subprocess.CompletedProcess[str]":
    environment = {**surroundings(home), "PATH": f"{make_programs(folder / 'bin')}:{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", EXAMPLES / "backup.sh", home, copy],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_backup_opens_by_itself_and_holds_what_was_there(home: Home, folder: Path) -> None:
    with opened(home) as garden:
        ok(garden.session("tilda-quill").call("md.plant", {"path": TILDA, "title": "Notes"}))
    copy = folder / "copy"
    done = backup(folder, home.path, copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (copy / TILDA).read_bytes() == (home.path / TILDA).read_bytes()
    assert not (copy / ".garden/postgres/postmaster.pid").exists()
    with opened(home) as garden:
        assert garden.session("tilda-quill").fs.read(TILDA).result
    again = backup(folder, home.path, copy)
    assert again.returncode == 1
    assert "exists already" in again.stderr
