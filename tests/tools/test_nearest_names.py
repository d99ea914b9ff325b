"""A misspelt path, section or tool: the hint names the nearest real one, of the caller's own garden."""

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, plant, refused


@pytest.mark.parametrize(
    ("path", "code", "nearest"),
    [
        ("users/ada/parts/critc/profile.md", "not_found", CRITIC),
        ("users/ada/parts/critic/profil.md", "path_not_allowed", CRITIC),
        ("users/ada/note.md", "path_not_allowed", NOTES),
    ],
)
def test_a_misspelt_path_gets_the_nearest_document(ada: Session, path: str, code: str, nearest: str) -> None:
    plant(ada, NOTES, CRITIC)
    for tool in ("fs.read", "md.lint"):
        assert refused(ada, tool, code, path=path)["hint"] == f"Did you mean {nearest}?"
    assert refused(ada, "fs.append", code, path=path, text="x")["hint"] == f"Did you mean {nearest}?"


def test_a_misspelt_folder_gets_the_nearest_folder(ada: Session) -> None:
    plant(ada, CRITIC)
    assert (
        "users/ada/parts/critic?"
        in refused(ada, "fs.list", "not_found", path="users/ada/parts/critik")["hint"]
    )
    asked = {"root": "users/ada", "roots": ["users/ada/parts/crtic"], "pattern": "x"}
    assert "users/ada/parts/critic?" in refused(ada, "fs.search", "not_found", **asked)["hint"]


@pytest.mark.parametrize(
    "path", ["users/bob/parts/critic/profile.md", "users/ada/../bob/notes.md", "/etc/passwd"]
)
def test_no_path_of_another_user_is_named(garden: Garden, ada: Session, path: str) -> None:
    plant(garden.session("bob"), "users/bob/parts/critic/profile.md", "users/bob/notes.md")
    plant(ada, NOTES)
    error = refused(ada, "fs.read", "path_not_allowed", path=path)
    assert "bob" not in error["hint"]
    assert "passwd" not in str(error)


def test_a_path_like_no_other_keeps_its_hint(ada: Session) -> None:
    plant(ada, NOTES)
    for path in ("users/ada/parts/somebody/profile.md", f"users/ada/{'x' * 400}.md"):
        assert "Did you mean" not in ada.call("fs.read", {"path": path})["error"]["hint"]


def test_a_garden_that_has_no_folder_yet_still_answers(ada: Session) -> None:
    assert refused(ada, "fs.read", "not_found", path=NOTES)["hint"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("concens", "Did you mean 'concerns v1'?"),
        ("Consern V1", "Did you mean 'concerns v1'?"),
        ("What Help", "Did you mean 'what_helps v1'?"),
        ("dreams", "There are: "),
    ],
)
def test_a_misspelt_section_gets_the_nearest_section(ada: Session, name: str, hint: str) -> None:
    plant(ada, CRITIC)
    error = refused(ada, "fs.hash", "anchor_not_found", path=CRITIC, sectionAnchor=name)
    assert error["hint"].startswith(hint)
    assert "concerns v1" in error["details"]["sections"]


def test_a_misspelt_tool_gets_the_nearest_tool(ada: Session) -> None:
    for name in ("fs.apend", "FS.Append"):
        assert "fs.append" in refused(ada, name, "unknown_tool")["hint"]
