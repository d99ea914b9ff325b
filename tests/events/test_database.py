import pytest

from garden.events.database import DatabaseUnavailableError, connection, server_facts
from garden.events.pool import Pool
from garden.events.statements import statements


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:9/x", "postgresql:///x?host=/nonexistent"])
def test_a_missing_server_is_unavailable_with_a_hint(url: str) -> None:
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
def test_a_malformed_address_is_not_quoted_and_the_hint_shows_the_form(
    url: str,
) -> None:
    with pytest.raises(DatabaseUnavailableError) as refusal, connection(url):
        pass
    assert refusal.value.message == "GARDEN_DATABASE_URL is not a valid address."
    for written in ("%25", "%2F", "%40"):
        assert written in refusal.value.hint
    assert "hunter2" not in repr(refusal.value) + str(refusal.value.details)


def test_opening_a_connection_reports_the_databases_own_message() -> None:
    with (
        pytest.raises(DatabaseUnavailableError, match="onnection refused"),
        connection("postgresql://127.0.0.1:9/x"),
    ):
        pass


def test_a_lost_connection_is_unavailable(empty_database: str) -> None:
    with pytest.raises(DatabaseUnavailableError), connection(empty_database) as opened:
        opened.execute("select pg_terminate_backend(pg_backend_pid())")


def test_server_facts_hold_version_and_extensions(empty_database: str) -> None:
    with connection(empty_database) as opened:
        facts = server_facts(opened)
    assert facts.is_supported
    assert "plpgsql" in facts.extensions


def test_statements_are_found_by_their_names() -> None:
    assert set(statements("migrations")) == {
        "act_as_login", "is_prepared", "prepare", "applied", "lock", "record",
    }  # fmt: skip
    assert statements("migrations")["record"].startswith(b"insert into garden.schema_migrations")


def test_the_server_probes_silent_clients(database: str) -> None:
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
