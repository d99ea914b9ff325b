"""Access tokens in the database: the hash of each secret, never the secret."""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from psycopg.types.json import Jsonb

from garden.events.keyring import Keyring, Seal
from garden.events.pool import Pool
from garden.events.rows import Row, seal_of, seal_row
from garden.events.statements import statements

TOKEN_SEAL = ("seal", "seal_salt_version")
REVOKED_SEAL = ("revoked_seal", "revoked_salt_version")
_SEALED = ("user_id", "token_id", "role", "actor", "secret_hash", "created_at", "expires_at")

TokenName = tuple[str, str]
"""The user and the id of a token."""


class TokenStatus(StrEnum):
    """Whether a token is accepted."""

    LIVE = "live"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token without its secret."""

    token_id: str
    user_id: str
    role: str
    actor: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    policy: Mapping[str, Any] | None = field(default=None, hash=False)

    def status(self, now: datetime) -> TokenStatus:
        """Whether the token is accepted at this time."""
        if self.revoked_at is not None:
            return TokenStatus.REVOKED
        is_over = self.expires_at is not None and self.expires_at <= now
        return TokenStatus.EXPIRED if is_over else TokenStatus.LIVE


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token and the hash of its secret."""

    token: Token
    secret_hash: bytes = field(repr=False)


class TokenStore:
    """The table of tokens: the service looks them up, the maintainer makes and revokes them."""

    def __init__(self, pool: Pool, keys: Callable[[], Keyring]) -> None:
        self._pool = pool
        self._keys = keys

    def find(self, user_id: str, token_id: str) -> StoredToken | None:
        """Look a token up with the rights of the user it names; one round trip.

        A token that is not as it was sealed counts as unknown, and is logged.
        """
        values = {"user_id": user_id, "token_id": token_id}
        rows = self._pool.fetch("service", "tokens", "find", values)
        if rows and not token_holds(rows[0], self._keys()):
            _log_refusal(token_id)
            return None
        return StoredToken(_token(rows[0]), rows[0]["secret_hash"]) if rows else None

    def add(self, token: Token, secret_hash: bytes) -> None:
        """Store a new token."""
        values: dict[str, Any] = {**asdict(token), "secret_hash": secret_hash}
        seal, revoked = seal_token(values, self._keys()), seal_revocation(values, None, self._keys())
        values["policy"] = token.policy and Jsonb(token.policy)
        values |= seal_row(seal, TOKEN_SEAL) | seal_row(revoked, REVOKED_SEAL)
        # Not retried after a lost connection: the token may have been stored already.
        with self._pool.connection() as connection, connection.pipeline():
            connection.execute(statements("identities")["maintainer_for_user"], values)
            connection.execute(statements("tokens")["add"], values)

    def revoke(self, user_id: str, token_id: str, now: datetime) -> None:
        """Revoke a token for good; an earlier revocation keeps its time."""
        values: dict[str, Any] = {"user_id": user_id, "token_id": token_id, "now": now}
        values |= seal_row(seal_revocation(values, now, self._keys()), REVOKED_SEAL)
        self._pool.fetch("maintainer_for_user", "tokens", "revoke", values)

    def all(self) -> list[Token]:
        """List the tokens of all users, each user's oldest first."""
        return [_token(row) for row in self._pool.fetch("maintainer", "tokens", "all", {})]

    def of_user(self, user_id: str) -> list[Token]:
        """List one user's tokens, the oldest first."""
        rows = self._pool.fetch("maintainer_for_user", "tokens", "of_user", {"user_id": user_id})
        return [_token(row) for row in rows]

    def ended(self, tokens: Collection[TokenName], now: datetime) -> set[TokenName]:
        """Return those of some tokens that are not accepted at this time."""
        users, ids = [user for user, _ in tokens], [token_id for _, token_id in tokens]
        values = {"user_ids": users, "token_ids": ids, "now": now}
        rows = self._pool.fetch("maintainer", "tokens", "ended", values)
        return {(row["user_id"], row["token_id"]) for row in rows}.intersection(tokens)

    def is_any_live(self, now: datetime) -> bool:
        """Whether any token is live."""
        [row] = self._pool.fetch("maintainer", "tokens", "live", {"now": now})
        return bool(row["is_any"])


def _token(row: Mapping[str, Any]) -> Token:
    return Token(**{field.name: row[field.name] for field in fields(Token)})


def seal_token(row: Row, keys: Keyring) -> Seal:
    """Seal all of a token that never changes, the hash of its secret included."""
    return keys.seal("token", _sealed(row))


def seal_revocation(row: Row, at: datetime | None, keys: Keyring) -> Seal:
    """Seal when a token was revoked, or that it was not."""
    return keys.seal("revocation", row["user_id"], row["token_id"], at)


def token_holds(row: Row, keys: Keyring) -> bool:
    """Whether a token is as it was made, and as it was revoked."""
    revocation = row["user_id"], row["token_id"], row["revoked_at"]
    return keys.holds(seal_of(row, TOKEN_SEAL), "token", _sealed(row)) and keys.holds(
        seal_of(row, REVOKED_SEAL), "revocation", *revocation
    )


def _sealed(row: Row) -> list[Any]:
    # Tokens without a policy are sealed as they were before there were any.
    return [row[name] for name in _SEALED] + [row["policy"]] * (row["policy"] is not None)


def _log_refusal(token_id: str) -> None:
    logging.getLogger("garden.tokens").error("token %s is not as it was made; it is refused", token_id)
