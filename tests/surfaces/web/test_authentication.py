"""The door alone: who waits behind whom, and who is taken for a neighbour."""

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Callable

import pytest

from garden.access.threads import OverloadedError
from garden.access.tokens import NotAuthenticatedError
from garden.events.records import Caller
from garden.surfaces.web import authentication
from garden.surfaces.web.authentication import TokenDoor
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


def at_a_door(slow: Slow, scene: Callable[[TokenDoor], Awaitable[None]]) -> None:
    door = TokenDoor(slow.check)
    try:
        asyncio.run(_played(slow, scene(door)))
    finally:
        door.close()


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

    async def scene(door: TokenDoor) -> None:
        await door.admit(presenting(slow.good))
        crowd = [asyncio.create_task(door.admit(presenting(fresh_token()))) for _ in range(200)]
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            for _ in range(3):
                assert await door.admit(presenting(slow.good)) == ADA
        slow.told.set()
        refused = await asyncio.gather(*crowd, return_exceptions=True)
        assert {type(each) for each in refused} == {OverloadedError, TokenRequiredError}

    at_a_door(slow, scene)


def test_who_was_let_in_once_and_is_no_longer_is_a_stranger_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "_KNOWN_SECONDS", 0.0)
    slow = Slow(fresh_token())

    async def scene(door: TokenDoor) -> None:
        revoked, kept = presenting(slow.good), presenting(fresh_token())
        await door.admit(revoked)
        slow.good = kept["authorization"].removeprefix("Bearer ")
        await door.admit(kept)
        slow.told.set()
        with pytest.raises(TokenRequiredError):
            await door.admit(revoked)
        slow.told.clear()
        again = asyncio.create_task(door.admit(revoked))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            assert await door.admit(kept) == ADA
        assert not again.done()
        again.cancel()

    at_a_door(slow, scene)


@pytest.mark.parametrize("text", ["x", "mgt.ada.5f0c1a9be2d4.short", "mgt.ada.5f0c1a9be2d4." + "é" * 43])
def test_what_has_not_the_form_of_a_token_is_refused_without_being_looked_up(text: str) -> None:
    slow = Slow(fresh_token())

    async def scene(door: TokenDoor) -> None:
        async with asyncio.timeout(60):
            with pytest.raises(TokenRequiredError):
                await door.admit(presenting(text))

    at_a_door(slow, scene)
    assert slow.asked == []
