"""Access tokens: each lets a remote caller act for one user in one role until it expires.

A token looks like `mgt.ada.5f0c1a9be2d4.<secret>`. It names the user, so that its lookup can act for that
user; no part contains a dot. The secret has 256 random bits and is shown once; only its hash is stored.
"""

import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest

from garden.events.tokens import Token, TokenName, TokenStatus, TokenStore
from garden.gateway.policies import check_names
from garden.grammar.errors import GardenError
from garden.home.settings import TokenPolicy
from garden.tools.registry import REGISTRY
from garden.writing.callers import check_user_id, make_caller

_SECRET_BYTES = 32
_ID_BYTES = 6
_TEXT = re.compile(r"mgt\.([a-z0-9][a-z0-9_-]{0,63})\.([0-9a-f]{12})\.[A-Za-z0-9_-]{43}", re.ASCII)
_ID = re.compile(r"[0-9a-f]{12}", re.ASCII)
_UNKNOWN_HASH = bytes(32)


class NotAuthenticatedError(GardenError):
    """The caller sent no valid token."""

    code = "permission_denied"


class InvalidTokenRequestError(GardenError):
    """A token with these properties can't be made or named."""

    code = "invalid_input"


class TokenNotFoundError(GardenError):
    """No token has this id."""

    code = "not_found"


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token and its secret, which is never shown again."""

    secret: str = field(repr=False)
    token: Token


class Tokens:
    """The tokens of a garden home; safe for use by many threads."""

    def __init__(
        self,
        store: TokenStore,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._now = now

    def create(
        self,
        user_id: str,
        *,
        role: str,
        actor: str,
        expires_at: datetime | None,
        policy: TokenPolicy | None = None,
    ) -> IssuedToken:
        """Create a token for one user and one role; without a time it is valid until revoked.

        A policy narrows what its calls may do.
        """
        make_caller(user_id, actor, role)
        check_names(policy or TokenPolicy(), REGISTRY)
        now = self._now()
        if expires_at is not None and (expires_at.tzinfo is None or expires_at <= now):
            raise InvalidTokenRequestError(
                "A token must expire in the future, at a time with a time zone.",
                hint="Choose a later time, for instance in UTC.",
            )
        token = Token(
            token_id=secrets.token_hex(_ID_BYTES),
            user_id=user_id,
            role=role,
            actor=actor,
            created_at=now,
            expires_at=expires_at and expires_at.astimezone(UTC),
            policy=(policy.model_dump(mode="json", exclude_defaults=True) if policy else None) or None,
        )
        secret = f"mgt.{user_id}.{token.token_id}.{secrets.token_urlsafe(_SECRET_BYTES)}"
        self._store.add(token, _hash(secret))
        return IssuedToken(secret, token)

    def list(self, user_id: str | None = None) -> tuple[Token, ...]:
        """List the tokens of one user or of all, including expired and revoked ones."""
        if user_id is None:
            return tuple(self._store.all())
        check_user_id(user_id)
        return tuple(self._store.of_user(user_id))

    def revoke(self, token_id: str, user_id: str | None = None) -> Token:
        """Revoke a token for good; a running service stops accepting it within a second."""
        found = self.find(token_id, user_id)
        self._store.revoke(found.user_id, found.token_id, self._now())
        return self.find(token_id, found.user_id)

    def check(self, secret: str) -> Token:
        """The token of a secret; the timing of a refusal reveals nothing about the secret."""
        presented = self._store.find(*parse_token(secret))
        # An unknown token is compared as well, so that timing reveals nothing.
        expected = _UNKNOWN_HASH if presented is None else presented.secret_hash
        if not compare_digest(_hash(secret), expected) or presented is None:
            raise NotAuthenticatedError("This access token is unknown.", hint=_ANOTHER)
        token = presented.token
        status = token.status(self._now())
        if status is not TokenStatus.LIVE:
            problem = "has expired" if status is TokenStatus.EXPIRED else "was revoked"
            raise NotAuthenticatedError(f"This access token {problem}.", hint=_ANOTHER)
        return token

    def ended(self, tokens: Collection[TokenName]) -> set[TokenName]:
        """Return those of some tokens that were revoked or have expired; one round trip."""
        return self._store.ended(tokens, self._now())

    def find_sealed(self, user_id: str, token_id: str) -> Token | None:
        """Find a token that is as it was made; one round trip."""
        found = self._store.find(user_id, token_id)
        return None if found is None else found.token

    def has_live_token(self) -> bool:
        """Whether any token is valid now."""
        return self._store.is_any_live(self._now())

    def status(self, token: Token) -> TokenStatus:
        """Status of a token now."""
        return token.status(self._now())

    def find(self, token_id: str, user_id: str | None) -> Token:
        """Find a token by its id."""
        if _ID.fullmatch(token_id) is None:
            # The text may be a whole token, so the message does not repeat it.
            raise InvalidTokenRequestError(
                "A token's id is 12 characters of 0-9 and a-f.", hint="'garden token list' shows the ids."
            )
        found = [token for token in self.list(user_id) if token.token_id == token_id]
        if not found:
            raise TokenNotFoundError(
                f"There is no token {token_id}.", hint="'garden token list' shows every token."
            )
        if len(found) > 1:
            raise InvalidTokenRequestError(
                f"Several users have a token {token_id}.", hint="Name the user with --user."
            )
        return found[0]


def parse_token(secret: str) -> TokenName:
    """User and token id in a token's text; no lookup is made."""
    match = _TEXT.fullmatch(secret)
    if match is None:
        raise NotAuthenticatedError(
            "This is not an access token.", hint="Make one with 'garden token create' and send all of it."
        )
    return match[1], match[2]


_ANOTHER = "Ask the operator for a new one; 'garden token list' shows the valid ones."


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("ascii")).digest()
