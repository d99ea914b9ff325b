from pathlib import Path

import pytest

from garden.events.keyring import Keyring
from garden.home.settings import LoadedSettings, SettingsError, load_settings, redact_url
from garden.home.settings_view import SettingRow, setting_rows, unknown_variables


def rows(loaded: LoadedSettings) -> dict[str, SettingRow]:
    return {row.name: row for row in setting_rows(loaded)}


def test_the_environment_goes_before_the_file_and_the_file_before_the_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "garden.toml").write_text(
        'log_level = "debug"\nlog_format = "json"\n[limits]\nread_lines = 7\nlist_names = 8\n'
    )
    monkeypatch.setenv("GARDEN_LOG_LEVEL", "error")
    monkeypatch.setenv("GARDEN_LIMITS_READ_LINES", "9")
    loaded = load_settings(folder)
    assert (loaded.settings.log_level, loaded.settings.log_format) == ("error", "json")
    assert (loaded.settings.limits.read_lines, loaded.settings.limits.list_names) == (9, 8)
    origins = {name: row.origin for name, row in rows(loaded).items()}
    assert origins["log_level"] == origins["limits.read_lines"] == "environment"
    assert origins["log_format"] == origins["limits.list_names"] == "garden.toml"
    assert origins["limits.document_bytes"] == origins["broker_url"] == "default"
    assert origins["home"] == "command line"


