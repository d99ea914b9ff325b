import pytest

from garden.events.database import DatabaseUnavailableError, connection, server_facts
from garden.events.pool import Pool
from garden.events.statements import statements


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:9/x", "postgresql:///x?host=/nonexistent"])
def test_a_server_that_is_not_there_is_unavailable_with_a_hint(url: str) -> None:
    with pytest.raises(DatabaseUnavailableError) as refusal, connection(url):
        pass
    assert refusal.value.code == "unavailable"
    assert "garden doctor" in refusal.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2%zz@127.0.0.1/db",
        "postgresql://u:hunter2@[::1/db",
        "postgresql://u:one@hunter2@127.0.0.1/db",
        "postgresql://u:hunter2/34@127.0.0.1/db",
        "postgresql://u@127.0.0.1/db?nonsense=hunter2",
    ],
)
def test_an_address_that_can_t_be_understood_is_not_repeated_and_the_hint_says_how_it_is_written(
    url: str,
) -> None:
    with pytest.raises(DatabaseUnavailableError) as refusal, connection(url):
        pass
    assert refusal.value.message == "GARDEN_DATABASE_URL is not a valid address."
    for written in ("%25", "%2F", "%40"):
        assert written in refusal.value.hint
    assert "hunter2" not in repr(refusal.value) + str(refusal.value.details)


def test_whoever_opens_a_connection_is_told_in_the_databases_own_words() -> None:
    with (
        pytest.raises(DatabaseUnavailableError, match="onnection refused"),
        connection("postgresql://127.0.0.1:9/x"),
    ):
        pass


def test_a_connection_that_breaks_off_is_unavailable(empty_database: str) -> None:
    with pytest.raises(DatabaseUnavailableError), connection(empty_database) as opened:
        opened.execute("select pg_terminate_backend(pg_backend_pid())")


def test_a_server_tells_its_version_and_extensions(empty_database: str) -> None:
    with connection(empty_database) as opened:
        facts = server_facts(opened)
    assert facts.is_supported
    assert "plpgsql" in facts.extensions


def test_statements_are_found_by_their_names() -> None:
    assert set(statements("migrations")) == {
        "act_as_login", "is_prepared", "prepare", "applied", "lock", "record",
    }  # fmt: skip
    assert statements("migrations")["record"].startswith(b"insert into garden.schema_migrations")


def test_a_server_asks_whether_a_host_that_says_nothing_is_still_there(database: str) -> None:
    with Pool(database) as pool, pool.connection() as opened:
        told = opened.execute(
            "select name, reset_val::int from pg_settings "
            "where name like 'tcp_keepalives%%' or name = 'tcp_user_timeout'"
        ).fetchall()
    chosen = {row["name"]: row["reset_val"] for row in told}
    assert all(chosen.values()), chosen
    lost_after = (
        chosen["tcp_keepalives_idle"] + chosen["tcp_keepalives_count"] * chosen["tcp_keepalives_interval"]
    )
    assert lost_after <= 60
