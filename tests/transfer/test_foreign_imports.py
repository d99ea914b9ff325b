import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from garden.application import Garden
from garden.events.stream import LockedStream
from garden.files.paths import GardenPath
from garden.session import Session
from garden.transfer.foreign_imports import ForeignImport
from garden.transfer.formats.entry import Entry
from garden.writing.callers import make_caller
from tests.support.foreign import (
    CLAUDE,
    chatgpt_chat,
    mem0_memory,
    put_json,
    put_mem0,
    put_notes,
    put_zip,
)
from tests.support.gardens import NOTES, events_of, file_of, ok, result, rows
from tests.support.processes import spawn_garden
from tests.surfaces.cli.conftest import Command, Ran, untouched

BOAT = "users/ada/memories/obsidian/boat.md"
PLAN = b"---\nid: mine\nuser_id: someone\n---\r\n# Boat\n\n## Plan\n\n[[Crew]] \n"


@pytest.fixture
def ada(garden: Garden) -> Session:
    return garden.session("ada", "companion")


@pytest.fixture
def run(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(garden.home.path, monkeypatch)


def _import(run: Command, source: str, file: Path, *words: str) -> Ran:
    return run("import", "--from", source, file, "--user", "ada", *words)


def _outcomes(run: Command, source: str, file: Path, *words: str) -> dict[str, str]:
    done = _import(run, source, file, "--json", *words)
    report: list[dict[str, Any]] = done.json
    assert all(set(each) == {"file", "outcome", "path", "code", "message", "hint"} for each in report)
    assert all(each["message"] and each["hint"] for each in report if each["outcome"] == "refused")
    assert done.code == ("refused" in {each["outcome"] for each in report})
    return {each["file"]: each["code"] or each["outcome"] for each in report}


def _inbox(session: Session) -> list[str]:
    text: str = result(session, "fs.read", path=NOTES)
    return [line for line in text.partition("inbox v1 -->")[2].splitlines() if line]


def test_memories_go_into_the_inbox_with_their_day_tags_and_source(
    run: Command, ada: Session, folder: Path
) -> None:
    file = put_mem0(folder / "all.json", "Mends  clocks\nat night", "Fears ferries")
    put_json(
        folder / "all.json",
        [mem0_memory(0, "Mends clocks"), mem0_memory(1, "Fears ferries", categories=None)],
    )
    assert _outcomes(run, "mem0", file, "--actor", "mover") == {"mem-0": "imported", "mem-1": "imported"}
    assert _inbox(ada) == ["2026-03-04: Mends clocks #night-work", "2026-03-04: Fears ferries"]
    event = rows(ada, path=NOTES)[0]
    assert (event["op"], event["tool"], event["actor"]) == ("import", "garden.import", "mover")
    assert event["evidenceRefs"] == ["mem0:mem-1"]
    assert event["rationale"] == (
        "Imported from mem0, where it was written on 2026-03-04 and changed on 2026-03-05."
    )
    [newest, _] = result(ada, "memory.list")["memories"]
    assert (newest["origin"], newest["day"]) == ("imported", "2026-03-04")


def test_a_second_run_skips_what_is_here_and_updates_what_has_changed(
    run: Command, ada: Session, folder: Path
) -> None:
    file = put_mem0(folder / "all.json", "Mends clocks", "Fears ferries", "Moved in March")
    _outcomes(run, "mem0", file)
    assert set(_outcomes(run, "mem0", file).values()) == {"unchanged"}
    for words in ("Loves ferries", "Fears ferries", "Loves ferries"):
        changed = put_mem0(folder / "new.json", "Mends clocks", words, "Moved in March", "Has a cat")
        assert _outcomes(run, "mem0", changed)["mem-1"] == "updated"
    assert [line[12:].removesuffix(" #night-work") for line in _inbox(ada)] == [
        "Mends clocks", "Loves ferries", "Moved in March", "Has a cat",
    ]  # fmt: skip
    assert len(rows(ada, path=NOTES)) == 7


def test_a_memory_changed_or_removed_here_is_left_alone(run: Command, ada: Session, folder: Path) -> None:
    _outcomes(run, "mem0", put_mem0(folder / "all.json", "Mends clocks", "Fears ferries"))
    ok(ada, "fs.edit", path=NOTES, find="Mends clocks", replace="Mends watches")
    ok(ada, "fs.edit", path=NOTES, find="\n2026-03-04: Fears ferries #night-work\n", replace="")
    before = result(ada, "fs.read", path=NOTES)
    assert set(_outcomes(run, "mem0", folder / "all.json").values()) == {"unchanged"}
    changed = put_mem0(folder / "all.json", "Sells clocks", "Loves ferries")
    assert set(_outcomes(run, "mem0", changed).values()) == {"precondition_failed"}
    assert result(ada, "fs.read", path=NOTES) == before


def test_what_the_garden_says_already_is_not_stored_again(run: Command, ada: Session, folder: Path) -> None:
    ok(ada, "memory.store", content="He mends clocks.")
    file = put_mem0(folder / "all.json", "Mends clocks", "Fears ferries", "Fears ferries")
    assert _outcomes(run, "mem0", file) == {"mem-0": "unchanged", "mem-1": "imported", "mem-2": "unchanged"}
    assert len(_inbox(ada)) == 2


def test_one_id_twice_in_an_export_counts_once(run: Command, ada: Session, folder: Path) -> None:
    twice = [mem0_memory(1, "One"), mem0_memory(1, "One"), mem0_memory(1, "Two")]
    done = _import(run, "mem0", put_json(folder / "all.json", twice))
    assert "1 imported, 0 updated, 0 known already, 1 skipped, 1 refused." in done.out
    assert "mem-1: Another entry of the export has the same id and other words." in done.out
    assert _inbox(ada) == ["2026-03-04: One #night-work"]


def test_notes_become_documents_byte_for_byte_and_are_updated(
    run: Command, garden: Garden, ada: Session, folder: Path
) -> None:
    vault = put_notes(folder / "vault", {"Boat.md": PLAN})
    assert _outcomes(run, "obsidian", vault) == {"vault/Boat.md": "imported"}
    assert file_of(garden, BOAT).read_bytes() == PLAN
    assert _outcomes(run, "obsidian", vault) == {"vault/Boat.md": "unchanged"}
    put_notes(vault, {"Boat.md": PLAN + b"more\n"})
    assert _outcomes(run, "obsidian", vault) == {"vault/Boat.md": "updated"}
    assert file_of(garden, BOAT).read_bytes() == PLAN + b"more\n"
    assert events_of(ada, BOAT) == ["import committed", "import committed"]


def test_a_document_changed_or_archived_here_is_left_alone(
    run: Command, garden: Garden, ada: Session, folder: Path
) -> None:
    vault = put_notes(folder / "vault", {"Boat.md": b"Boat\n", "Crew.md": b"Crew\n"})
    _outcomes(run, "obsidian", vault)
    ok(ada, "fs.append", path=BOAT, text="It leaks.")
    ok(ada, "fs.archive", path=BOAT.replace("boat", "crew"), rationale="She left.")
    assert set(_outcomes(run, "obsidian", vault).values()) == {"unchanged"}
    put_notes(vault, {"Boat.md": b"Ship\n", "Crew.md": b"Band\n"})
    assert set(_outcomes(run, "obsidian", vault).values()) == {"precondition_failed"}
    assert "It leaks." in file_of(garden, BOAT).read_text()
    assert file_of(garden, BOAT.replace("boat", "crew")).read_text() == ""


def test_no_name_of_an_export_leads_anywhere(run: Command, garden: Garden, folder: Path) -> None:
    names = [
        "../../notes.md", "/etc/passwd.md", "a/../../b.md", "A\x1b[31m/\u202e.md", "日記/日記.md",
        "b/c/d/e/f/g.md", "CON.md", "B.md", "b.md", f"{'x' * 200}/{'y' * 200}.md", "a//b.md", "C:\\x.md",
    ]  # fmt: skip
    notes = {name: f"{number}\n" for number, name in enumerate(names)}
    file = put_zip(folder / "notes.zip", notes)
    foreseen = _import(run, "obsidian", file, "--dry-run").out
    done = _import(run, "obsidian", file)
    assert foreseen.replace("A dry run, which changed nothing. Without --dry-run:\n", "") == done.out
    assert f"{len(names)} imported, 0 updated, 0 known already, 0 skipped, 0 refused." in done.out
    files = [each for each in garden.home.users.rglob("*") if each.is_file()]
    assert len(files) == len(names)
    assert all(each.is_relative_to(garden.home.users / "ada/memories/obsidian") for each in files)
    assert all(GardenPath(f"{each.relative_to(garden.home.path)}") for each in files)


def test_a_secret_in_a_name_is_refused(run: Command, garden: Garden, folder: Path) -> None:
    vault = put_notes(folder / "vault", {f"ghp_{'a1B2c3' * 6}.md": b"words", "b.md": b"words"})
    with untouched(garden):
        found = _outcomes(run, "obsidian", vault, "--dry-run")
    assert list(found.values()) == ["imported", "invalid_input"]


def test_notes_of_two_vaults_with_one_name_are_two_documents(
    run: Command, garden: Garden, folder: Path
) -> None:
    for name in ("one", "two"):
        vault = put_notes(folder / name, {"Boat.md": name.encode()})
        assert _outcomes(run, "obsidian", vault) == {f"{name}/Boat.md": "imported"}
    assert file_of(garden, BOAT).read_text() == "one"


@pytest.mark.parametrize("chats", [True, False])
def test_conversations_can_be_left_out(run: Command, garden: Garden, folder: Path, *, chats: bool) -> None:
    file = put_zip(folder / "export.zip", {name: json.dumps(content) for name, content in CLAUDE.items()})
    found = _outcomes(run, "claude", file, *(() if chats else ("--no-conversations",)))
    assert found["talk-1"] == ("imported" if chats else "skipped")
    assert found["project-1"] == "imported"
    names = {path.name for path in (garden.home.users / "ada/memories/claude").rglob("*.md")}
    assert names == {"memory.md", "project.md", "routes.md"} | ({"2026-02-03-stamps.md"} if chats else set())


def test_chatgpt_fills_the_inbox_and_the_memories(run: Command, ada: Session, folder: Path) -> None:
    found = _outcomes(run, "chatgpt", put_json(folder / "conversations.json", [chatgpt_chat()]))
    assert set(found.values()) == {"imported"}
    assert _inbox(ada)[1] == "2026-03-04: Leander fears ferries."
    path = "users/ada/memories/chatgpt/chats/2026-03-04-ferries-etc.md"
    assert result(ada, "fs.read", path=path).startswith("# Ferries / ../etc\n")
    [best, *_] = result(ada, "memory.recall", query="Which ferry goes to Ftero?")["memories"]
    assert best["path"] == path


def test_a_dry_run_says_what_a_run_does_and_changes_nothing(
    run: Command, garden: Garden, ada: Session, folder: Path
) -> None:
    ok(ada, "memory.store", content="Weighs letters")
    ok(ada, "memory.store", content="Once stole a heron from Jorun")
    maintainer = garden.session("ada", "keeper", role="maintainer")
    ok(maintainer, "garden.erase", text="stole a heron from Jorun", reason="She asked.")
    words = [
        "Mends clocks",
        "Weighs letters",
        "Two\n\nlines",
        "ghp_" + "a1B2c3" * 6,
        "He stole a heron from Jorun",
    ]
    file = put_mem0(folder / "all.json", *words)
    with untouched(garden):
        foreseen = _outcomes(run, "mem0", file, "--dry-run")
        told = _import(run, "mem0", file, "--dry-run")
    assert list(foreseen.values()) == ["imported", "unchanged", "imported", "invalid_input", "erased"]
    assert "A dry run, which changed nothing." in told.out
    assert "users/ada/memories/mem0/two-lines.md: 1 entry." in told.out
    assert _outcomes(run, "mem0", file) == foreseen


ODD = [
    "a\0b", "\ud800 half", "\x1b[31m red", "\ue200cite\ue201", "\u202e back", "x " * 600_000, "x" * 20_000,
    "## Heading", "A\n\n## B\n\nc", "<!-- @anchor: inbox v1 -->", "# T\n\n<!-- @anchor: inbox v1 -->\n",
    "```\nopen", "<!-- open", "---\nid: x\n", "---\nid: [1\n---\nx", "\ufeffmark", "a\r\nb\r\n", "a\rb",
    "- a\n  - b", "> quote", "2026-01-01: own day", " \u00a0 ", "#tag", "(priority: 80)", "| a | b |",
    "a\u2028b", "1. one", "    code", "***",
]  # fmt: skip


@pytest.mark.parametrize("place", [(), ("obsidian", "Boat")])
def test_odd_entries_are_imported_or_refused_as_a_dry_run_says(
    garden: Garden, ada: Session, place: tuple[str, ...]
) -> None:
    tags = ("a b", "\ud800", "9", "日記", "#x", "(", "x" * 500)
    entries = [
        Entry(id=f"\0\ud800{number}", text=text, place=place, tags=tags) for number, text in enumerate(ODD)
    ]
    foreseen = [_work(garden, dry_run=True).take(entry) for entry in entries]
    done = [_work(garden).take(entry) for entry in entries]
    assert [(each.outcome, each.code) for each in done] == [(each.outcome, each.code) for each in foreseen]
    refused = {ODD[number][:6] for number, each in enumerate(done) if each.outcome == "refused"}
    assert refused == {"a\0b", "\ud800 half", "\x1b[31m ", "x x x "}
    assert {_work(garden).take(entry).outcome for entry in entries} == {"unchanged", "refused", "skipped"}
    assert len(rows(ada)) == sum(each.outcome == "imported" for each in done)


def test_a_damaged_file_among_others_changes_nothing(run: Command, garden: Garden, folder: Path) -> None:
    put_json(folder / "conversations-000.json", [chatgpt_chat()])
    (folder / "conversations-001.json").write_text("[")
    with untouched(garden):
        assert "conversations-001.json is no JSON" in _import(run, "chatgpt", folder).err


def test_the_options_of_exports_need_from(run: Command, garden: Garden, folder: Path) -> None:
    for words in (["--dry-run"], ["--user", "ada"], ["--no-conversations"]):
        assert "go with --from" in run.fails("import", folder, *words, code=2)
    assert "'other' is not one of" in run.fails("import", "--from", "other", folder, code=2)
    with untouched(garden):
        assert "can't be a user's id" in run.fails("import", "--from", "mem0", folder, "--user", "../ben")


def test_a_killed_import_continues_when_started_again(
    run: Command, garden: Garden, ada: Session, folder: Path
) -> None:
    notes = {f"n{number:02}.md": f"{number}\n".encode() for number in range(20)}
    vault = put_notes(folder / "vault", notes)
    # The import waits at this document, so it is half done when it is killed.
    with garden.services.store.document(ada.caller, "users/ada/memories/obsidian/n10.md"):
        words = ("import", "--from", "obsidian", vault, "--user", "ada")
        process = spawn_garden(*words, home=garden.home.path)
        while len(rows(ada, status="committed")) < 10:
            assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
    assert not file_of(garden, "users/ada/memories/obsidian/n19.md").exists()
    assert Counter(_outcomes(run, "obsidian", vault).values()) == {"unchanged": 10, "imported": 10}
    for name, content in notes.items():
        assert file_of(garden, f"users/ada/memories/obsidian/{name}").read_bytes() == content
        assert events_of(ada, f"users/ada/memories/obsidian/{name}") == ["import committed"]


class _KilledError(BaseException):
    pass


@pytest.mark.parametrize("place", [(), ("obsidian", "Boat")])
def test_an_entry_killed_before_its_seal_is_sealed_and_known_by_the_next_run(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...]
) -> None:
    entry = Entry(id="1", text="Boat", place=place)
    path = BOAT if place else NOTES

    def killed(*_: object, **__: object) -> None:
        raise _KilledError

    with monkeypatch.context() as patched:
        patched.setattr(LockedStream, "finish", killed)
        with pytest.raises(_KilledError):
            _work(garden).take(entry)
    assert events_of(ada, path) == ["import pending"]
    assert _work(garden).take(replace(entry, text="Ship")).outcome == "updated"
    assert _work(garden).take(replace(entry, text="Ship")).outcome == "unchanged"
    assert events_of(ada, path) == ["import committed", "import committed"]
    assert "Boat" not in file_of(garden, path).read_text()


@pytest.mark.parametrize("place", [(), ("obsidian", "Boat")])
def test_two_imports_begun_at_once_write_an_entry_once(
    garden: Garden, ada: Session, place: tuple[str, ...]
) -> None:
    for text, outcome in (("Boat", "imported"), ("Ship", "updated")):
        entry = Entry(id="1", text=text, place=place)
        both = _work(garden), _work(garden)
        assert [work.take(entry).outcome for work in both] == [outcome, "unchanged"]
    assert events_of(ada, BOAT if place else NOTES) == ["import committed", "import committed"]


def _work(garden: Garden, *, dry_run: bool = False) -> ForeignImport:
    caller = make_caller("ada", "mover", "maintainer")
    return ForeignImport(garden.services, "obsidian", caller, dry_run=dry_run)
