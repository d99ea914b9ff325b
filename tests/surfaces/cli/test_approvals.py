"""`garden approvals`, the prompt at a terminal, and `garden call --many`."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from garden.application import Garden
from tests.support.gardens import NOTES, file_of
from tests.support.processes import command, environment
from tests.surfaces.cli.conftest import Command

ARGS = {"path": NOTES, "text": "Woke early."}
CALL = ("call", "fs.append", json.dumps(ARGS), "--actor", "companion")


@pytest.fixture
def run(run: Command) -> Command:
    """The command, in a home that asks before appends."""
    file = run.home / "garden.toml"
    file.write_text(f'{file.read_text()}\n[gateway.permissions]\n"fs.append" = "ask"\n')
    return run


def asked(run: Command) -> str:
    ran = run(*CALL)
    assert (ran.code, ran.json["error"]["code"]) == (1, "permission_required")
    return str(ran.json["error"]["details"]["approvalId"])


@pytest.mark.usefixtures("ada")
def test_a_call_is_shown_approved_and_sent_again(run: Command) -> None:
    approval = asked(run)
    assert approval in run.well("approvals", "list", "--state", "pending")
    shown = run.well("approvals", "show", approval)
    assert "asked by companion" in shown
    assert "+Woke early." in shown
    assert "can't approve" in run.fails("approvals", "approve", approval, "--actor", "companion")
    assert "approved by operator" in run.well("approvals", "approve", approval)
    assert run(*CALL).json["ok"]
    assert run("approvals", "show", approval, "--json").json["state"] == "used"
    assert "no such approval" in run.fails("approvals", "show", "x")


@pytest.mark.usefixtures("ada")
def test_a_call_is_denied_or_changed(run: Command, folder: Path, garden: Garden) -> None:
    approval = asked(run)
    better = folder / "better.json"
    better.write_text("{")
    assert "is not valid JSON" in run.fails("approvals", "approve", approval, "--args", better)
    better.write_text(json.dumps({**ARGS, "text": "Woke at six."}))
    assert "Carried out as yours" in run.well("approvals", "approve", approval, "--args", better)
    assert "Woke at six." in file_of(garden, NOTES).read_text()
    assert "as event" in run(*CALL).json["error"]["message"]
    other = run("call", "fs.append", json.dumps({**ARGS, "text": "No."}), "--actor", "companion").json
    denied = other["error"]["details"]["approvalId"]
    assert "denied by operator" in run.well("approvals", "deny", denied, "--reason", "Not hers.")
    assert "pending" in run.well("approvals", "undo", denied)


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_a_person_at_a_terminal_is_asked(run: Command, garden: Garden, answer: bytes, code: int) -> None:
    here, there = pty.openpty()
    os.write(here, answer)
    words = command("append", "notes.md", "Woke early.", "--no-date")
    with subprocess.Popen(
        words, stdin=there, stderr=there, stdout=subprocess.PIPE, env=environment(run.home)
    ) as process:
        os.close(there)
        seen = b""
        while b"carry it out?" not in seen:
            seen += os.read(here, 4096)
        assert process.wait(60) == code
    os.close(here)
    assert b"+Woke early." in seen
    assert ("Woke early." in file_of(garden, NOTES).read_text()) is (code == 0)
    [found] = run("approvals", "list", "--json").json
    assert (found["decidedBy"], found["state"]) == ("person", "denied" if code else "used")


@pytest.mark.usefixtures("ada")
def test_several_calls_come_from_a_file(run: Command, folder: Path) -> None:
    read, append = {"name": "fs.read", "args": {"path": NOTES}}, {"name": "fs.append", "args": ARGS}
    file = folder / "calls.json"
    file.write_text(json.dumps([read]))
    assert run.well("call", "--many", file)
    ran = run("call", "--many", "-", given=json.dumps([read, append, read]).encode())
    assert (ran.code, ran.json["denied"], ran.json["ran"]) == (1, "fs.append", ["fs.read"])
    assert run("call", "--many", "-", given=b"[]").json["error"]["code"] == "invalid_input"
    twice = b'[{"name": "fs.read", "name": "fs.append"}]'
    for way in ("--many", "--archon"):
        refused = run("call", way, "-", given=twice).json["error"]
        assert (refused["code"], "same name twice" in refused["message"]) == ("invalid_input", True)
    assert "Name a tool" in run.fails("call", code=2)
    assert "Name a tool" in run.fails("call", "fs.read", "--many", file, code=2)


@pytest.mark.usefixtures("ada")
def test_a_transaction_comes_from_a_file(run: Command, garden: Garden) -> None:
    new = "users/ada/parts/new/notes.md"
    plant = {"name": "md.plant", "args": {"path": new}}
    append = {"name": "fs.append", "args": ARGS}
    given = json.dumps({"transaction": True, "idempotencyKey": "k", "tools": [plant, append]}).encode()
    words = ("call", "--many", "-", "--actor", "companion")
    ran = run(*words, given=given)
    assert (ran.code, [each["ok"] for each in ran.json["results"]]) == (1, [False, False])
    assert not file_of(garden, new).exists()
    run.well("approvals", "approve", ran.json["results"][1]["error"]["details"]["approvalId"])
    assert run.well(*words, given=given)
    assert "Woke early." in file_of(garden, NOTES).read_text()
    assert run(*words, given=given).json["results"][0]["meta"]["replayed"]


@pytest.mark.usefixtures("ada")
def test_one_of_two_processes_uses_an_approval(run: Command, garden: Garden) -> None:
    run.well("approvals", "approve", asked(run))
    racing = [
        subprocess.Popen(
            command("call", "fs.append", json.dumps({**ARGS, "idempotencyKey": key}), *CALL[3:]),
            env=environment(run.home),
            stdout=subprocess.PIPE,
        )
        for key in ("one", "two", "three")
    ]
    answers = [json.loads(process.communicate(timeout=60)[0]) for process in racing]
    assert sorted(answer["ok"] for answer in answers) == [False, False, True]
    assert file_of(garden, NOTES).read_text().count("Woke early.") == 1
