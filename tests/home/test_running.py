"""The services of a home announce themselves, and are forgotten however they end."""

from pathlib import Path

from garden.home.folder import Home
from garden.home.running import announced, running_services

FIRST, SECOND = "http://127.0.0.1:8620", "http://127.0.0.1:8621"
SIXTH = "http://[::1]:8620"


def test_a_service_is_known_while_it_runs(home: Home) -> None:
    assert running_services(home, "ada") == []
    with announced(home, SECOND), announced(home, FIRST):
        assert running_services(home, "ada") == [FIRST, SECOND]
    assert running_services(home, "ada") == []
    assert not list(home.state.glob("serving-*"))


def test_a_service_for_one_user_is_no_one_elses(home: Home) -> None:
    with announced(home, FIRST, "ben"), announced(home, SECOND):
        assert running_services(home, "ada") == [SECOND]
        assert running_services(home, "ben") == [FIRST, SECOND]


def test_services_at_one_port_of_two_addresses_do_not_wait_for_each_other(home: Home) -> None:
    with announced(home, FIRST), announced(home, SIXTH):
        assert running_services(home, "ada") == [FIRST, SIXTH]


def test_what_a_killed_service_left_says_nothing(home: Home) -> None:
    (home.state / "serving-127.0.0.1:8620").write_text(FIRST)
    assert running_services(home, "ada") == []
    with announced(home, FIRST):
        assert running_services(home, "ada") == [FIRST]


def test_a_service_without_an_address_for_browsers_is_not_announced(home: Home) -> None:
    with announced(home, None):
        assert running_services(home, "ada") == []


def test_only_the_owner_reads_the_announcement(home: Home) -> None:
    with announced(home, FIRST):
        path = Path(home.state / "serving-127.0.0.1:8620")
        assert path.stat().st_mode & 0o777 == 0o600
