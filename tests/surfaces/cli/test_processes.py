"""The command as a process: Ctrl-C, pipes, terminals, locales."""

import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from garden.application import Garden
from garden.events.records import Caller
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, events_of, file_of, ok, result
from tests.support.planted import notes_text
from tests.support.processes import command, environment, spawn_garden
from tests.support.processes import garden as garden_command
from tests.support.waiting import until_a_lock_is_awaited
from tests.surfaces.cli.conftest import Command

ADA = {"GARDEN_USER": "ada"}
_PATIENCE_SECONDS = 60


def test_ctrl_c_waits_for_the_current_write(garden: Garden, ada: Session, database: str) -> None:
    with garden.services.store.document(ada.caller, NOTES):
        writer = spawn_garden("append", "notes.md", "To the end.", home=garden.home.path, env=ADA)
        until_a_lock_is_awaited(database)
        writer.send_signal(signal.SIGINT)
        assert writer.stderr is not None
        notice = writer.stderr.readline()
    out, err = writer.communicate(timeout=_PATIENCE_SECONDS)
    assert notice == "Finishing the current change; press Ctrl-C again to stop at once.\n"
    assert (writer.returncode, err) == (130, "")
    assert out.startswith("Changed: notes.md")
    assert events_of(ada, NOTES)[-1] == "append_file committed"
    assert "To the end." in result(ada, "fs.read", path=NOTES)


def test_ctrl_c_before_the_command_is_loaded_is_quiet(folder: Path) -> None:
    program = (
        "import os, runpy, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        # A test run in the background inherits an ignored SIGINT, as a shell's background jobs do.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.argv = ['garden', 'tools']\n"
        "runpy.run_module('garden', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(folder / "home"), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_a_second_ctrl_c_gives_up_a_write_that_never_began(
    garden: Garden, ada: Session, database: str
) -> None:
    before = events_of(ada, NOTES)
    with garden.services.store.document(ada.caller, NOTES):
        writer = spawn_garden("append", "notes.md", "Never.", home=garden.home.path, env=ADA)
        until_a_lock_is_awaited(database)
        writer.send_signal(signal.SIGINT)
        assert writer.stderr is not None
        writer.stderr.readline()
        writer.send_signal(signal.SIGINT)
        out, err = writer.communicate(timeout=_PATIENCE_SECONDS)
    assert (writer.returncode, out, err) == (130, "", "")
    assert events_of(ada, NOTES) == before
    assert "Never." not in file_of(garden, NOTES).read_text()


