"""Every example runs as its docstring says, and does what it promises."""

import os
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TypeAlias

import pytest

from garden.home.folder import Home
from tests.docs.pages import REPOSITORY, make_programs
from tests.support.planted import ok, opened
from tests.support.ports import free_port

Finished: TypeAlias = subprocess.CompletedProcess[str]
EXAMPLES = REPOSITORY / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
LINES_MAX = 80
PATIENCE_SECONDS = 120
TILDA = "users/tilda-quill/notes.md"
LEANDER = "users/leander-moss/notes.md"


def environment_of(home: Path) -> Mapping[str, str]:
    """Environment of an example that uses this home."""
    return {**os.environ, "GARDEN_HOME": str(home), "PYTHONPATH": str(REPOSITORY)}


def run(example: str, home: Home, *words: str) -> str:
    """Run an example that must succeed as a program, and return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / example, *words],
        cwd=home.path,
        env=environment_of(home.path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def rebuild(
    ready_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], Finished]:
    """Run `rebuild_text.py` for Tilda's reviewer in this process, which has imported the package."""

    def run_example(path: str) -> Finished:
        monkeypatch.setenv("GARDEN_HOME", str(ready_home.path))
        monkeypatch.setattr(sys, "argv", ["rebuild_text.py", "tilda-quill", path])
        status: object = None
        try:
            runpy.run_path(str(EXAMPLES / "rebuild_text.py"), run_name="__main__")
        except SystemExit as end:
            status = end.code
        output, errors = capsys.readouterr()
        # As the interpreter does: it prints a status that is a text, and exits with 1.
        message = f"{status}\n" if isinstance(status, str) else ""
        return Finished([], int(bool(status)), output, errors + message)

    return run_example


def plant_notes(home: Home) -> None:
    """Plant Tilda's notes."""
    with opened(home) as garden:
        ok(garden.session("tilda-quill").call("md.plant", {"path": TILDA, "title": "Notes"}))


def test_the_list_names_exactly_the_examples() -> None:
    listed = re.findall(r"^\| `(\S+)` \|", (EXAMPLES / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in {".py", ".sh"})


@pytest.mark.parametrize("program", [*PROGRAMS, EXAMPLES / "backup.sh"], ids=lambda path: path.name)
def test_an_example_is_short_and_says_how_to_run_it(program: Path) -> None:
    text = program.read_text("utf-8")
    assert len(text.splitlines()) < LINES_MAX
    assert re.search(rf"(python|sh) examples/{program.name}", text)


def test_the_agents_loop_continues_after_a_refusal_and_remembers(ready_home: Home) -> None:
    output = run("agent_loop.py", ready_home)
    assert "I will remember" in output
    assert output.count("fs_append") == 2
    with opened(ready_home) as garden:
        text = garden.session("tilda-quill").fs.read(TILDA).result
        assert str(text).count("The lamp was lit late") == 1


def test_the_model_without_tool_calls_mends_its_call_and_remembers(ready_home: Home) -> None:
    output = run("text_protocol.py", ready_home)
    assert "Its JSON can't be read" in output
    assert output.endswith("assistant: I noted that you slept well.\n")
    with opened(ready_home) as garden:
        text = garden.session("tilda-quill").fs.read(TILDA).result
        assert str(text).count("- Slept.") == 1


def test_the_agent_over_mcp_remembers_and_may_not_delete(ready_home: Home) -> None:
    output = run("mcp_agent.py", ready_home)
    assert "can be read as a resource" in output
    with opened(ready_home) as garden:
        text = garden.session("tilda-quill").fs.read(TILDA).result
        assert "She read aloud again." in str(text)


def test_the_reviewer_pages_through_the_events_and_rebuilds_the_text(ready_home: Home) -> None:
    with opened(ready_home) as garden:
        session = garden.session("tilda-quill")
        ok(session.call("md.plant", {"path": TILDA, "title": "Notes"}))
        for number in range(105):
            ok(session.call("fs.append", {"path": TILDA, "text": f"- Page {number}, für Lio."}))
        annotation = {"type": "observation", "filePath": TILDA, "rationale": "No version of the document."}
        ok(session.call("events.log", annotation))
    output = run("rebuild_text.py", ready_home, "tilda-quill", TILDA)
    assert "v106 agent: append_file" in output
    assert output.endswith("The file is what its events say.\n")


def test_the_reviewer_sees_that_a_file_differs_from_its_events(
    ready_home: Home, rebuild: Callable[[str], Finished]
) -> None:
    plant_notes(ready_home)
    with (ready_home.path / TILDA).open("a") as file:
        file.write("- Written without a tool.\n")
    done = rebuild(TILDA)
    assert done.returncode == 1
    assert done.stdout.endswith("The file differs from its events.\n")


def test_the_reviewer_gets_the_text_of_a_lost_file(
    ready_home: Home, rebuild: Callable[[str], Finished]
) -> None:
    plant_notes(ready_home)
    file = ready_home.path / TILDA
    text = file.read_text("utf-8")
    file.unlink()
    done = rebuild(TILDA)
    assert (done.returncode, done.stdout) == (0, text), done.stderr
    assert "The file is gone." in done.stderr


@pytest.mark.parametrize("path", ["users/tilda-quill/../notes.md", "/etc/passwd", LEANDER, TILDA])
def test_a_refused_path_gives_the_reviewer_one_line(path: str, rebuild: Callable[[str], Finished]) -> None:
    done = rebuild(path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr


@contextmanager
def serve_notes(home: Home, port: int) -> Iterator[HTTPConnection]:
    """Run the web application until the block ends."""
    program = [sys.executable, "-W", "error", str(EXAMPLES / "async_web_app.py"), str(port)]
    with subprocess.Popen(program, cwd=home.path, env=environment_of(home.path)) as process:
        try:
            yield HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        finally:
            process.terminate()
    assert process.returncode in {0, -15}


def request_notes(service: HTTPConnection, method: str, body: bytes | None = None) -> bytes:
    """Send a request, again until the server listens, and return the answer."""
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


def test_the_web_application_writes_and_shows_notes(ready_home: Home) -> None:
    with serve_notes(ready_home, free_port()) as service:
        assert b"Notes" in request_notes(service, "GET")
        request_notes(service, "POST", b"Mended the tower clock.")
        assert b"- Mended the tower clock.\n" in request_notes(service, "GET")
        service.close()
    with opened(ready_home) as garden:
        (event,) = garden.session("leander-moss").events.query(path=LEANDER, limit=1).result.rows
        assert event.actor == "web-app"


def run_backup(folder: Path, home: Path, copy: Path, command: str) -> Finished:
    """Run `backup.sh`."""
    environment = {
        **environment_of(home),
        "PATH": f"{make_programs(folder / 'bin', command)}:{os.environ['PATH']}",
    }
    return subprocess.run(
        ["sh", EXAMPLES / "backup.sh", home, copy],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_backup_opens_and_holds_the_documents(home: Home, folder: Path, forked_command: str) -> None:
    plant_notes(home)
    copy = folder / "copy"
    done = run_backup(folder, home.path, copy, forked_command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (copy / TILDA).read_bytes() == (home.path / TILDA).read_bytes()
    assert not (copy / ".garden/postgres/postmaster.pid").exists()
    with opened(home) as garden:
        assert garden.session("tilda-quill").fs.read(TILDA).result
    again = run_backup(folder, home.path, copy, forked_command)
    assert again.returncode == 1
    assert "exists already" in again.stderr
