"""Secret settings in files of their own."""

from pathlib import Path

import pytest

from garden.home.secret_files import SecretFileError
from garden.home.settings import SettingsError, load_settings
from garden.home.settings_view import setting_rows, unknown_variables

URL = "postgresql://me:hunter2@db/garden"
VARIABLE = "GARDEN_DATABASE_URL"


@pytest.fixture
def secret(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = folder / "database-url"
    file.write_text(f"{URL}\n")
    monkeypatch.setenv(f"{VARIABLE}_FILE", str(file))
    return file


@pytest.mark.usefixtures("secret")
def test_a_secret_comes_from_its_file_before_the_homes_settings(folder: Path) -> None:
    (folder / "garden.toml").write_text('database_url = "postgresql://other/garden"\n')
    loaded = load_settings(folder)
    assert loaded.settings.database_url is not None
    assert loaded.settings.database_url.get_secret_value() == URL
    assert unknown_variables() == []
    (row,) = [each for each in setting_rows(loaded) if each.name == "database_url"]
    assert (row.origin, "hunter2" in str(row.value)) == ("environment", False)


def test_a_secret_given_twice_is_refused(secret: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, secret.read_text())
    with pytest.raises(SecretFileError, match=f"{VARIABLE} and {VARIABLE}_FILE are both set"):
        load_settings(folder)


@pytest.mark.parametrize(("content", "reason"), [(None, "No such file"), (b"", "empty"), (b"\xff", "UTF-8")])
def test_a_file_that_holds_no_secret_is_named(
    secret: Path, folder: Path, content: bytes | None, reason: str
) -> None:
    secret.unlink() if content is None else secret.write_bytes(content)
    with pytest.raises(SecretFileError, match=f"{VARIABLE}_FILE names {secret}.*{reason}"):
        load_settings(folder)


def test_a_wrong_secret_is_refused_by_the_name_of_its_variable(secret: Path, folder: Path) -> None:
    secret.write_text("mysql://me:hunter2@db/x")
    with pytest.raises(SettingsError, match=f"{VARIABLE}_FILE is 'mysql://me:") as refused:
        load_settings(folder)
    assert "hunter2" not in refused.value.message
