"""`garden call` and `garden plant`: envelopes, exit codes and misuse."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from garden.application import Garden
from garden.home.folder import Home
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, PAIR, file_of, ok, plant, result, rows
from tests.support.processes import command, environment
from tests.surfaces.cli.conftest import Command, Ran

NOWHERE = {"GARDEN_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}


def _run(home: Path, *words: str, given: bytes = b"", env: dict[str, str] | None = None) -> Ran:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        return Command(home, patch)(*words, given=given)


def _call(
    home: Path, *words: str, given: bytes = b"", env: dict[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    done = _run(home, "call", *words, given=given, env=env)
    (line,) = done.lines
    envelope: dict[str, Any] = json.loads(line)
    assert envelope["ok"] is (done.code == 0), done.err
    return done.code, envelope


def _call_process(home: Path, *words: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        command("call", *words), env=environment(home, env), capture_output=True, check=False
    )
    (line,) = done.stdout.decode().splitlines()
    envelope: dict[str, Any] = json.loads(line)
    return done.returncode, envelope


def _code(home: Path, *words: str, given: bytes = b"", env: dict[str, str] | None = None) -> str:
    status, envelope = _call(home, *words, given=given, env=env)
    assert status == 1
    assert set(envelope["error"]) == {"code", "message", "hint", "details"}
    code: str = envelope["error"]["code"]
    return code


def test_a_call_is_answered_by_one_envelope_and_exit_code_0(garden: Garden) -> None:
    arguments = json.dumps({"path": NOTES, "title": "日記"}, ensure_ascii=False)
    status, envelope = _call_process(
        garden.home.path, "md.plant", arguments, "--user", "ada", "--actor", "me"
    )
    assert status == 0
    session = garden.session("ada")
    assert envelope["result"] == {"newHash": result(session, "fs.hash", path=NOTES)}
    (event,) = rows(session)
    assert (event["actor"], event["role"], event["eventId"]) == ("me", "agent", envelope["meta"]["eventId"])


def test_arguments_may_come_from_standard_input(garden: Garden) -> None:
    session = garden.session("ada")
    plant(session, NOTES)
    text = "a" * 200_000 + " 日記 'quoted'"
    given = json.dumps({"path": NOTES, "text": text}).encode()
    _call(garden.home.path, "fs.append", "-", "--user", "ada", given=given)
    assert text in file_of(garden, NOTES).read_text()


def test_a_refusal_is_an_envelope_and_exit_code_1(garden: Garden) -> None:
    home = garden.home.path
    assert _code(home, "fs.read", json.dumps({"path": NOTES}), "--user", "ada") == "not_found"
    assert _code(home, "fs.delete", "--user", "ada") == "delete_not_allowed"
    assert _code(home, "fs.nothing", "--user", "ada") == "unknown_tool"
    assert _code(home, "fs.move", "{}", "--user", "ada") == "permission_denied"
    assert _code(home, "fs.move", "{}", "--user", "ada", "--role", "maintainer") == "invalid_input"


@pytest.mark.parametrize("arguments", ["{", "", "nothing", '{"a": NaN}', "[" * 100_000, "[]", "'{}'", "7"])
def test_arguments_that_are_no_json_object_are_refused(garden: Garden, arguments: str) -> None:
    assert _code(garden.home.path, "fs.read", arguments, "--user", "ada") == "invalid_input"


def test_arguments_that_are_no_text_are_refused(garden: Garden) -> None:
    assert (
        _code(garden.home.path, "fs.read", "-", "--user", "ada", given=b'{"path": "\xff"}') == "invalid_input"
    )


@pytest.mark.parametrize(
    "who",
    [
        ["--user", "Ada"], ["--user", ""], ["--user", "../ben"],
        ["--user", "ada", "--actor", ""], ["--user", "ada", "--actor", "a\nb"],
    ],
)  # fmt: skip
def test_callers_that_can_not_be_are_refused(garden: Garden, who: list[str]) -> None:
    assert _code(garden.home.path, "tools.list", *who) == "invalid_input"


def test_a_database_out_of_reach_is_told_in_an_envelope(home: Home) -> None:
    assert _code(home.path, "tools.list", "--user", "ada", env=NOWHERE) == "unavailable"


def test_a_wrong_setting_is_told_in_an_envelope(folder: Path) -> None:
    wrong = {"GARDEN_LIMITS_READ_LINES": "many"}
    assert _code(folder / "home", "tools.list", "--user", "ada", env=wrong) == "invalid_input"


def test_a_home_that_can_not_be_one_is_told_in_an_envelope(folder: Path, database: str) -> None:
    (folder / "home").write_text("a file")
    _code(folder / "home", "tools.list", "--user", "ada", env={"GARDEN_DATABASE_URL": database})


def test_kinds_that_can_not_be_read_are_told_in_an_envelope(garden: Garden) -> None:
    kinds = garden.home.path / "kinds"
    kinds.mkdir()
    for content in (b"\xff", b"not toml", b"[nothing]\n"):
        (kinds / "mine.toml").write_bytes(content)
        assert _code(garden.home.path, "tools.list", "--user", "ada") == "invalid_input"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fs.read"],
        ["fs.read", "{}", "more", "--user", "ada"],
        ["fs.read", "--user", "ada", "--role", "king"],
    ],
)
def test_a_misuse_exits_with_2_and_prints_no_envelope(home: Home, words: list[str]) -> None:
    done = _run(home.path, "call", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err


def test_an_answer_is_readable_whatever_the_terminal_can_show(garden: Garden) -> None:
    session = garden.session("ada")
    plant(session, NOTES)
    ok(session, "fs.append", path=NOTES, text="日記")
    arguments = json.dumps({"path": NOTES})
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    _, envelope = _call_process(garden.home.path, "fs.read", arguments, "--user", "ada", env=ascii_only)
    assert "日記" in envelope["result"]


def test_plant_begins_a_garden_a_part_and_a_relationship(garden: Garden) -> None:
    home = garden.home.path
    planted = [
        _planted(home, "--title", "Ada"),
        _planted(home, "--part", "critic", "--title", "The Critic"),
        _planted(home, "--relationship", "critic-and-child", "--participants", "critic, child"),
    ]
    assert [[each["path"] for each in answers] for answers in planted] == [
        [OVERVIEW, NOTES],
        [CRITIC, CRITIC.replace("profile", "notes")],
        [PAIR, PAIR.replace("profile", "notes")],
    ]
    assert all(each["ok"] for answers in planted for each in answers)
    session = garden.session("ada")
    assert "# The Critic\n" in result(session, "fs.read", path=CRITIC)
    assert "participants:\n- critic\n- child\n" in result(session, "fs.read", path=PAIR)


def test_planting_again_leaves_what_is_there(garden: Garden) -> None:
    home = garden.home.path
    _planted(home)
    before = file_of(garden, NOTES).read_bytes()
    done = _run(home, "plant", "--user", "ada", "--title", "Other", "--json")
    assert done.code == 0
    assert {each["error"]["code"] for each in json.loads(done.out)} == {"already_exists"}
    assert file_of(garden, NOTES).read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["--part", "a", "--relationship", "b", "--participants", "c"], ["--relationship", "b"],
        ["--participants", "a,b"], ["--part"],
    ],
)  # fmt: skip
def test_a_plant_that_makes_no_sense_exits_with_2(folder: Path, words: list[str]) -> None:
    done = _run(folder / "home", "plant", "--user", "ada", *words)
    assert (done.code, done.out) == (2, "")


def test_a_plant_of_nobody_is_refused(garden: Garden) -> None:
    done = _run(garden.home.path, "plant", "--user", "Ada")
    assert (done.code, done.out) == (1, "")
    assert "user's id" in done.err


def _planted(home: Path, *words: str) -> list[dict[str, Any]]:
    done = _run(home, "plant", "--user", "ada", *words, "--json")
    assert done.code == 0, done.err
    answers: list[dict[str, Any]] = json.loads(done.out)
    return answers
