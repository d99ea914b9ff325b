"""The user that a command means, and the short paths of documents."""

import pytest

from garden.application import Garden
from garden.home.folder import Home
from garden.surfaces.cli.desk import full_path
from tests.support.gardens import NOTES, plant
from tests.surfaces.cli.conftest import Command


def _ben(garden: Garden) -> None:
    plant(garden.session("ben"), "users/ben/notes.md")


@pytest.mark.usefixtures("ada")
def test_the_only_user_of_a_home_need_not_be_named(run: Command) -> None:
    assert run.well("cat", "notes.md") == run.well("cat", NOTES, "--user", "ada")
    assert run("call", "fs.list", '{"path": "users/ada"}').json["ok"]


@pytest.mark.usefixtures("ada")
def test_with_several_users_one_must_be_named(run: Command, garden: Garden) -> None:
    _ben(garden)
    for words in (
        ["ls"],
        ["cat", "notes.md"],
        ["append", "notes.md", "x"],
        ["lint"],
        ["events"],
        ["call", "fs.list"],
    ):
        message = run.fails(*words, code=2)
        assert "Name the user with --user or GARDEN_USER; there are gardens of ada, ben." in message


@pytest.mark.usefixtures("ada")
def test_an_option_the_environment_or_a_full_path_names_the_user(run: Command, garden: Garden) -> None:
    _ben(garden)
    ben = run.well("cat", "notes.md", "--user", "ben")
    assert "user_id: ben" in ben
    assert run.well("cat", "notes.md", GARDEN_USER="ben") == ben
    assert run.well("cat", "users/ben/notes.md") == ben
    assert run.well("ls", "users/ben") == "notes.md\n"
    garden.session("ben").fs.write("users/ben/memories/tea.md", "Green.\n")
    garden.session("ben").fs.archive("users/ben/memories/tea.md")
    assert run.well("ls", "users/ben/memories") == ""
    assert run.well("ls", "users/ben/memories", "--archived") == "tea.md\n"
    assert "user_id: ada" in run.well("cat", "notes.md", "--user", "ada", GARDEN_USER="ben")
    assert "user_id: ada" not in run.well("cat", "notes.md", GARDEN_USER="ben")


def test_a_home_without_gardens_says_so(run: Command) -> None:
    assert f"there are no gardens in {run.home} yet" in run.fails("ls", code=2)


@pytest.mark.usefixtures("ada")
@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    "words", ["ls", "events", "search x", "recall x", "memory list", "append notes.md x"]
)
def test_a_mistyped_user_is_refused_with_the_nearest_and_gets_no_garden(run: Command, words: str) -> None:
    for form in (["--user", "adda"], ["--user", "users"]):
        message = run.fails(*words.split(), *form)
        assert (
            f"There is no garden of '{form[1]}' in {run.home}.\nhint:  There are gardens of ada." in message
        )
    assert not (run.home / "users" / "adda").exists()
    run.well("plant", "--user", "adda")


@pytest.mark.usefixtures("ada")
def test_garden_user_is_a_known_variable(run: Command) -> None:
    assert "GARDEN_USER" not in run("config", GARDEN_USER="ada").err


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("", "users/ada"), (".", "users/ada"), ("notes.md", "users/ada/notes.md"),
        ("./notes.md", "users/ada/notes.md"), ("parts/", "users/ada/parts"),
        ("parts/critic/profile.md", "users/ada/parts/critic/profile.md"),
        ("users/ada/notes.md", "users/ada/notes.md"), ("users/ben/notes.md", "users/ben/notes.md"),
        ("users/ada/", "users/ada"), ("history", "history/ada"), ("history/ada/notes", "history/ada/notes"),
        ("/etc/passwd", "/etc/passwd"), ("../ben/notes.md", "../ben/notes.md"),
    ],
)  # fmt: skip
def test_short_paths_are_relative_to_the_garden(words: str, path: str) -> None:
    assert full_path("ada", words) == path


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("path", ["../ben/notes.md", "parts/../../ben/notes.md", "users/ada/../ben/notes.md"])
def test_no_short_path_leads_into_another_garden(run: Command, garden: Garden, path: str) -> None:
    _ben(garden)
    assert "This path is not allowed" in run.fails("cat", path, "--user", "ada")


def test_reading_does_not_create_a_missing_home(run: Command, home: Home) -> None:
    nowhere = home.path.parent / "elsewhere"
    run.fails("--home", nowhere, "ls")
    assert not nowhere.exists()
