import os
from pathlib import Path
from typing import Any

import pytest

from garden.application import Garden
from garden.events.stream import LockedStream
from garden.session import Session
from garden.transfer.imports import import_file
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, events_of, file_of, ok, plant, result, rows
from tests.support.processes import spawn_garden
from tests.surfaces.cli.conftest import Command, Ran

HEAD = "---\nid: {id}\nuser_id: ada\nschema: 1\nmood: 'grey' # now\n---\n\n"
BODY = "# Words\n\n## Inbox\n<!-- @anchor: inbox v1 -->\n\n- 日記 \t\n\n## Free\n\nwords\n"
NOTE = HEAD.format(id="ada-notes") + BODY
TWICE = "\n## Again\n<!-- @anchor: inbox v1 -->\n"
ODD = {
    "ada/notes.md": NOTE.replace("\n", "\r\n").encode(),
    "ada/parts/critic/notes.md": ("\ufeff" + NOTE + "without an end").encode(),
    "ada/parts/child/notes.md": NOTE.replace("words\n", "mixed\r\nends\n\n\n \n").encode(),
}


@pytest.fixture
def ada(garden: Garden) -> Session:
    return garden.session("ada", "companion")


@pytest.fixture
def source(folder: Path) -> Path:
    path = folder / "source"
    path.mkdir()
    return path


def _lay_out(source: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)


def _run(garden: Garden, *words: str | Path) -> Ran:
    with pytest.MonkeyPatch.context() as patch:
        return Command(garden.home.path, patch)("import", *words)


def _imported(garden: Garden, source: Path, status: int = 0) -> dict[str, dict[str, Any]]:
    done = _run(garden, source, "--json", "--actor", "mover")
    assert done.code == status, done.err
    told: list[dict[str, Any]] = done.json
    assert all(set(each) == {"file", "outcome", "code", "message", "hint"} for each in told)
    return {each["file"]: each for each in told}


def test_every_byte_is_kept(garden: Garden, ada: Session, source: Path) -> None:
    _lay_out(source, ODD)
    told = _imported(garden, source)
    assert {name: each["outcome"] for name, each in told.items()} == dict.fromkeys(ODD, "imported")
    for name, content in ODD.items():
        assert file_of(garden, f"users/{name}").read_bytes() == content
    event = rows(ada, path=NOTES)[0]
    assert (event["op"], event["tool"], event["actor"]) == ("import", "garden.import", "mover")
    assert event["rationale"]


def test_an_unchanged_file_is_skipped(garden: Garden, ada: Session, source: Path) -> None:
    _lay_out(source, ODD)
    _imported(garden, source)
    told = _imported(garden, source)
    assert {each["outcome"] for each in told.values()} == {"unchanged"}
    assert events_of(ada, NOTES) == ["import committed"]


def test_a_different_file_is_never_overwritten(garden: Garden, ada: Session, source: Path) -> None:
    plant(ada, NOTES)
    before = file_of(garden, NOTES).read_bytes()
    _lay_out(source, ODD)
    told = _imported(garden, source, status=1)
    assert (told["ada/notes.md"]["outcome"], told["ada/notes.md"]["code"]) == ("refused", "already_exists")
    assert sum(each["outcome"] == "imported" for each in told.values()) == 2
    assert file_of(garden, NOTES).read_bytes() == before


def test_a_file_that_is_no_valid_document_is_refused_with_a_reason(
    garden: Garden, ada: Session, source: Path
) -> None:
    refused = {
        "ada/diary.md": (NOTE.encode(), "path_not_allowed"),
        "ada/Notes.md": (NOTE.encode(), "path_not_allowed"),
        "Ada/notes.md": (NOTE.encode(), "path_not_allowed"),
        "ada/parts/a/notes.md": (b"\xff", "not_text"),
        "ada/parts/b/notes.md": (b"a\x00b", "not_text"),
        "ada/parts/c/notes.md": (NOTE.encode() + b"a" * 1024 * 1024, "too_large"),
        "ada/parts/d/notes.md": (NOTE.replace("user_id: ada", "user_id: ben").encode(), "identity_changed"),
        "ada/parts/e/notes.md": ((NOTE + TWICE).encode(), "anchor_changed"),
        "ada/parts/f/notes.md": (b"# No frontmatter\n", "identity_changed"),
        "ada/parts/g/notes.md": (b"---\nid: [1\n---\n", "malformed_document"),
        "ada/parts/h/notes.md": (NOTE.encode() + b"ghp_" + b"a1B2c3" * 6, "invalid_input"),
    }  # fmt: skip
    _lay_out(source, {name: content for name, (content, _) in refused.items()} | ODD)
    told = _imported(garden, source, status=1)
    codes = {name: each["code"] for name, each in told.items() if each["outcome"] == "refused"}
    assert codes == {name: code for name, (_, code) in refused.items()}
    assert all(each["message"] and each["hint"] for each in told.values() if each["code"])
    assert len(rows(ada)) == len(ODD)


def test_hidden_files_and_files_beside_the_users_are_skipped(garden: Garden, source: Path) -> None:
    hidden = [
        ".git/notes.md",
        "ada/.notes.md.swp",
        "ada/.obsidian/notes.md",
        "README.md",
        "ada/parts/.x/notes.md",
    ]
    _lay_out(source, {name: NOTE.encode() for name in hidden} | ODD)
    assert set(_imported(garden, source)) == set(ODD)


