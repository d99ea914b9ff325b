"""Sign-ins: a browser exchanges an access token, or a link that works once, for a cookie that ends by itself.

A cookie or a link's code looks like `mgs.ada.5f0c1a9be2d4.<secret>`. Only a seal over its hash is stored.
"""

import re
import secrets
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from garden.events.records import Caller
from garden.events.sign_ins import SignIn, SignInName, SignInStore
from garden.events.tokens import TokenStatus
from garden.gateway.access import TokenCaller
from garden.gateway.tokens import NotAuthenticatedError, Tokens
from garden.writing.callers import make_caller

LINK_MINUTES = 10
_TEXT = re.compile(r"mgs\.([a-z0-9][a-z0-9_-]{0,63})\.([0-9a-f]{12})\.[A-Za-z0-9_-]{43}", re.ASCII)


class SignIns:
    """The sign-ins of a garden home; safe for use by many threads."""

    def __init__(
        self,
        store: SignInStore,
        tokens: Tokens,
        lasting: timedelta,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._lasting = lasting
        self._now = now

    def make_link(self, user_id: str, *, role: str, actor: str) -> str:
        """Make the code of a link that signs a person in once."""
        make_caller(user_id, actor, role)
        return self._add(user_id, role, actor, timedelta(minutes=LINK_MINUTES), is_link=True)

    def open_by_link(self, code: str) -> str:
        """Use a link up; returns the cookie of the sign-in."""
        link = self._find(code, is_link=True)
        if link is None or not self._store.remove((link.user_id, link.sign_in_id)):
            raise NotAuthenticatedError(
                "This link was used already, or its time is over.", hint="'garden console' makes a new one."
            )
        return self._add(link.user_id, link.role, link.actor, self._lasting)

    def open_by_token(self, secret: str) -> str:
        """Exchange an access token; returns the cookie of the sign-in, which ends with the token."""
        token = self._tokens.check(secret)
        return self._add(token.user_id, token.role, token.actor, self._lasting, token.token_id)

    def check(self, cookie: str) -> Caller:
        """The caller of a cookie."""
        found = self._find(cookie, is_link=False)
        if found is None:
            raise NotAuthenticatedError("You are signed out.", hint="Sign in again.")
        if found.token_id is None:
            return Caller(found.user_id, found.actor, found.role)
        token = self._tokens.find_sealed(found.user_id, found.token_id)
        if token is None or token.status(self._now()) is not TokenStatus.LIVE:
            raise NotAuthenticatedError("The access token has come to its end.", hint="Sign in with another.")
        return TokenCaller(token.user_id, token.actor, token.role, policy=token.policy)

    def close(self, cookie: str) -> None:
        """End a sign-in at once."""
        if self._find(cookie, is_link=False) is not None:
            self._store.remove(parse_cookie(cookie))

    def ended(self, names: Collection[SignInName]) -> set[SignInName]:
        """Return those of some sign-ins that are over; one round trip."""
        return set(names) - self._store.open_among(names, self._now())

    def _find(self, text: str, *, is_link: bool) -> SignIn | None:
        return self._store.find(parse_cookie(text), _hash(text), self._now(), is_link=is_link)

    def _add(
        self,
        user_id: str,
        role: str,
        actor: str,
        lasting: timedelta,
        token_id: str | None = None,
        *,
        is_link: bool = False,
    ) -> str:
        now, sign_in_id = self._now(), secrets.token_hex(6)
        made = SignIn(
            user_id=user_id, sign_in_id=sign_in_id, is_link=is_link, token_id=token_id, role=role,
            actor=actor, created_at=now, expires_at=now + lasting,
        )  # fmt: skip
        text = f"mgs.{user_id}.{sign_in_id}.{secrets.token_urlsafe(32)}"
        self._store.add(made, _hash(text))
        return text


def parse_cookie(text: str) -> SignInName:
    """User and id in the text of a cookie or a link's code; no lookup is made."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise NotAuthenticatedError("You are signed out.", hint="Sign in again.")
    return match[1], match[2]


def _hash(text: str) -> bytes:
    return sha256(text.encode("ascii")).digest()
