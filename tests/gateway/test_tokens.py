"""Access tokens as callers and operators know them."""

import hmac
import json
import re
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.keyring import Keyring
from garden.events.pool import Pool
from garden.events.tokens import Token, TokenStore
from garden.gateway import tokens as tokens_module
from garden.gateway.tokens import (
    InvalidTokenRequestError,
    IssuedToken,
    NotAuthenticatedError,
    TokenNotFoundError,
    Tokens,
)
from garden.home.folder import Home
from garden.writing.callers import InvalidCallerError
from tests.support.gardens import NOTES, plant
from tests.support.processes import garden as spawned
from tests.surfaces.cli.conftest import Command, Ran

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


def run(*words: str, home: Path) -> Ran:
    with pytest.MonkeyPatch.context() as patch:
        return Command(home, patch)(*words)


KEYS = Keyring({1: b"k" * 32})


class Clocks:
    """The time of day, set by hand."""

    def __init__(self) -> None:
        self.day = NOW


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def pool(database: str) -> Iterator[Pool]:
    with Pool(database) as pool:
        yield pool


@pytest.fixture
def tokens(pool: Pool, clocks: Clocks) -> Tokens:
    return Tokens(TokenStore(pool, lambda: KEYS), now=lambda: clocks.day)


def issue(tokens: Tokens, user_id: str = "ada", role: str = "agent", **other: datetime | None) -> IssuedToken:
    return tokens.create(user_id, role=role, actor="companion", expires_at=other.get("expires_at"))


def refusal(tokens: Tokens, secret: str) -> NotAuthenticatedError:
    with pytest.raises(NotAuthenticatedError) as refused:
        tokens.check(secret)
    return refused.value


def with_other_secret(secret: str) -> str:
    return secret[:-43] + ("A" if secret[-43] != "A" else "B") + secret[-42:]


def test_a_token_identifies_user_role_and_actor(tokens: Tokens) -> None:
    issued = issue(tokens, "ada", "reviewer")
    found = tokens.check(issued.secret)
    assert found == issued.token
    assert (found.user_id, found.role, found.actor) == ("ada", "reviewer", "companion")


def test_secrets_are_long_and_never_the_same(tokens: Tokens) -> None:
    secrets = [issue(tokens).secret for _ in range(20)]
    assert all(re.fullmatch(r"mgt\.ada\.[0-9a-f]{12}\.[A-Za-z0-9_-]{43}", secret) for secret in secrets)
    assert len({secret[-43:] for secret in secrets}) == 20


def test_no_secret_stands_in_the_database_or_goes_to_it(tokens: Tokens, pool: Pool, database: str) -> None:
    with tempfile.TemporaryFile() as trace:
        with pool.connection() as traced:
            traced.pgconn.trace(trace.fileno())
        secret = issue(tokens).secret
        tokens.check(secret)
        with pool.connection() as same:
            assert same is traced
            same.pgconn.untrace()
        trace.seek(0)
        sent = trace.read().decode()
    assert "garden.tokens" in sent
    assert secret[-43:] not in sent
    with connection(database) as opened:
        [[row]] = opened.execute("select tokens::text from garden.tokens").fetchall()
    assert secret[-43:] not in row


def test_no_message_or_repr_reveals_a_secret(tokens: Tokens) -> None:
    issued = issue(tokens)
    assert issued.secret[-43:] not in repr(issued) + str(issued)
    wrong = with_other_secret(issued.secret)
    tokens.revoke(issued.token.token_id)
    for secret in (wrong, issued.secret, issued.secret + "\n", "mgt.ada." + issued.secret[-43:]):
        error = refusal(tokens, secret)
        shown = f"{error!r} {error.message} {error.hint} {error.details}"
        assert secret[-43:-1] not in shown
        assert error.code == "permission_denied"
        assert error.hint


