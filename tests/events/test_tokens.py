"""Tokens in the database: their users, and the rights to read and change them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import psycopg
import pytest

from garden.events.database import connection
from garden.events.keyring import Keyring
from garden.events.pool import NotRecordableError, Pool
from garden.events.tokens import Token, TokenStatus, TokenStore

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
KEYS = Keyring({1: b"k" * 32})
HASH = sha256(b"the whole text of a token").digest()


@pytest.fixture
def store(database: str) -> Iterator[TokenStore]:
    with Pool(database) as pool:
        yield TokenStore(pool, lambda: KEYS)


def token(user_id: str = "ada", **other: Any) -> Token:
    values = {
        "token_id": "0123456789ab",
        "role": "agent",
        "actor": "companion",
        "created_at": NOW,
        "expires_at": NOW + timedelta(days=1),
        **other,
    }
    return Token(user_id=user_id, **values)


def test_a_stored_token_comes_back(store: TokenStore) -> None:
    kept = token(expires_at=None)
    store.add(kept, HASH)
    found = store.find("ada", kept.token_id)
    assert found is not None
    assert (found.token, found.secret_hash) == (kept, HASH)
    assert HASH.hex() not in repr(found)
    assert store.all() == store.of_user("ada") == [kept]


def test_a_token_is_found_for_its_own_user_only(store: TokenStore) -> None:
    store.add(token("ada"), HASH)
    assert store.find("ben", token().token_id) is None
    assert store.of_user("ben") == []


def test_two_users_may_have_tokens_of_the_same_id(store: TokenStore) -> None:
    store.add(token("ada"), HASH)
    store.add(token("ben"), sha256(b"another").digest())
    store.revoke("ada", token().token_id, NOW)
    assert [each.revoked_at for each in store.all()] == [NOW, None]


def test_a_second_revocation_keeps_the_first_time(store: TokenStore) -> None:
    store.add(token(), HASH)
    for hours in (1, 2):
        store.revoke("ada", token().token_id, NOW + timedelta(hours=hours))
    assert store.of_user("ada")[0].revoked_at == NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        ({}, True),
        ({"expires_at": None}, True),
        ({"expires_at": NOW + timedelta(seconds=1)}, True),
        ({"expires_at": NOW, "created_at": NOW - timedelta(days=1)}, False),
    ],
)
def test_a_token_is_live_until_it_expires(store: TokenStore, other: dict[str, Any], wanted: bool) -> None:
    kept = token(**other)
    store.add(kept, HASH)
    assert store.is_any_live(NOW) == wanted
    assert kept.status(NOW) == (TokenStatus.LIVE if wanted else TokenStatus.EXPIRED)


def test_a_revoked_token_is_not_live(store: TokenStore) -> None:
    assert not store.is_any_live(NOW)
    store.add(token(), HASH)
    store.revoke("ada", token().token_id, NOW)
    assert not store.is_any_live(NOW)
    assert store.of_user("ada")[0].status(NOW) is TokenStatus.REVOKED


@pytest.mark.parametrize(
    "other",
    [
        {"role": "owner"},
        {"actor": ""},
        {"token_id": "0" * 11 + "G"},
        {"user_id": "A"},
        {"expires_at": NOW},
    ],
)
def test_a_malformed_token_is_not_stored(store: TokenStore, other: dict[str, Any]) -> None:
    with pytest.raises(NotRecordableError):
        store.add(token(**other), HASH)


@pytest.mark.parametrize(
    "forgery",
    [
        "role = 'maintainer'",
        "expires_at = null",
        "secret_hash = sha256('known to the forger')",
        "revoked_at = null",
        "user_id = 'ben'",
        "policy = null",
        """policy = '{"phase": "maintain"}'""",
    ],
)
def test_a_forged_token_is_unknown(store: TokenStore, database: str, forgery: str) -> None:
    made = token(expires_at=NOW + timedelta(days=1), policy={"phase": "observe", "remove": ["fs.list"]})
    store.add(made, HASH)
    store.revoke("ada", made.token_id, NOW)
    assert store.find("ada", made.token_id) is not None
    with connection(database) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute(f"update garden.tokens set {forgery}".encode())
    assert store.find("ada", made.token_id) is None
    assert store.find("ben", made.token_id) is None


def test_the_service_makes_no_tokens_and_the_maintainer_reads_no_hashes(
    store: TokenStore, database: str
) -> None:
    store.add(token(), HASH)
    attempts = {
        "garden_service": "update garden.tokens set revoked_at = null",
        "garden_maintainer": "select secret_hash from garden.tokens",
        "garden_reader": "select user_id from garden.tokens",
    }
    for role, attempt in attempts.items():
        with (
            connection(database, options=f"-c role={role} -c garden.user_id=ada") as opened,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            opened.execute(attempt.encode())
