"""Sign-ins: a link opens one once, and each ends with its time, its token or a change of its row."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.keyring import Keyring
from garden.events.pool import Pool
from garden.events.sign_ins import SignInStore
from garden.events.tokens import TokenStore
from garden.gateway.access import TokenCaller
from garden.gateway.sign_ins import LINK_MINUTES, SignIns, parse_cookie
from garden.gateway.tokens import NotAuthenticatedError, Tokens
from garden.home.settings import TokenPolicy
from garden.upkeep.reconciliation import forget_expired
from garden.writing.callers import InvalidCallerError

HOURS = 12
KEYS = Keyring({1: b"k" * 32})


class Clock:
    """The time of day, set by hand."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(database: str) -> Iterator[Pool]:
    with Pool(database) as pool:
        yield pool


@pytest.fixture
def tokens(pool: Pool, clock: Clock) -> Tokens:
    return Tokens(TokenStore(pool, lambda: KEYS), now=lambda: clock.now)


@pytest.fixture
def sign_ins(pool: Pool, tokens: Tokens, clock: Clock) -> SignIns:
    store = SignInStore(pool, lambda: KEYS)
    return SignIns(store, tokens, timedelta(hours=HOURS), lambda: clock.now)


def link(sign_ins: SignIns, user_id: str = "ada", role: str = "reviewer") -> str:
    return sign_ins.make_link(user_id, role=role, actor="mira")


def refused(act: Callable[[str], object], text: str) -> str:
    with pytest.raises(NotAuthenticatedError) as error:
        act(text)
    assert text[-43:] not in f"{error.value!r} {error.value.hint}"
    return error.value.message


def test_a_link_opens_one_sign_in(sign_ins: SignIns) -> None:
    code = link(sign_ins)
    caller = sign_ins.check(sign_ins.open_by_link(code))
    assert (caller.user_id, caller.role, caller.actor) == ("ada", "reviewer", "mira")
    assert "used already" in refused(sign_ins.open_by_link, code)


def test_a_link_ends_after_ten_minutes(sign_ins: SignIns, clock: Clock) -> None:
    early, late = link(sign_ins), link(sign_ins)
    clock.pass_by(minutes=LINK_MINUTES, seconds=-1)
    assert sign_ins.open_by_link(early)
    clock.pass_by(seconds=1)
    assert "time is over" in refused(sign_ins.open_by_link, late)


def test_a_sign_in_ends_by_itself(sign_ins: SignIns, clock: Clock) -> None:
    cookie = sign_ins.open_by_link(link(sign_ins))
    clock.pass_by(hours=HOURS, seconds=-1)
    assert sign_ins.ended([parse_cookie(cookie)]) == set()
    sign_ins.check(cookie)
    clock.pass_by(seconds=1)
    assert "signed out" in refused(sign_ins.check, cookie)
    assert sign_ins.ended([parse_cookie(cookie)]) == {parse_cookie(cookie)}


def test_a_link_is_no_cookie_and_a_cookie_no_link(sign_ins: SignIns) -> None:
    refused(sign_ins.check, link(sign_ins))
    cookie = sign_ins.open_by_link(link(sign_ins))
    refused(sign_ins.open_by_link, cookie)


def test_signing_out_ends_that_sign_in_alone(sign_ins: SignIns) -> None:
    one, other = (sign_ins.open_by_link(link(sign_ins)) for _ in range(2))
    forged = one[:-43] + other[-43:]
    sign_ins.close(forged)
    sign_ins.check(one)
    sign_ins.close(one)
    refused(sign_ins.check, one)
    sign_ins.check(other)


def test_a_cookie_is_good_for_its_user_alone(sign_ins: SignIns) -> None:
    cookie = sign_ins.open_by_link(link(sign_ins))
    refused(sign_ins.check, cookie.replace(".ada.", ".ben."))


@pytest.mark.parametrize(
    "text",
    ["", "mgs.ada", "mgs.Ada.0123456789ab." + "x" * 43, "mgs.ada.0123456789ab." + "x" * 43 + "\n",
     "mgt.ada.0123456789ab." + "x" * 43, "mgs.ada.0123456789ab." + "é" * 43],
)  # fmt: skip
def test_a_text_of_another_form_is_refused(sign_ins: SignIns, text: str) -> None:
    with pytest.raises(NotAuthenticatedError):
        sign_ins.check(text)


