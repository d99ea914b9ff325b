"""Every kind of tampering is found with a checkpoint kept elsewhere; a clean garden has no fault."""

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from garden.application import Garden
from garden.history.checkpoints import log_folder, make_checkpoints
from garden.history.log_check import check_log
from garden.history.verification import verify_user
from garden.home.folder import ensure_home
from tests.history.tampering import KINDS, NOT_FOUND_ALONE, Attacker, fill
from tests.support.databases import TestServer
from tests.support.folders import fresh_folder, run_folder
from tests.support.planted import opened, put_database

PLACES = int(os.environ.get("GARDEN_TEST_TAMPERINGS", "2"))
EVENTS = int(os.environ.get("GARDEN_TEST_CLEAN_EVENTS", "150"))


@pytest.fixture(scope="module")
def attacker(server: TestServer) -> Iterator[Attacker]:
    """One attacked garden for all tests of this module; each attack is undone."""
    with fresh_folder(run_folder()) as folder, server.database(server.template()) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        with opened(home) as garden:
            made = Attacker(garden, url, seed=7)
            sign(garden)
            shutil.copy(log_folder(garden.services) / "checkpoint", kept(garden))
            made.remember()
            assert (found(garden), logged(garden)) == ([], [])
            yield made


def sign(garden: Garden) -> None:
    for _ in make_checkpoints(garden.services):
        pass


def kept(garden: Garden) -> Path:
    """The checkpoint that is kept elsewhere."""
    return garden.home.path.parent / "checkpoint"


def found(garden: Garden) -> list[str]:
    users = sorted({*garden.services.maintenance.users(), "ada", "ben"})
    faults = (fault for user in users for fault in verify_user(garden.services, user).faults)
    return [f"{fault.place}: {fault.message}" for fault in faults]


def logged(garden: Garden) -> list[str]:
    """What the log shows against the checkpoint that is kept elsewhere."""
    return [fault.message for fault in check_log(garden.services, str(kept(garden)))]


@pytest.mark.parametrize("kind", KINDS)
def test_tampering_is_found_with_a_checkpoint_kept_elsewhere(attacker: Attacker, kind: str) -> None:
    for _ in range(PLACES):
        with attacker.attack(kind) as done:
            assert found(attacker.garden) or logged(attacker.garden), done
            if kind in NOT_FOUND_ALONE:
                # The log goes too, and the service begins another one, which is as genuine.
                attacker.remove_log()
                sign(attacker.garden)
                assert found(attacker.garden) == [], done
                assert list(check_log(attacker.garden.services)) == [], done
                assert logged(attacker.garden), done
    assert (found(attacker.garden), logged(attacker.garden)) == ([], [])


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in NOT_FOUND_ALONE and kind != "older table"]
)
def test_most_kinds_are_found_without_any_log(attacker: Attacker, kind: str) -> None:
    with attacker.attack(kind) as done:
        attacker.remove_log()
        assert found(attacker.garden), done


def test_nothing_is_reported_of_a_clean_garden(garden: Garden) -> None:
    numbers = count()
    fill(
        garden,
        EVENTS,
        seed=3,
        after_call=lambda: sign(garden) if next(numbers) % (EVENTS // 3) == 0 else None,
    )
    sign(garden)
    assert found(garden) == []
    assert list(check_log(garden.services)) == []
