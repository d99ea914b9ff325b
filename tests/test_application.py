"""An open garden: what an operator puts into the home is in force, and what is closed is closed."""

from pathlib import Path

import pytest

import garden
from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.home.settings import variable_name

OVERVIEW = "users/ada/overview.md"


@pytest.fixture(autouse=True)
def _database_of_its_own(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable_name("database_url"), database)


def declare(home: Home, name: str, text: str) -> None:
    folder = home.path / "kinds"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def test_a_kind_that_the_operator_extends_is_planted_and_capped_as_declared(home: Home) -> None:
    declare(
        home,
        "overview.toml",
        'kind = "overview"\nextends = "overview"\n'
        '[[sections]]\nheading = "Pets"\nanchor = "pets v1"\nshape = "list"\ncap_items = 1\n',
    )
    with garden.open(home=home.path) as opened:
        ada = opened.session("ada")
        ada.md.plant(OVERVIEW)
        change = {"path": OVERVIEW, "sectionAnchor": "pets v1", "change": {"append": "- a hen"}}
        assert ada.call("md.patch_section", change)["ok"]
        another = {**change, "change": {"append": "- another hen"}}
        assert ada.call("md.patch_section", another)["error"]["code"] == "override_required"


def test_a_kind_that_cannot_be_read_is_named_when_the_garden_is_opened(home: Home) -> None:
    declare(home, "broken.toml", "kind = [")
    with pytest.raises(GardenError, match=r"broken\.toml"):
        garden.open(home=home.path)


def test_a_home_with_declared_kinds_may_be_made_in_their_folder(folder: Path) -> None:
    (folder / "home" / "kinds").mkdir(parents=True)
    with garden.open(home=folder / "home") as opened:
        assert opened.home.path == folder / "home"


@pytest.mark.parametrize("user_id", ["", "Ada", "../ada", "a" * 65, "ada\n"])
def test_a_session_for_an_invalid_user_is_refused(home: Home, user_id: str) -> None:
    with garden.open(home=home.path) as opened, pytest.raises(GardenError, match="user's id"):
        opened.session(user_id)


@pytest.mark.parametrize(
    "actor", ["", "  ", "a\nb", "a" * 121, "external", "External", "ada ", " reconciler"]
)
def test_an_actor_has_a_name_that_can_be_shown(home: Home, actor: str) -> None:
    with garden.open(home=home.path) as opened, pytest.raises(GardenError, match=r"actor|outside"):
        opened.session("ada", actor)


@pytest.mark.parametrize("actor", ["operator", "Person", "reviewer", "\uff50erson", "o\u0440erator"])
def test_no_agent_has_the_name_of_a_person_or_of_the_service(home: Home, actor: str) -> None:
    with garden.open(home=home.path) as opened:
        with pytest.raises(GardenError, match="No agent"):
            opened.session("ada", actor)
        assert opened.session("ada", actor, role="maintainer").caller.actor == actor


def test_a_database_keeps_the_account_of_one_home_only(home: Home, folder: Path) -> None:
    with garden.open(home=home.path) as opened:
        opened.session("ada").md.plant(OVERVIEW)
    with pytest.raises(GardenError, match="another garden home"):
        garden.open(home=folder / "another")
    with garden.open(home=home.path) as opened:
        assert opened.session("ada").call("fs.read", {"path": OVERVIEW})["ok"]


def test_there_are_three_roles_and_no_others(home: Home) -> None:
    with garden.open(home=home.path) as opened:
        assert isinstance(opened, Garden)
        with pytest.raises(GardenError, match="root"):
            opened.session("ada", role="root")
