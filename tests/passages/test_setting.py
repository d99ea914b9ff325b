"""The language of a garden is a setting."""

from pathlib import Path

import pytest

import garden
from garden.home.settings import variable_name

NOTES = "users/ada/notes.md"


def test_the_setting_names_the_language_of_the_passages(
    folder: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable_name("database_url"), database)
    monkeypatch.setenv(variable_name("language"), "German")
    with garden.open(home=folder / "home") as opened:
        ada = opened.session("ada")
        ada.md.plant(NOTES)
        assert ada.call("fs.append", {"path": NOTES, "text": "- Tee"})["ok"]
        (standing,) = opened.services.passages.live_rows("ada", NOTES)
        assert standing.row.language == "de"