def test_a_wrong_secret_and_an_unknown_token_are_refused_alike(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is looked up, and compared over its whole length in constant time."""
    compared, taken, take = list[tuple[int, int]](), [0], Pool.take

    def comparing(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return hmac.compare_digest(one, other)

    def counted(pool: Pool) -> object:
        taken[0] += 1
        return take(pool)

    secret = issue(tokens).secret
    monkeypatch.setattr(tokens_module, "compare_digest", comparing)
    monkeypatch.setattr(Pool, "take", counted)
    wrong = refusal(tokens, with_other_secret(secret))
    unknown = refusal(tokens, secret.replace(secret.split(".")[2], "0" * 12))
    foreign = refusal(tokens, secret.replace("ada", "stranger", 1))
    assert (wrong.message, wrong.hint) == (unknown.message, unknown.hint) == (foreign.message, foreign.hint)
    assert compared == [(32, 32)] * 3
    assert taken == [3]


def test_a_token_can_not_be_turned_into_another_users(tokens: Tokens) -> None:
    adas, bens = issue(tokens, "ada"), issue(tokens, "ben")
    assert "unknown" in refusal(tokens, adas.secret.replace("ada", "ben")).message
    assert "unknown" in refusal(tokens, bens.secret[:-43] + adas.secret[-43:]).message
    assert tokens.check(bens.secret).user_id == "ben"


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "nonsense",
        "Bearer mgt.ada.0123456789ab." + "x" * 43,
        "mgt.ada.0123456789ab." + "x" * 42,
        "mgt.ada.0123456789ab." + "x" * 44,
        "mgt.ada.0123456789ab." + "x" * 43 + "\n",
        "mgt.ada.0123456789AB." + "x" * 43,
        "mgt.Ada.0123456789ab." + "x" * 43,
        "mgt.ada'--.0123456789ab." + "x" * 43,
        "mgt.ada.0123456789ab." + "é" * 43,
        "mgt.ada.0123456789ab." + "\x00" * 43,
        "mgt.ada." + "\N{ARABIC-INDIC DIGIT ONE}" * 12 + "." + "x" * 43,
        "mgt." + "a" * 100_000,
    ],
    ids=range(13),
)
def test_a_malformed_token_is_refused_without_a_query(secret: str) -> None:
    with Pool("postgresql:///x?host=/nonexistent") as nowhere:
        assert "not an access token" in refusal(Tokens(TokenStore(nowhere, lambda: KEYS)), secret).message


def test_a_token_expires_by_the_clock(tokens: Tokens, clocks: Clocks) -> None:
    issued = issue(tokens, expires_at=NOW + timedelta(seconds=10))
    clocks.day = NOW + timedelta(seconds=9.999)
    tokens.check(issued.secret)
    assert tokens.has_live_token()
    clocks.day = NOW + timedelta(seconds=10)
    assert "expired" in refusal(tokens, issued.secret).message
    assert not tokens.has_live_token()


def test_a_token_without_an_end_stays(tokens: Tokens, clocks: Clocks) -> None:
    secret = issue(tokens).secret
    clocks.day += timedelta(days=36_500)
    assert tokens.check(secret).user_id == "ada"


def test_the_tokens_that_have_ended_are_found_together(tokens: Tokens, clocks: Clocks) -> None:
    live, revoked, expired = (
        issue(tokens, expires_at=NOW + timedelta(seconds=seconds)).token for seconds in (20, 20, 10)
    )
    tokens.revoke(revoked.token_id)
    names = [("ada", each.token_id) for each in (live, revoked, expired)]
    assert tokens.ended(names) == {names[1]}
    clocks.day = NOW + timedelta(seconds=10)
    assert tokens.ended(names) == set(names[1:])
    assert tokens.ended([names[0], ("ben", revoked.token_id)]) == set()


def test_a_token_is_made_only_for_a_valid_caller(tokens: Tokens) -> None:
    for user_id, role, actor in (("A", "agent", "x"), ("ada", "owner", "x"), ("ada", "agent", " ")):
        with pytest.raises(InvalidCallerError):
            tokens.create(user_id, role=role, actor=actor, expires_at=None)
    for moment in (NOW, NOW.replace(tzinfo=None) + timedelta(days=1)):
        with pytest.raises(InvalidTokenRequestError):
            issue(tokens, expires_at=moment)
    assert tokens.list() == ()


def test_tokens_are_listed_for_one_user_or_all(tokens: Tokens) -> None:
    adas, bens = issue(tokens, "ada").token, issue(tokens, "ben").token
    assert tokens.list("ada") == (adas,)
    assert tokens.list() == (adas, bens)
    with pytest.raises(InvalidCallerError):
        tokens.list("../ada")


def test_a_token_is_revoked_by_id_and_by_user_if_ambiguous(tokens: Tokens, pool: Pool) -> None:
    first = issue(tokens, "ada").token
    assert tokens.revoke(first.token_id).revoked_at == NOW
    assert tokens.revoke(first.token_id).revoked_at == NOW
    twin = Token(
        token_id=first.token_id, user_id="ben", role="agent", actor="x", created_at=NOW, expires_at=None
    )
    TokenStore(pool, lambda: KEYS).add(twin, bytes(32))
    with pytest.raises(InvalidTokenRequestError, match="Several users"):
        tokens.revoke(first.token_id)
    assert tokens.revoke(first.token_id, "ben").user_id == "ben"
    with pytest.raises(TokenNotFoundError):
        tokens.revoke("0" * 12, "ada")


def test_a_whole_token_given_for_an_id_is_not_repeated(tokens: Tokens) -> None:
    secret = issue(tokens).secret
    with pytest.raises(InvalidTokenRequestError) as refused:
        tokens.revoke(secret)
    assert secret[-43:] not in f"{refused.value.message} {refused.value.hint}"


def test_the_command_prints_the_token_alone_and_once(ready_home: Home) -> None:
    made = spawned(
        "token", "create", "--user", "ada", "--role", "agent", home=ready_home.path,
        env={"GARDEN_LOG_LEVEL": "debug"},
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    secret = made.stdout.removesuffix("\n")
    assert re.fullmatch(r"mgt\.ada\.[0-9a-f]{12}\.[A-Za-z0-9_-]{43}", secret)
    assert secret[-43:] not in made.stderr
    assert "not shown again" in made.stderr

    token_id = secret.split(".")[2]
    listed = run("token", "list", home=ready_home.path).out
    assert token_id in listed
    assert "live" in listed
    assert secret[-43:] not in listed

    revoked = run("token", "revoke", token_id, "--user", "ada", home=ready_home.path)
    assert revoked.code == 0, revoked.err
    [row] = json.loads(run("token", "list", "--user", "ada", "--json", home=ready_home.path).out)
    assert (row["status"], row["role"], row["actor"]) == ("revoked", "agent", "agent")
    lifetime = datetime.fromisoformat(row["expires_at"]) - datetime.fromisoformat(row["created_at"])
    assert abs(lifetime - timedelta(days=90)) < timedelta(minutes=5)
    assert not {"secret", "secret_hash"} & set(row)


def test_the_command_warns_if_the_user_has_no_garden(ready_home: Home, garden: Garden) -> None:
    plant(garden.session("ada"), NOTES)
    for user, warned in (("ada", False), ("adda", True)):
        made = run("token", "create", "--user", user, "--role", "agent", home=ready_home.path)
        assert made.out.startswith(f"mgt.{user}.")
        assert ("warning: There is no garden of adda yet" in made.err) is warned


@pytest.mark.parametrize(
    ("expires", "wanted"),
    [
        ("never", None),
        ("2127-01-01", "2127-01-01T00:00:00+00:00"),
        ("2127-01-01T08:00+02:00", "2127-01-01T06:00:00+00:00"),
    ],
)
def test_the_command_takes_an_end_or_none(ready_home: Home, expires: str, wanted: str | None) -> None:
    words = ("token", "create", "--user", "ada", "--role", "reviewer", "--expires", expires, "--json")
    shown = json.loads(run(*words, home=ready_home.path).out)
    assert shown["expires_at"] == wanted
    assert shown["secret"].startswith("mgt.ada.")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["create", "--user", "ada"], 2, "--role"),
        (["create", "--user", "ada", "--role", "agent", "--expires", "soon"], 2, "30d"),
        (["create", "--user", "ada", "--role", "agent", "--expires", "9" * 30 + "d"], 2, "30d"),
        (["create", "--user", "ada", "--role", "owner"], 1, "agent, reviewer, maintainer"),
        (["create", "--user", "ada", "--role", "agent", "--expires", "2020-01-01"], 1, "later time"),
        (["revoke", "0" * 12], 1, "token list"),
    ],
)
def test_the_command_names_the_problem(ready_home: Home, words: list[str], code: int, said: str) -> None:
    done = run("token", *words, home=ready_home.path)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
