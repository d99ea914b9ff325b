"""Wrong usage of every command: exit code 2, one line that says what is wrong, and what to type."""

import pytest

from tests.surfaces.cli.conftest import Command
from tests.surfaces.cli.test_every_command import COMMANDS
from tests.surfaces.cli.test_main import fresh

__all__ = ["fresh"]

NEED_WORDS = sorted(
    name for name, command in COMMANDS.items() if any(getattr(each, "required", 0) for each in command.params)
)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_option_is_named_with_what_to_type(fresh: Command, name: str) -> None:
    error, hint, more = fresh.fails(*name.split(), "--nonsense", code=2).splitlines()
    assert error.startswith("error: No such option: --nonsense")
    assert hint.startswith("hint:  Type for example: ")
    assert "garden " in hint
    assert name in hint
    assert more == f"       'garden {name} --help' explains the rest."


@pytest.mark.parametrize("name", NEED_WORDS)
def test_a_missing_word_is_named_with_an_example(fresh: Command, name: str) -> None:
    error, hint, _ = fresh.fails(*name.split(), code=2).splitlines()
    assert error.startswith("error: Missing ")
    assert f"garden {name} " in hint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lss", "No such command 'lss'. Did you mean 'ls'?\nhint:  'garden --help' lists the commands."),
        ("memory stor x", "Did you mean 'store'?\nhint:  'garden memory --help' lists the commands."),
        ("ls --usr ada", "No such option: --usr. Did you mean --user?"),
        ("setup emacs", "error: Invalid value for 'client': 'emacs' is not one of 'claude-desktop', "),
        ("ls --home", "Option '--home' requires an argument.\nhint:  'garden --help'"),
        ("plant --user ada --part a --relationship b", "Give either --part or --relationship.\nhint:  Type"),
    ],
)
def test_wrong_words_are_answered_with_the_right_ones(fresh: Command, words: str, said: str) -> None:
    assert said in fresh.fails(*words.split(), code=2)


@pytest.mark.parametrize("words", [[], ["memory"]])
def test_a_group_alone_shows_its_help(fresh: Command, words: list[str]) -> None:
    assert "Usage: garden" in fresh.fails(*words, code=2)
