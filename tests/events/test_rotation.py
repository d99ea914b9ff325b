import threading
from collections.abc import Callable

import pytest

from garden.events.keyring import Keyring
from garden.home.folder import Home
from garden.home.keys import KeySource, KeysUnavailableError, rotate_keys
from garden.home.settings import load_settings
from tests.support.accounts import NOTES, Account, account_on, fresh_text
from tests.support.planted import put_database
from tests.surfaces.cli.conftest import Command

ROTATIONS = 3


def keep_doing(
    work: Callable[[], None], stop: threading.Event, troubles: list[BaseException]
) -> threading.Thread:
    def loop() -> None:
        while not stop.is_set():
            try:
                work()
            except BaseException as trouble:  # noqa: BLE001  the test wants to know of any
                troubles.append(trouble)
                return

    thread = threading.Thread(target=loop)
    thread.start()
    return thread


def test_keys_rotated_under_load_fail_no_write_and_no_check(home: Home, database: str) -> None:
    source = KeySource(load_settings(home.path).settings, home)
    stop, troubles = threading.Event(), list[BaseException]()
    with account_on(database) as account:
        account.keyring_from(source)
        written = threading.Semaphore(0)
        checked = threading.Semaphore(0)

        def write() -> None:
            account.edit(fresh_text())
            written.release()

        def check() -> None:
            assert account.faults() == []
            checked.release()

        threads = [keep_doing(write, stop, troubles), keep_doing(check, stop, troubles)]
        for expected in range(2, 2 + ROTATIONS):
            for _ in range(20):
                written.acquire()
            for _ in range(2):
                checked.acquire()
            assert rotate_keys(load_settings(home.path).settings, home).versions[-1] == expected
        written.acquire()
        stop.set()
        for thread in threads:
            thread.join()
        assert troubles == []
        account.edit(fresh_text())
        assert account.faults() == []
        assert versions_used(account) == [1, 2, 3, 4]


def versions_used(account: Account) -> list[int]:
    with account.reader.snapshot("ada") as snapshot:
        rows = list(snapshot.rows("chain", {"stream": NOTES}))
    return sorted({row["integrity_salt_version"] for row in rows})


def test_a_seal_of_a_missing_key_does_not_hold(account: Account) -> None:
    account.edit("one\n")
    kept = account.keyring.with_new_key().with_new_key()
    newest_only = ",".join(kept.render().splitlines()[1:])
    account.keyring = Keyring.parse(newest_only)
    assert account.faults() == [f"{NOTES}:1: it was sealed with key version 1, which is not among the keys"]


def test_keys_from_the_environment_are_not_rotated_here(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARDEN_INTEGRITY_KEYS", Keyring.generate().render().strip())
    with pytest.raises(KeysUnavailableError, match="come from the settings") as refusal:
        rotate_keys(load_settings(home.path).settings, home)
    assert "restart" in refusal.value.hint


def test_the_command_lists_rotates_and_verifies(
    home: Home, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_database(home, database)
    run = Command(home.path, monkeypatch)
    secret = home.keys_file.read_text().partition(":")[2].strip()
    listed = run.well("keys", "list")
    assert [line.split() for line in listed.splitlines()[1:]] == [["1", "signs"]]
    rotated = run.well("keys", "rotate")
    assert rotated == "Version 2 signs from now on.\n"
    again = run.well("keys", "list")
    assert [line.split() for line in again.splitlines()[1:]] == [["1", "verifies"], ["2", "signs"]]
    with account_on(database) as account:
        account.keyring_from(KeySource(load_settings(home.path).settings, home))
        account.edit("one\n")
        good = run("keys", "verify")
        assert (good.code, good.err) == (0, "")
        assert "ada" in good.out
        account.keyring_from(Keyring.generate)
        account.edit("two\n")
    bad = run("keys", "verify", "--user", "ada")
    assert bad.code == 1
    assert NOTES in bad.out
    assert "hint:  Keep the database as it is, and compare it with a backup." in bad.err
    assert "There are no events of user 'Ada'" in run.fails("keys", "verify", "--user", "Ada")
    assert secret not in listed + rotated + again + good.out + bad.out + bad.err
