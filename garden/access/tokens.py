"""Access tokens: who may call from elsewhere, for which user, in which role, until when.

A token is a text like `mgt.ada.5f0c1a9be2d4.<secret>`. The user stands in it, so that a look-up acts for that
user; no part can hold a dot. Its secret has 256 random bits and is shown once; what is kept is a hash.
"""

import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest

from garden.events.tokens import StoredToken, Token, TokenStatus, TokenStore
from garden.files.paths import is_id
from garden.grammar.errors import GardenError
from garden.writing.callers import make_caller

# So long may a revoked token still be taken for live, by a process that has just checked it.
CHECK_SECONDS_MAX = 1.0
_CHECKS_MAX = 4096
_SECRET_BYTES = 32
_ID_BYTES = 6
_TEXT = re.compile(r"mgt\.([a-z0-9][a-z0-9_-]{0,63})\.([0-9a-f]{12})\.[A-Za-z0-9_-]{43}", re.ASCII)
_ID = re.compile(r"[0-9a-f]{12}", re.ASCII)
_NOBODYS_HASH = bytes(32)


class NotAuthenticatedError(GardenError):
    """Whoever calls has not shown who they are."""

    code = "permission_denied"


class InvalidTokenRequestError(GardenError):
    """No such token can be made, or named."""

    code = "invalid_input"


class TokenNotFoundError(GardenError):
    """There is no such token."""

    code = "not_found"


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who a token speaks for."""

    token_id: str
    user_id: str
    role: str
    actor: str


@dataclass(frozen=True, slots=True)
class Issued:
    """A fresh token, and its secret, which is never shown again."""

    secret: str = field(repr=False)
    token: Token


class Tokens:
    """The tokens of a garden home, made, listed, revoked and checked; many threads may use it at once."""

    def __init__(
        self,
        store: TokenStore,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._now = now
        self._checks = _RecentLookUps(store, clock)

    def create(self, user_id: str, *, role: str, actor: str, expires_at: datetime | None) -> Issued:
        """Make a token for exactly one user and one role; without a time it is good until it is revoked."""
        make_caller(user_id, actor, role)
        now = self._now()
        if expires_at is not None and (expires_at.tzinfo is None or expires_at <= now):
            raise InvalidTokenRequestError(
                "A token can't expire before it is made, nor at a time without a time zone.",
                hint="Choose a later time, in UTC for instance.",
            )
        token = Token(
            token_id=secrets.token_hex(_ID_BYTES),
            user_id=user_id,
            role=role,
            actor=actor,
            created_at=now,
            expires_at=expires_at and expires_at.astimezone(UTC),
        )
        secret = f"mgt.{user_id}.{token.token_id}.{secrets.token_urlsafe(_SECRET_BYTES)}"
        self._store.add(token, _hash(secret))
        return Issued(secret, token)

    def list(self, user_id: str | None = None) -> tuple[Token, ...]:
        """List one user's tokens or everybody's, those included that are good for nothing any more."""
        if user_id is None:
            return tuple(self._store.all())
        _require_id(user_id)
        return tuple(self._store.of_user(user_id))

    def revoke(self, token_id: str, user_id: str | None = None) -> Token:
        """Revoke a token for good; every other process checks anew a second later, this one at once."""
        found = self._named(token_id, user_id)
        self._store.revoke(found.user_id, found.token_id, self._now())
        self._checks.forget(found.user_id, found.token_id)
        return self._named(token_id, found.user_id)

    def check(self, secret: str) -> Bearer:
        """Say who a token speaks for, or refuse it; what its secret is not tells nobody what it is."""
        presented = self._checks.look_up(*check_form(secret))
        # An unknown token is compared as well, so that the time it takes tells nothing.
        expected = _NOBODYS_HASH if presented is None else presented.secret_hash
        if not compare_digest(_hash(secret), expected) or presented is None:
            raise NotAuthenticatedError("This access token is not known here.", hint=_ANOTHER)
        token = presented.token
        status = token.status(self._now())
        if status is not TokenStatus.LIVE:
            said = "has expired" if status is TokenStatus.EXPIRED else "was revoked"
            raise NotAuthenticatedError(f"This access token {said}.", hint=_ANOTHER)
        return Bearer(token.token_id, token.user_id, token.role, token.actor)

    def any(self) -> bool:
        """Whether there is a token that somebody can call with."""
        return self._store.is_any_live(self._now())

    def status(self, token: Token) -> TokenStatus:
        """Say what a token is good for now."""
        return token.status(self._now())

    def _named(self, token_id: str, user_id: str | None) -> Token:
        if _ID.fullmatch(token_id) is None:
            # What was given may be a whole token, and is not repeated.
            raise InvalidTokenRequestError(
                "A token's id is 12 of 0-9 and a-f.", hint="'garden token list' shows the ids."
            )
        found = [token for token in self.list(user_id) if token.token_id == token_id]
        if not found:
            raise TokenNotFoundError(f"There is no token {token_id}.", hint="'garden token list' shows them.")
        if len(found) > 1:
            raise InvalidTokenRequestError(
                f"Several users have a token {token_id}.", hint="Say whose is meant, with --user."
            )
        return found[0]


def check_form(secret: str) -> tuple[str, str]:
    """Give the user and the id that a text names as a token does, or refuse it; nothing is looked up."""
    match = _TEXT.fullmatch(secret)
    if match is None:
        raise NotAuthenticatedError(
            "This is not an access token.", hint="Make one with 'garden token create', and send it whole."
        )
    return match[1], match[2]


class _RecentLookUps:
    """The tokens looked up within the last second, so that a burst of calls costs no round trips."""

    def __init__(self, store: TokenStore, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str], tuple[float, StoredToken | None]] = OrderedDict()
        self._revoked_here = 0

    def look_up(self, user_id: str, token_id: str) -> StoredToken | None:
        """Find a token as it was at most a second ago."""
        key, asked_at = (user_id, token_id), self._clock()
        with self._lock:
            at, presented = self._found.get(key, (None, None))
            revoked_before = self._revoked_here
        if at is not None and asked_at - at < CHECK_SECONDS_MAX:
            return presented
        presented = self._store.find(user_id, token_id)
        with self._lock:
            # What was read before a revocation may be from before it, and is not kept.
            if self._revoked_here == revoked_before:
                self._found[key] = (asked_at, presented)
                self._found.move_to_end(key)
                while len(self._found) > _CHECKS_MAX:
                    self._found.popitem(last=False)
        return presented

    def forget(self, user_id: str, token_id: str) -> None:
        """Look a token up anew the next time."""
        with self._lock:
            self._revoked_here += 1
            self._found.pop((user_id, token_id), None)


_ANOTHER = "Ask whoever runs the service for another; 'garden token list' shows those that are live."


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("ascii")).digest()


def _require_id(user_id: str) -> None:
    if not is_id(user_id):
        raise InvalidTokenRequestError(
            f"{user_id!r} can't be a user's id.",
            hint="An id is 1 to 64 of a-z, 0-9, '-' and '_', and begins with a letter or a digit.",
        )