def test_an_empty_variable_counts_as_unset(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARDEN_DATABASE_URL", "")
    assert load_settings(folder).settings.database_url is None


def test_the_home_may_be_relative_or_begin_with_a_tilde(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    assert load_settings(Path("here")).settings.home == folder / "here"
    monkeypatch.setenv("GARDEN_HOME", "~/there")
    assert load_settings().settings.home == folder / "there"


@pytest.mark.parametrize(
    ("variable", "value", "accepted"),
    [
        ("GARDEN_LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("GARDEN_LOG_FORMAT", "xml", "'auto', 'console' or 'json'"),
        ("GARDEN_TIMEZONE", "Mars", "IANA name such as Europe/Berlin"),
        ("GARDEN_LIMITS_DOCUMENT_BYTES", "0", "greater than 0"),
        ("GARDEN_LIMITS_READ_LINES", "many", "a valid integer"),
        ("GARDEN_DATABASE_URL", "mysql://localhost/x", "postgresql:// or postgres://"),
        ("GARDEN_BROKER_URL", "kafka://localhost", "redis:// or rediss:// or amqp:// or amqps://"),
    ],
)
def test_a_wrong_value_names_the_setting_the_value_and_what_is_accepted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, accepted: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as refusal:
        load_settings(folder)
    assert refusal.value.message.startswith(f"{variable} is '{value}'")
    assert accepted in refusal.value.message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('log_level = "loud"', "garden.toml line 1: log_level is 'loud'"),
        ("[limits]\nread_lines = -1", "garden.toml line 2: limits.read_lines is -1"),
        (
            'databse_url = "x"',
            "garden.toml line 1: 'databse_url' is no setting; did you mean 'database_url'?",
        ),
        (
            "[limits]\nread_line = 1",
            "line 2: 'limits.read_line' is no setting; did you mean 'limits.read_lines'?",
        ),
        ("limits = 5", "garden.toml line 1: limits is 5"),
        ("[recall]\napi_key = 12345", "garden.toml line 2: recall.api_key is ********;"),
        ('home = "/x"', "the file is in the home itself"),
        (
            '# x\n\n[gateway.actors."a b"]\nphase = "tend"\nadd = [\n  "fs.move",\n  7,\n]\n',
            "garden.toml line 5: gateway.actors.a b.add.1 is 7",
        ),
        ("[gateway]\nactors.x.phase = 'watch'", "garden.toml line 2: gateway.actors.x.phase is 'watch'"),
        ("[gateway.permissions]\n'fs.*' = 'never'", "line 2: gateway.permissions.fs.* is 'never'"),
        ("log_level = ", "garden.toml can't be read"),
        ("a = " + "[" * 100_000, "garden.toml can't be read"),
    ],
)
def test_an_error_in_the_file_names_the_file(folder: Path, text: str, complaint: str) -> None:
    (folder / "garden.toml").write_text(text)
    with pytest.raises(SettingsError) as refusal:
        load_settings(folder)
    assert complaint in refusal.value.message
    assert refusal.value.hint


def test_no_secret_is_ever_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keyring.generate().render().strip()
    monkeypatch.setenv("GARDEN_DATABASE_URL", "postgresql://me:hunter2@db/garden?password=hunter3")
    monkeypatch.setenv("GARDEN_BROKER_URL", "amqp://me:hunter4@mq/")
    monkeypatch.setenv("GARDEN_INTEGRITY_KEYS", keys)
    loaded = load_settings(folder)
    shown = repr(loaded) + repr(setting_rows(loaded))
    assert "hunter" not in shown
    assert keys.partition(":")[2] not in shown
    assert rows(loaded)["database_url"].value == "postgresql://me:********@db/garden?password=********"
    assert rows(loaded)["integrity_keys"].value == "(hidden; versions 1)"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GARDEN_DATABASE_URL", "mysql://me:hunter2@db/x"),
        ("GARDEN_DATABASE_URL", "host=db password=hunter2"),
        ("GARDEN_DATABASE_URL", "postgresq://me:hunter2@a@b/x"),
        ("GARDEN_INTEGRITY_KEYS", "1:hunter2"),
        ("GARDEN_INTEGRITY_KEYS", "hunter2"),
        ("EMBEDDING_BASE_URL", "ftp://me:hunter2@x"),
    ],
)
def test_a_refused_value_keeps_its_secret(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as refusal:
        load_settings(folder)
    assert "hunter2" not in refusal.value.message + refusal.value.hint
    assert refusal.value.message.startswith(variable)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("redis://:secret@h:1/0", "redis://:********@h:1/0"),
        ("postgresql:///garden?host=/run", "postgresql:///garden?host=/run"),
        ("postgresql://u:p[@h/x", "postgresql://u:********@h/x"),
        ("postgresql://u:p@ss@h/x", "postgresql://u:********@h/x"),
        ("postgresql://u:p/ss@h/x", "********"),
        ("u:pass@h", "********"),
        ("redis//u:secret@h", "********"),
        ("redis://secret@h:1/0", "redis://********@h:1/0"),
        ("redis://u;secret@h", "redis://********@h"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert redact_url(url) == shown


def test_a_misspelt_limit_names_the_variable_and_not_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_LIMITS_READ_LINE", "3")
    with pytest.raises(SettingsError, match="GARDEN_LIMITS_READ_LINE is set but is no setting"):
        load_settings(folder)


def test_a_file_that_begins_with_a_byte_order_mark_is_read(folder: Path) -> None:
    (folder / "garden.toml").write_text('log_level = "debug"\n', "utf-8-sig")
    assert load_settings(folder).settings.log_level == "debug"


def test_a_misspelt_variable_gets_a_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARDEN_DATABSE_URL", "postgresql://x")
    assert unknown_variables() == [
        "GARDEN_DATABSE_URL is set but is no setting; did you mean 'GARDEN_DATABASE_URL'?"
    ]


def test_the_variables_that_programs_share_stand_between_the_file_and_the_settings_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "garden.toml").write_text(
        '[recall]\nmodel = "of-the-file"\ndimensions = 3\napi_key = "hunter2"\n'
    )
    monkeypatch.setenv("EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("EMBEDDING_BASE_URL", "http://me:hunter2@127.0.0.1/v1")
    monkeypatch.setenv("EMBEDDING_API_KEY", "hunter3")
    monkeypatch.setenv("EMBEDDING_MODEL", "shared")
    loaded = load_settings(folder)
    assert (loaded.settings.recall.embedder, loaded.settings.recall.model) == ("openai", "shared")
    assert loaded.settings.recall.dimensions == 3
    assert loaded.settings.recall.api_key is not None
    assert loaded.settings.recall.api_key.get_secret_value() == "hunter3"
    assert rows(loaded)["recall.model"].origin == "environment"
    assert "hunter" not in repr(loaded.settings) + repr(setting_rows(loaded))
    monkeypatch.setenv("GARDEN_RECALL_MODEL", "own")
    assert load_settings(folder).settings.recall.model == "own"
    monkeypatch.setenv("EMBEDDING_PROVIDER", "magic")
    with pytest.raises(SettingsError, match="EMBEDDING_PROVIDER is 'magic'; accepted is 'static'"):
        load_settings(folder)