def test_links_are_refused_and_not_followed(garden: Garden, source: Path) -> None:
    secret = source.parent / "secret"
    _lay_out(secret, {"notes.md": NOTE.encode()})
    _lay_out(source, {"ada/overview.md": (HEAD.format(id="ada") + "# Ada\n").encode()})
    (source / "ada/notes.md").symlink_to(secret / "notes.md")
    (source / "ada/parts").symlink_to(secret)
    (source / "ben").symlink_to(secret)
    os.mkfifo(source / "ada/profile.md")
    (source / "ada/relationships/us").mkdir(parents=True)
    os.mkfifo(source / "ada/relationships/us/notes.md")
    told = _imported(garden, source, status=1)
    refused = {name for name, each in told.items() if each["outcome"] == "refused"}
    assert refused == {"ada/notes.md", "ada/parts", "ben", "ada/profile.md", "ada/relationships/us/notes.md"}
    assert not file_of(garden, NOTES).exists()
    assert not file_of(garden, "users/ben").exists()


def test_a_name_that_is_not_utf8_is_reported(garden: Garden, source: Path) -> None:
    _lay_out(source, {"ada/notes.md": NOTE.encode()})
    Path(os.fsdecode(os.fsencode(source) + b"/ada/\xff.md")).write_bytes(b"a")
    told = _imported(garden, source, status=1)
    assert {name: each["outcome"] for name, each in told.items()} == {
        "ada/notes.md": "imported",
        "ada/\\xff.md": "refused",
    }


def test_the_report_for_people_counts_and_explains(garden: Garden, source: Path) -> None:
    _lay_out(source, {"ada/notes.md": NOTE.encode(), "ada/diary.md": b"a"})
    done = _run(garden, source)
    assert done.code == 1
    assert "1 imported, 0 here already, 1 refused." in done.out
    assert "ada/diary.md: This path is not allowed" in done.out


@pytest.mark.parametrize("name", ["nowhere", "ada/notes.md"])
def test_a_source_that_is_no_folder_is_refused(garden: Garden, source: Path, name: str) -> None:
    _lay_out(source, {"ada/notes.md": NOTE.encode()})
    done = _run(garden, source / name)
    assert (done.code, done.out) == (1, "")
    assert "source is not a folder" in done.err
    assert "--from" in done.err


def test_a_document_over_its_caps_is_imported_unchanged(garden: Garden, ada: Session, source: Path) -> None:
    plant(ada, CRITIC)
    text = result(ada, "fs.read", path=CRITIC).replace("critic", "child")
    items = "".join(f'- "it is {n}" (ev:s1-m{n})\n' for n in range(9))
    text = text.replace("evidence v1 -->\n", f"evidence v1 -->\n\n{items}")
    _lay_out(source, {"ada/parts/child/profile.md": text.encode()})
    _imported(garden, source)
    path = "users/ada/parts/child/profile.md"
    assert file_of(garden, path).read_text() == text
    assert rows(ada, path=path)[0]["overrideRationale"]


def test_a_killed_import_continues_when_started_again(garden: Garden, ada: Session, source: Path) -> None:
    names = [f"ada/parts/p{number:03}/notes.md" for number in range(40)]
    _lay_out(source, {name: NOTE.encode() for name in names})
    # The import waits at this document, so it is half done when it is killed.
    with garden.services.store.document(ada.caller, f"users/{names[20]}"):
        process = spawn_garden("import", source, home=garden.home.path)
        while len(rows(ada, status="committed")) < 20:
            assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
    assert not file_of(garden, f"users/{names[39]}").exists()
    told = _imported(garden, source)
    assert {each["outcome"] for each in told.values()} == {"imported", "unchanged"}
    for name in names:
        assert file_of(garden, f"users/{name}").read_bytes() == NOTE.encode()
        assert events_of(ada, f"users/{name}") == ["import committed"]


class _KilledError(BaseException):
    pass


def test_a_file_whose_import_was_killed_before_its_seal_is_sealed_by_the_next(
    garden: Garden, ada: Session, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lay_out(source, {"ada/notes.md": NOTE.encode()})

    def killed(*_: object, **__: object) -> None:
        raise _KilledError

    with monkeypatch.context() as patched:
        patched.setattr(LockedStream, "finish", killed)
        with pytest.raises(_KilledError):
            import_file(garden.services, source, source / "ada/notes.md", "mover")
    assert events_of(ada, NOTES) == ["import pending"]
    assert import_file(garden.services, source, source / "ada/notes.md", "mover").outcome == "unchanged"
    assert events_of(ada, NOTES) == ["import committed"]


def test_a_file_that_was_copied_by_hand_is_adopted(garden: Garden, ada: Session, source: Path) -> None:
    _lay_out(source, {"ada/notes.md": NOTE.encode()})
    _lay_out(garden.home.path / "users", {"ada/notes.md": NOTE.encode()})
    assert _imported(garden, source)["ada/notes.md"]["outcome"] == "unchanged"
    assert events_of(ada, NOTES) == ["external_edit committed"]


def test_an_imported_garden_can_be_worked_on(garden: Garden) -> None:
    sample = Path(__file__).parents[2] / "sample_users"
    assert {each["outcome"] for each in _imported(garden, sample).values()} == {"imported"}
    session = garden.session("tilda-quill", "companion")
    overview = OVERVIEW.replace("ada", "tilda-quill")
    ok(session, "md.patch_section", path=overview, sectionAnchor="facts", change={"append": "- Has a cat"})
    assert events_of(session, overview) == ["import committed", "append_section committed"]