def test_an_interrupted_import_leaves_nothing_open_and_goes_on_later(
    run: Command, garden: Garden, folder: Path, database: str
) -> None:
    source = folder / "source"
    for number in range(12):
        part = source / f"ada/parts/p{number:02}"
        part.mkdir(parents=True)
        (part / "notes.md").write_text(notes_text())
    home = garden.home.path
    with garden.services.store.document(Caller("ada", "holder"), "users/ada/parts/p03/notes.md"):
        importing = spawn_garden("import", source, home=home)
        until_a_lock_is_awaited(database)
        importing.send_signal(signal.SIGINT)
        assert importing.stderr is not None
        notice = importing.stderr.readline()
    _, err = importing.communicate(timeout=_PATIENCE_SECONDS)
    assert notice == "Finishing the current change; press Ctrl-C again to stop at once.\n"
    assert (importing.returncode, err) == (130, "")
    done = len(list(home.glob("users/ada/parts/*/notes.md")))
    assert done == 4
    assert run.well("status").endswith(f"{done} documents of 1 user: {done} in step.\n")
    assert run.well("import", source) == f"{12 - done} imported, {done} here already, 0 refused.\n"


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("words", ["events --all", "ls", "cat notes.md"])
def test_a_reader_that_stops_early_is_no_error(garden: Garden, words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    env = environment(garden.home.path, ADA)
    done = subprocess.run(
        command(*words.split()), env=env, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 0


def test_the_first_of_many_lines_is_enough_for_head(garden: Garden, ada: Session) -> None:
    for number in range(300):
        ok(ada, "events.log", type="observation", rationale=f"{number} " + "x" * 500)
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$@" | head -1', "bash", *command("events", "--all", "--json")],
        env=environment(garden.home.path, ADA),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


@pytest.mark.usefixtures("ada")
def test_a_terminal_has_colours_and_a_pipe_has_none(garden: Garden) -> None:
    home = garden.home.path
    xterm = {**ADA, "TERM": "xterm"}
    assert b"\x1b[" in _on_a_terminal(["ls"], environment(home, xterm))
    assert "\x1b" not in garden_command("ls", home=home, env={**xterm, "FORCE_COLOR": "1"}).stdout


@pytest.mark.usefixtures("ada")
def test_long_work_shows_how_far_it_has_come_on_a_terminal_and_leaves_the_answer_alone(
    garden: Garden,
) -> None:
    ours, theirs = pty.openpty()
    env = environment(garden.home.path, {**ADA, "TERM": "xterm"})
    with subprocess.Popen(
        command("lint"), env=env, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as linting:
        os.close(theirs)
        shown = _read_all(ours)
        assert linting.stdout is not None
        assert linting.stdout.read() == "4 documents: 0 block, 0 cap, 0 style.\n"
    assert b"Linting" in shown


def _on_a_terminal(words: list[str], env: dict[str, str]) -> bytes:
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(*words), env=env, stdin=theirs, stdout=theirs, stderr=theirs) as shown:
        os.close(theirs)
        found = _read_all(ours)
    assert shown.returncode == 0, found
    return found


def _read_all(terminal: int) -> bytes:
    found = b""
    # At its end a terminal has no end of file, but an error.
    with suppress(OSError):
        while data := os.read(terminal, 65536):
            found += data
    os.close(terminal)
    return found


def test_a_locale_without_a_character_still_prints_the_text(garden: Garden, ada: Session) -> None:
    ok(ada, "fs.append", path=NOTES, text="日記, ärgerlich")
    ascii_only = {
        **ADA,
        "PYTHONIOENCODING": "ascii",
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
    }
    for words in (["search", "rgerlich"], ["cat", "notes.md", "--json"]):
        done = garden_command(*words, home=garden.home.path, env=ascii_only)
        assert (done.returncode, done.stderr) == (0, ""), words
    bytewise = subprocess.run(
        command("cat", "notes.md"),
        env=environment(garden.home.path, ascii_only),
        capture_output=True,
        check=True,
    )
    assert bytewise.stdout == file_of(garden, NOTES).read_bytes()


@pytest.mark.usefixtures("ada")
def test_a_full_device_is_reported_in_one_line(garden: Garden) -> None:
    for words in (["cat", "notes.md"], ["ls", "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                command(*words),
                env=environment(garden.home.path, ADA),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert (done.returncode, done.stderr) == (1, "error: No space left on device\n"), words


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("garden sta", "status"), ("garden cat no", "notes.md"), ("garden cat parts/", CRITIC[10:]),
        ("garden cat users/ada/n", NOTES), ("garden ls --user a", "ada"),
        ("garden call md.pa", "md.patch_section"),
        ("garden tools events.q", "events.query"), ("garden --home /nowhere cat n", ""),
    ],
)  # fmt: skip
def test_the_shell_completes_what_fits(run: Command, words: str, offered: str) -> None:
    ran = run(_GARDEN_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert ran.err == ""
    assert offered in ran.out.split() or not offered
    assert offered or not ran.out.strip()


@pytest.mark.usefixtures("ada")
def test_a_closed_standard_input_is_empty(garden: Garden) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" <&-', "sh", *command("append", "notes.md", "-")],
        env=environment(garden.home.path, ADA),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 1}


@pytest.mark.usefixtures("ada")
def test_a_file_that_may_not_be_read_is_named(run: Command, folder: Path) -> None:
    message = run.fails("patch", "notes.md", "--diff", folder, code=2)
    assert "can't be read: Is a directory." in message