def test_a_sign_in_by_token_ends_with_the_token(sign_ins: SignIns, tokens: Tokens, clock: Clock) -> None:
    until = clock.now + timedelta(hours=1)
    expiring = tokens.create("ada", role="agent", actor="companion", expires_at=until)
    revoked = tokens.create("ada", role="agent", actor="companion", expires_at=None)
    cookies = [sign_ins.open_by_token(each.secret) for each in (expiring, revoked)]
    for cookie in cookies:
        assert sign_ins.check(cookie).actor == "companion"
    tokens.revoke(revoked.token.token_id, "ada")
    assert "come to its end" in refused(sign_ins.check, cookies[1])
    clock.pass_by(hours=1)
    assert "come to its end" in refused(sign_ins.check, cookies[0])
    names = {parse_cookie(cookie) for cookie in cookies}
    assert sign_ins.ended(names) == names


def test_a_sign_in_by_token_keeps_the_tokens_policy(sign_ins: SignIns, tokens: Tokens) -> None:
    policy = TokenPolicy(phase="observe")
    issued = tokens.create("ada", role="agent", actor="companion", expires_at=None, policy=policy)
    caller = sign_ins.check(sign_ins.open_by_token(issued.secret))
    assert isinstance(caller, TokenCaller)
    assert caller.policy == {"phase": "observe"}


@pytest.mark.parametrize(
    "change",
    [
        "role = 'maintainer'", "actor = 'owner'", "expires_at = expires_at + interval '1 day'",
        "token_id = null", "created_at = created_at - interval '1 day'", "seal_salt_version = 2",
        "user_id = 'ben'", "sign_in_id = 'ffffffffffff'",
    ],
)  # fmt: skip
def test_a_row_that_was_changed_signs_no_one_in(
    sign_ins: SignIns, tokens: Tokens, database: str, change: str
) -> None:
    issued = tokens.create("ada", role="agent", actor="companion", expires_at=None)
    cookie = sign_ins.open_by_token(issued.secret)
    with connection(database) as opened:
        opened.execute(f"update garden.sign_ins set {change} where not is_link".encode())
    changed = cookie.replace(".ada.", ".ben.") if "ben" in change else cookie
    changed = changed.replace(cookie.split(".")[2], "f" * 12) if "ffff" in change else changed
    refused(sign_ins.check, changed)


def test_a_used_link_that_was_made_a_sign_in_opens_nothing(sign_ins: SignIns, database: str) -> None:
    code = link(sign_ins)
    with connection(database) as opened:
        opened.execute(b"update garden.sign_ins set is_link = false")
    refused(sign_ins.check, code)


def test_no_secret_is_in_the_database(sign_ins: SignIns, database: str) -> None:
    texts = [link(sign_ins), sign_ins.open_by_link(link(sign_ins))]
    with connection(database) as opened:
        rows = str(opened.execute("select sign_ins::text from garden.sign_ins").fetchall())
    assert len(re.findall(r"\bada\b", rows)) == 2
    assert not any(text[-43:] in rows for text in texts)


def test_a_link_needs_a_name_and_a_role_that_exist(sign_ins: SignIns) -> None:
    for user_id, role, actor in (("Ada", "agent", "x"), ("ada", "gardener", "x"), ("ada", "agent", "owner")):
        with pytest.raises(InvalidCallerError):
            sign_ins.make_link(user_id, role=role, actor=actor)


def test_expired_sign_ins_are_forgotten_by_the_job(garden: Garden, database: str) -> None:
    past = SignIns(
        SignInStore(garden.pools["readers"], garden.keys), garden.tokens, timedelta(hours=HOURS),
        lambda: datetime.now(UTC) - timedelta(days=2),
    )  # fmt: skip
    past.open_by_link(link(past))
    kept = garden.sign_ins.open_by_link(link(garden.sign_ins))
    list(forget_expired(garden.services))
    with connection(database) as opened:
        [[left]] = opened.execute("select sign_in_id from garden.sign_ins").fetchall()
    assert left == parse_cookie(kept)[1]
