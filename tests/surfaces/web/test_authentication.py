"""The authenticators alone: the queues of known and new tokens."""

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest

from garden.events.records import Caller
from garden.gateway.threads import OverloadedError
from garden.gateway.tokens import NotAuthenticatedError
from garden.surfaces.web import authentication
from garden.surfaces.web.authentication import TokenAuthenticator
from garden.surfaces.web.problems import TokenRequiredError

ADA = Caller("ada", "companion")


def fresh_token() -> str:
    return f"mgt.ada.{secrets.token_hex(6)}.{secrets.token_urlsafe(32)}"


def presenting(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


class Slow:
    """A token check that answers for one good token at once, and for any other only after `release`."""

    def __init__(self, good: str) -> None:
        self.good = good
        self.asked: list[str] = []
        self.release = threading.Event()

    def check(self, secret: str) -> Caller:
        self.asked.append(secret)
        if secret == self.good:
            return ADA
        self.release.wait()
        raise NotAuthenticatedError("This access token is not known here.")


def authenticating(
    slow: Slow, scene: Callable[[TokenAuthenticator], Awaitable[None]], known_seconds: float = 1.0
) -> None:
    authenticator = TokenAuthenticator(slow.check, lambda tokens: tokens, known_seconds=known_seconds)
    try:
        asyncio.run(_played(slow, scene(authenticator)))
    finally:
        authenticator.close()


async def _played(slow: Slow, scene: Awaitable[None]) -> None:
    try:
        await scene
    finally:
        slow.release.set()


def test_a_flood_of_new_tokens_does_not_delay_known_ones() -> None:
    # Every answer is stale at once, so that each call has the token looked up again.
    slow = Slow(fresh_token())

    async def scene(authenticator: TokenAuthenticator) -> None:
        await authenticator.authenticate(presenting(slow.good))
        crowd = [
            asyncio.create_task(authenticator.authenticate(presenting(fresh_token()))) for _ in range(200)
        ]
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            for _ in range(3):
                assert await authenticator.authenticate(presenting(slow.good)) == ADA
        slow.release.set()
        refused = await asyncio.gather(*crowd, return_exceptions=True)
        assert {type(each) for each in refused} == {OverloadedError, TokenRequiredError}

    authenticating(slow, scene, known_seconds=0)


def test_requests_that_come_together_cost_one_lookup_and_it_lasts_for_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, now = Slow(fresh_token()), [100.0]
    monkeypatch.setattr(authentication, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def ask_together(authenticator: TokenAuthenticator) -> None:
        asking = (authenticator.authenticate(presenting(slow.good)) for _ in range(5))
        assert await asyncio.gather(*asking) == [ADA] * 5

    async def scene(authenticator: TokenAuthenticator) -> None:
        await ask_together(authenticator)
        now[0] += 0.99
        await ask_together(authenticator)
        assert len(slow.asked) == 1
        now[0] += 0.01
        await ask_together(authenticator)
        assert len(slow.asked) == 2

    authenticating(slow, scene)


def test_a_revoked_token_loses_its_place_among_the_known() -> None:
    slow = Slow(fresh_token())

    async def scene(authenticator: TokenAuthenticator) -> None:
        revoked, kept = presenting(slow.good), presenting(fresh_token())
        await authenticator.authenticate(revoked)
        slow.good = kept["authorization"].removeprefix("Bearer ")
        await authenticator.authenticate(kept)
        slow.release.set()
        with pytest.raises(TokenRequiredError):
            await authenticator.authenticate(revoked)
        slow.release.clear()
        again = asyncio.create_task(authenticator.authenticate(revoked))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            assert await authenticator.authenticate(kept) == ADA
        assert not again.done()
        again.cancel()

    authenticating(slow, scene, known_seconds=0)


@pytest.mark.parametrize("text", ["x", "mgt.ada.5f0c1a9be2d4.short", "mgt.ada.5f0c1a9be2d4." + "é" * 43])
def test_a_malformed_token_is_refused_without_a_lookup(text: str) -> None:
    slow = Slow(fresh_token())

    async def scene(authenticator: TokenAuthenticator) -> None:
        async with asyncio.timeout(60):
            with pytest.raises(TokenRequiredError):
                await authenticator.authenticate(presenting(text))

    authenticating(slow, scene)
    assert slow.asked == []
