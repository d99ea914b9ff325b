import os
from pathlib import Path

import pytest

from garden.home.folder import Home
from garden.upkeep.doctor import CheckResult, examine
from tests.surfaces.cli.conftest import Command

CHECKS = [
    "python", "settings", "home", "permissions", "kinds", "disk",
    "database", "extensions", "migrations", "keys", "broker", "clock",
]  # fmt: skip


def examined(path: Path) -> dict[str, CheckResult]:
    return {finding.check: finding for finding in examine(path)}


@pytest.fixture
def healthy(home: Home, database: str, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    return home


def test_a_healthy_garden_passes_every_check(healthy: Home) -> None:
    findings = examined(healthy.path)
    assert list(findings) == CHECKS
    assert {finding.status for finding in findings.values()} == {"ok"}, findings


def test_a_missing_home_is_not_created_and_what_needs_it_is_skipped(folder: Path) -> None:
    findings = examined(folder / "home")
    assert findings["home"].status == "failed"
    assert findings["permissions"].status == findings["keys"].status == findings["clock"].status == "skipped"
    assert findings["permissions"].message == "needs the check of home to pass"
    assert not (folder / "home").exists()


@pytest.mark.parametrize("place", ["users", "history", ".garden", ".garden/keys", "."])
def test_a_folder_that_others_can_open_is_found(healthy: Home, place: str) -> None:
    (healthy.path / place).chmod(0o755)
    finding = examined(healthy.path)["permissions"]
    assert finding.status == "failed"
    assert finding.hint.startswith("chmod go-rwx")


def test_secrets_in_a_settings_file_that_others_can_read_are_found(healthy: Home) -> None:
    file = healthy.path / "garden.toml"
    file.write_text(f'database_url = "{os.environ["GARDEN_DATABASE_URL"]}"\n')
    file.chmod(0o644)
    assert examined(healthy.path)["permissions"].status == "failed"
    file.chmod(0o600)
    assert examined(healthy.path)["permissions"].status == "ok"


def test_a_disk_below_the_limit_is_found(healthy: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARDEN_LIMITS_FREE_DISK_BYTES", str(1 << 60))
    assert examined(healthy.path)["disk"].status == "failed"


def test_a_database_that_does_not_answer_is_found_without_its_password(
    healthy: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:9/x")
    findings = examined(healthy.path)
    assert findings["database"].status == "failed"
    assert findings["migrations"].status == "skipped"
    assert "hunter2" not in repr(findings)


def test_a_database_that_lacks_the_schema_is_found(
    home: Home, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_DATABASE_URL", empty_database)
    finding = examined(home.path)["migrations"]
    assert (finding.status, finding.hint) == ("failed", "Run 'garden migrate'.")


@pytest.mark.parametrize("damage", [None, b"", b"1:short", b"\xff"])
def test_keys_that_are_missing_or_damaged_are_found(healthy: Home, damage: bytes | None) -> None:
    if damage is None:
        healthy.keys_file.unlink()
    else:
        healthy.keys_file.write_bytes(damage)
    assert examined(healthy.path)["keys"].status == "failed"


@pytest.mark.parametrize("url", ["redis://:hunter2@127.0.0.1:9", "amqp://me:hunter2@127.0.0.1:9"])
def test_a_broker_that_does_not_answer_is_found_without_its_password(
    healthy: Home, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("GARDEN_BROKER_URL", url)
    finding = examined(healthy.path)["broker"]
    assert finding.status == "failed"
    assert "refused" in finding.message
    assert "hunter2" not in finding.message


@pytest.mark.parametrize("url", ["redis://:hun/ter2@127.0.0.1:9", "amqp://me:hun#ter2@127.0.0.1:9"])
def test_an_invalid_broker_address_does_not_reveal_its_password(
    healthy: Home, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("GARDEN_BROKER_URL", url)
    finding = examined(healthy.path)["broker"]
    assert (finding.status, finding.message) == (
        "failed",
        "GARDEN_BROKER_URL is not a valid address: ********",
    )
    assert "%2F" in finding.hint


def test_a_misspelt_variable_is_a_warning(healthy: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARDEN_DATABSE_URL", "x")
    assert examined(healthy.path)["settings"].status == "warning"
    assert Command(healthy.path, monkeypatch)("doctor").code == 0


def test_the_command_fails_if_a_check_fails_and_prints_the_remedy(
    healthy: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    doctor = Command(healthy.path, monkeypatch)
    assert [result["check"] for result in doctor("doctor", "--json").json] == CHECKS
    healthy.keys_file.unlink()
    ran = doctor("doctor")
    assert ran.code == 1
    assert len([line for line in ran.lines if not line.startswith(" ")]) == len(CHECKS)
    assert "→ Put the file back from a backup" in ran.out


def test_settings_that_are_broken_fail_their_check_and_others_are_skipped(
    healthy: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (healthy.path / "garden.toml").write_text("log_level = 'loud'\n")
    findings = examined(healthy.path)
    assert list(findings) == CHECKS
    assert (findings["python"].status, findings["settings"].status) == ("ok", "failed")
    assert "'loud'" in findings["settings"].message
    assert findings["home"].status == findings["database"].status == findings["broker"].status == "skipped"
    ran = Command(healthy.path, monkeypatch)("doctor")
    assert (ran.code, ran.err) == (1, "")


@pytest.mark.parametrize("declaration", ["not toml", "\n[nothing]\n", 'kind = "part_profile"\n'])
def test_invalid_kind_declarations_are_found(healthy: Home, declaration: str) -> None:
    kinds = healthy.path / "kinds"
    kinds.mkdir()
    (kinds / "mine.toml").write_text(declaration)
    finding = examined(healthy.path)["kinds"]
    assert finding.status == "failed"
    assert finding.hint


def test_kind_declarations_are_counted(healthy: Home) -> None:
    kinds = healthy.path / "kinds"
    kinds.mkdir()
    caps = '[[sections]]\nanchor = "evidence v1"\ncap_items = 12\n'
    (kinds / "mine.toml").write_text(f'kind = "part_profile"\nextends = "part_profile"\n\n{caps}')
    finding = examined(healthy.path)["kinds"]
    assert finding.status == "ok"
    assert "1 declaration of this home" in finding.message
