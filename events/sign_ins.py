"""Sign-ins of the console in the database: a seal over each, and never its secret."""

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from garden.events.keyring import Keyring
from garden.events.pool import Pool
from garden.events.rows import seal_of, seal_row

SignInName = tuple[str, str]
"""The user and the id of a sign-in."""

_FILE = "sign_ins"
_SEAL = ("seal", "seal_salt_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """An open sign-in, or an unused link that opens one."""

    user_id: str
    sign_in_id: str
    is_link: bool
    token_id: str | None
    role: str
    actor: str
    created_at: datetime
    expires_at: datetime


class SignInStore:
    """The table of sign-ins."""

    def __init__(self, pool: Pool, keys: Callable[[], Keyring]) -> None:
        self._pool = pool
        self._keys = keys

    def add(self, sign_in: SignIn, secret_hash: bytes) -> None:
        """Store a new sign-in."""
        values = asdict(sign_in)
        seal = self._keys().seal("sign-in", *values.values(), secret_hash)
        self._pool.fetch("service", _FILE, "add", {**values, **seal_row(seal, _SEAL)})

    def find(self, name: SignInName, secret_hash: bytes, now: datetime, *, is_link: bool) -> SignIn | None:
        """Find an open sign-in or an unused link by its secret's hash; one round trip."""
        values = {"user_id": name[0], "sign_in_id": name[1], "is_link": is_link, "now": now}
        for row in self._pool.fetch("service", _FILE, "find", values):
            found = SignIn(**{field: row[field] for field in SignIn.__slots__})
            if self._keys().holds(seal_of(row, _SEAL), "sign-in", *asdict(found).values(), secret_hash):
                return found
        return None

    def remove(self, name: SignInName) -> bool:
        """Remove a sign-in or a link; whether it was still there."""
        values = {"user_id": name[0], "sign_in_id": name[1]}
        return bool(self._pool.fetch("service", _FILE, "remove", values))

    def open_among(self, names: Collection[SignInName], now: datetime) -> set[SignInName]:
        """Return those of some sign-ins that are open, and whose tokens are live."""
        values: dict[str, Any] = {"user_ids": [user for user, _ in names], "now": now}
        values["sign_in_ids"] = [sign_in_id for _, sign_in_id in names]
        rows = self._pool.fetch("maintainer", _FILE, "open", values)
        return {(row["user_id"], row["sign_in_id"]) for row in rows}.intersection(names)
