"""Keyed fingerprints of erased words: what was erased is recognised without being kept."""

import hmac
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from garden.events.idempotency import LIFETIME
from garden.events.identifiers import earliest_uuid7
from garden.events.keyring import Keyring
from garden.events.pool import Pool
from garden.grammar.canonical import encoded
from garden.grammar.errors import GardenError

PURPOSE = "erased words"
_AT_ONCE = 5000


class ErasedError(GardenError):
    """The words were erased, and must not come back."""

    code = "erased"


def fingerprint(key: bytes, words: str) -> bytes:
    """The fingerprint of folded words, or of the hash of a whole version."""
    return hmac.digest(key, encoded(words), "sha256")


class ErasedWords:
    """Recognises erased words; the cost depends on the text, not on what was erased."""

    def __init__(self, pool: Pool, keys: Callable[[], Keyring]) -> None:
        self._pool = pool
        self._keys = keys

    def contain(self, user_id: str, runs: Iterable[str]) -> bool:
        """Whether any of these runs of folded words was erased."""
        keyring, distinct = self._keys(), list(dict.fromkeys(runs))
        keys = [keyring.derived_key(version, PURPOSE) for version in keyring.versions]
        return any(
            self._is_any_known(
                user_id, [fingerprint(key, run) for run in distinct[at : at + _AT_ONCE] for key in keys]
            )
            for at in range(0, len(distinct), _AT_ONCE)
        )

    def is_old_copy(self, user_id: str, raw_hash: str) -> bool:
        """Whether a file with this hash is a version that lost words."""
        return self.contain(user_id, [raw_hash])

    def took_answer(self, user_id: str, key: str) -> bool:
        """Whether a request with this key, of which no answer is stored, was carried out within its time."""
        values = {"user_id": user_id, "key": key, "earliest": earliest_uuid7(datetime.now(UTC) - LIFETIME)}
        return bool(self._pool.fetch("reader", "queries", "carried_out_with_key", values))

    def _is_any_known(self, user_id: str, fingerprints: Sequence[bytes]) -> bool:
        values = {"user_id": user_id, "fingerprints": fingerprints}
        return bool(self._pool.fetch("reader", "queries", "is_erased", values))
