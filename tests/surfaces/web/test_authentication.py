"""The authenticator alone: who waits behind whom, and who is taken for a neighbour."""

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Callable

import pytest

from garden.access.threads import OverloadedError
from garden.access.tokens import NotAuthenticatedError
from garden.events.records import Caller
from garden.surfaces.web import authentication
from garden.surfaces.web.authentication import TokenAuthenticator
from garden.surfaces.web.problems import TokenRequiredError

ADA = Caller("ada", "companion")


def fresh_token() -> str:
    return f"mgt.ada.{secrets.token_hex(6)}.{secrets.token_urlsafe(32)}"


def presenting(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


class Slow:
    """Tokens of which one is good; whoever asks for another waits until they are told."""

    def __init__(self, good: str) -> None:
        self.good = good
        self.asked: list[str] = []
        self.told = threading.Event()

    def check(self, secret: str) -> Caller:
        self.asked.append(secret)
        if secret == self.good:
            return ADA
        self.told.wait()
        raise NotAuthenticatedError("This access token is not known here.")


def authenticating(slow: Slow, scene: Callable[[TokenAuthenticator], Awaitable[None]]) -> None:
    authenticator = TokenAuthenticator(slow.check)
    try:
        asyncio.run(_played(slow, scene(authenticator)))
    finally:
        authenticator.close()


async def _played(slow: Slow, scene: Awaitable[None]) -> None:
    try:
        await scene
    finally:
        slow.told.set()


def test_strangers_who_fill_their_queue_shut_nobody_out_who_was_let_in_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Every answer is stale at once, so that each call has the token looked up again.
    monkeypatch.setattr(authentication, "_KNOWN_SECONDS", 0.0)
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
        slow.told.set()
        refused = await asyncio.gather(*crowd, return_exceptions=True)
        assert {type(each) for each in refused} == {OverloadedError, TokenRequiredError}

    authenticating(slow, scene)


def test_who_was_let_in_once_and_is_no_longer_is_a_stranger_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "_KNOWN_SECONDS", 0.0)
    slow = Slow(fresh_token())

    async def scene(authenticator: TokenAuthenticator) -> None:
        revoked, kept = presenting(slow.good), presenting(fresh_token())
        await authenticator.authenticate(revoked)
        slow.good = kept["authorization"].removeprefix("Bearer ")
        await authenticator.authenticate(kept)
        slow.told.set()
        with pytest.raises(TokenRequiredError):
            await authenticator.authenticate(revoked)
        slow.told.clear()
        again = asyncio.create_task(authenticator.authenticate(revoked))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            assert await authenticator.authenticate(kept) == ADA
        assert not again.done()
        again.cancel()

    authenticating(slow, scene)


@pytest.mark.parametrize("text", ["x", "mgt.ada.5f0c1a9be2d4.short", "mgt.ada.5f0c1a9be2d4." + "é" * 43])
def test_what_has_not_the_form_of_a_token_is_refused_without_being_looked_up(text: str) -> None:
    slow = Slow(fresh_token())

    async def scene(authenticator: TokenAuthenticator) -> None:
        async with asyncio.timeout(60):
            with pytest.raises(TokenRequiredError):
                await authenticator.authenticate(presenting(text))

    authenticating(slow, scene)
    assert slow.asked == []
