"""Access tokens in the database: the hash of each secret, never the secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from garden.events.pool import Pool
from garden.events.statements import statements


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
    expires_at: datetime | None
    revoked_at: datetime | None = None

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

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def find(self, user_id: str, token_id: str) -> StoredToken | None:
        """Look a token up with the rights of the user it names; one round trip."""
        values = {"user_id": user_id, "token_id": token_id}
        rows = self._pool.fetch("service", "tokens", "find", values)
        return StoredToken(_token(rows[0]), rows[0]["secret_hash"]) if rows else None

    def add(self, token: Token, secret_hash: bytes) -> None:
        """Store a new token."""
        values = {
            "user_id": token.user_id,
            "token_id": token.token_id,
            "role": token.role,
            "actor": token.actor,
            "secret_hash": secret_hash,
            "created_at": token.created_at,
            "expires_at": token.expires_at,
        }
        # Not retried after a lost connection: the token may have been stored already.
        with self._pool.connection() as connection, connection.pipeline():
            connection.execute(statements("identities")["maintainer_for_user"], values)
            connection.execute(statements("tokens")["add"], values)

    def revoke(self, user_id: str, token_id: str, now: datetime) -> None:
        """Revoke a token for good; an earlier revocation keeps its time."""
        values = {"user_id": user_id, "token_id": token_id, "now": now}
        self._pool.fetch("maintainer_for_user", "tokens", "revoke", values)

    def all(self) -> list[Token]:
        """List the tokens of all users, each user's oldest first."""
        return [_token(row) for row in self._pool.fetch("maintainer", "tokens", "all", {})]

    def of_user(self, user_id: str) -> list[Token]:
        """List one user's tokens, the oldest first."""
        rows = self._pool.fetch("maintainer_for_user", "tokens", "of_user", {"user_id": user_id})
        return [_token(row) for row in rows]

    def is_any_live(self, now: datetime) -> bool:
        """Whether any token is live."""
        [row] = self._pool.fetch("maintainer", "tokens", "live", {"now": now})
        return bool(row["is_any"])


def _token(row: Mapping[str, Any]) -> Token:
    names = ("token_id", "user_id", "role", "actor", "created_at", "expires_at", "revoked_at")
    return Token(**{name: row[name] for name in names})
