import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from garden.events.keyring import Keyring
from garden.home.folder import Home, HomeError, HomeMissingError, ensure_home, open_home


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_home_is_private_in_every_folder(folder: Path) -> None:
    os.umask(os.umask(0o000))
    home = ensure_home(folder / "home")
    assert {mode(path) for path in (home.path, home.users, home.history, home.state)} == {0o700}
    assert mode(home.keys_file) == 0o600


def test_a_home_keeps_its_id_and_keys(home: Home) -> None:
    keys = home.keys_file.read_bytes()
    assert ensure_home(home.path) == home
    assert open_home(home.path) == home
    assert home.keys_file.read_bytes() == keys
    assert Keyring.parse(keys.decode()).versions == (1,)


def test_two_homes_differ_in_id_and_keys(folder: Path) -> None:
    one, two = ensure_home(folder / "one"), ensure_home(folder / "two")
    assert one.id != two.id
    assert one.keys_file.read_bytes() != two.keys_file.read_bytes()


def test_many_creators_at_once_make_one_home(folder: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        homes = list(pool.map(lambda _: ensure_home(folder / "home"), range(64)))
    assert len({home.id for home in homes}) == 1


def test_the_identity_comes_last_so_a_half_made_home_is_completed(
    folder: Path,
) -> None:
    path = folder / "home"
    whole = ensure_home(path)
    names = sorted(str(each.relative_to(path)) for each in path.rglob("*"))
    for identity_or_less in ("users", "history", ".garden/keys"):
        (path / ".garden/home.json").unlink()
        target = path / identity_or_less
        target.rmdir() if target.is_dir() else target.unlink()
        (path / ".garden/.new-keys-0123").write_text("left by a killed process")
        assert ensure_home(path).id != whole.id
        assert sorted(str(each.relative_to(path)) for each in path.rglob("*")) == names


def test_a_half_made_home_keeps_its_keys(home: Home) -> None:
    keys = home.keys_file.read_bytes()
    (home.path / ".garden/home.json").unlink()
    assert ensure_home(home.path).keys_file.read_bytes() == keys


def test_a_folder_with_a_space_and_letters_of_other_scripts_is_fine(folder: Path) -> None:
    path = folder / "my gärten 庭"
    assert open_home(ensure_home(path).path).path == path


def test_opening_a_missing_home_creates_nothing(folder: Path) -> None:
    with pytest.raises(HomeMissingError, match="There is no garden home in") as refusal:
        open_home(folder / "home")
    assert "garden init" in refusal.value.hint
    assert not (folder / "home").exists()


def test_a_newer_layout_is_refused_with_both_numbers(home: Home) -> None:
    identity = home.state / "home.json"
    identity.write_text(json.dumps({"id": str(home.id), "layout": 7}))
    with pytest.raises(HomeError, match="has layout 7; this version knows layout 1"):
        ensure_home(home.path)


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "null", '{"id": "x", "layout": 1}', '{"layout": 1}', "\xff"]
)
def test_a_damaged_identity_is_refused_and_left_as_it_is(home: Home, damage: str) -> None:
    identity = home.state / "home.json"
    identity.write_bytes(damage.encode("latin-1"))
    with pytest.raises(HomeError):
        ensure_home(home.path)
    assert identity.read_bytes() == damage.encode("latin-1")


def test_a_folder_with_other_files_is_not_taken_over(folder: Path) -> None:
    (folder / "thesis.odt").write_text("years of work")
    with pytest.raises(HomeError, match=r"already holds other files \(thesis\.odt\)"):
        ensure_home(folder)
    assert [path.name for path in folder.iterdir()] == ["thesis.odt"]


def test_settings_may_exist_before_the_home(folder: Path) -> None:
    (folder / "garden.toml").write_text('log_level = "debug"\n')
    assert ensure_home(folder).path == folder


@pytest.mark.parametrize("name", ["new\nline", "tab\t", "x" * 200 + "/" + "y" * 200 + "/" + "z" * 600])
def test_a_path_that_postgres_refuses_is_refused_before_anything_is_made(folder: Path, name: str) -> None:
    with pytest.raises(HomeError, match="may not hold control"):
        ensure_home(folder / name)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("place", ["/proc/garden", "/dev/null/garden", "/dev/null"])
def test_a_folder_that_can_not_be_written_is_an_error_with_a_hint(place: str) -> None:
    with pytest.raises(HomeError) as refusal:
        ensure_home(Path(place))
    assert "--home" in refusal.value.hint
