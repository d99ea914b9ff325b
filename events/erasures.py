"""Erasures in the database: recorded before anything is erased, and sealed as tombstones at the end."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from garden.events.calls import blank_calls
from garden.events.erased_rows import TOMBSTONE_SEAL, FilledRow
from garden.events.erased_words import PURPOSE, fingerprint
from garden.events.kept_texts import forget_kept_texts
from garden.events.keyring import Keyring, Seal
from garden.events.passages import forget_earlier
from garden.events.pool import Pool, PooledConnection
from garden.events.records import UNSEALED
from garden.events.rows import Row, parameters, seal_of, seal_row
from garden.events.statements import statements
from garden.grammar.errors import GardenError
from garden.grammar.passages import ShingleFinder

_IDS_AT_ONCE = 10_000
_EXPORT = "exported erasure"
_ORDER = "erasure order"


class ForeignRecordError(GardenError):
    """An exported record was not written by this garden."""

    code = "invalid_input"


class ForgedErasureError(GardenError):
    """An unfinished erasure that this garden did not record."""

    code = "unavailable"


Fingerprint = tuple[bytes, int, int]
"""A fingerprint, the number of words under it, and the version of its key."""


class ErasureKind(StrEnum):
    """What an erasure covers."""

    PASSAGE = "passage"
    DOCUMENT = "document"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What is to be erased, by whom and why; `passage` only until it is done.

    A passage without words is one of which only fingerprints are known.
    """

    user_id: str
    erasure_id: UUID
    kind: ErasureKind
    path: str | None
    reason: str
    actor: str
    role: str
    created_at: datetime
    passage: str | None = None
    finished_at: datetime | None = None
    events: int | None = None
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What stays of an erasure: its seal, and whether that holds."""

    erasure: Erasure
    seal: str
    holds: bool


_UNORDERED = {"finished_at", "events", "bytes"}
_ORDERED = tuple(field.name for field in fields(Erasure) if field.name not in _UNORDERED)
_SEALED = tuple(field.name for field in fields(Erasure) if field.name != "passage")


def erasure_of(row: Row) -> Erasure:
    """The erasure of a row."""
    values = {name: row[name] for name in _SEALED}
    return Erasure(**{**values, "kind": ErasureKind(row["kind"])}, passage=row.get("passage"))


def erasure_holds(row: Row, keys: Keyring) -> bool:
    """Whether a finished erasure's row is as it was sealed."""
    return keys.holds(seal_of(row, TOMBSTONE_SEAL), "erasure", {name: row[name] for name in _SEALED})


def seal_erasure(row: Row, keys: Keyring) -> dict[str, Any]:
    """Seal a finished erasure's row."""
    done = {name: row[name] for name in _SEALED}
    return {**row, **seal_row(keys.seal("erasure", done), TOMBSTONE_SEAL)}


class Erasures:
    """The table of erasures, the fingerprints and the tombstones, for the maintainer."""

    def __init__(
        self, pool: Pool, keys: Callable[[], Keyring], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._pool = pool
        self._keys = keys
        self._now = now

    def now(self) -> datetime:
        """The time of a new erasure."""
        return self._now()

    def begin(self, erasure: Erasure, runs: Mapping[int, Iterable[str]]) -> None:
        """Record an erasure durably, with the fingerprints that keep its words from coming back."""
        self._begin(erasure, self._fingerprints(runs))

    def find(self, user_id: str, erasure_id: UUID) -> Erasure | None:
        """Find an erasure; one that is not finished must be as it was asked for."""
        values = {"user_id": user_id, "erasure_id": erasure_id}
        rows = self._fetch("maintainer_for_user", "find", values)
        if rows and rows[0]["finished_at"] is None:
            self._check_order(rows[0])
        return erasure_of(rows[0]) if rows else None

    def listed(self, user_id: str, before: UUID | None, limit: int) -> list[Erasure]:
        """A user's erasures, newest first."""
        values = {"user_id": user_id, "before": before, "limit": limit}
        return [erasure_of(row) for row in self._fetch("maintainer_for_user", "listed", values)]

    def tombstone(self, user_id: str, erasure_id: UUID) -> Tombstone | None:
        """Find an erasure with its seal, without the words of one that is not finished."""
        rows = self._fetch("maintainer_for_user", "find", {"user_id": user_id, "erasure_id": erasure_id})
        if not rows:
            return None
        erasure = replace(erasure_of(rows[0]), passage=None)
        return Tombstone(erasure, rows[0]["seal"].hex(), erasure_holds(rows[0], self._keys()))

    def pending(self, user_id: str | None = None) -> list[Erasure]:
        """The erasures that have begun and not finished, oldest first."""
        return [erasure_of(row) for row in self._fetch("maintainer", "pending", {"user_id": user_id})]

    def export(self, user_id: str) -> list[dict[str, Any]]:
        """The finished erasures of a user as sealed records, with fingerprints and without words."""
        records = []
        for row in self._fetch("maintainer_for_user", "finished", {"user_id": user_id}):
            plain = {name: str(row[name]) for name in ("erasure_id", "created_at")}
            words = self._fetch("maintainer_for_user", "words_of", row)
            known = [[each["fingerprint"].hex(), each["words"], each["salt_version"]] for each in words]
            record = {**row, **plain, "fingerprints": known}
            seal = self._keys().seal(_EXPORT, record)
            records.append({**record, "seal": seal.mac.hex(), "seal_salt_version": seal.version})
        return records

    def check_record(self, record: Mapping[str, Any]) -> None:
        """Refuse a record that this garden did not export."""
        content = {name: value for name, value in record.items() if name not in TOMBSTONE_SEAL}
        try:
            seal = Seal(bytes.fromhex(record["seal"]), record["seal_salt_version"])
        except (KeyError, TypeError, ValueError):
            seal = UNSEALED
        if not self._keys().holds(seal, _EXPORT, content):
            raise ForeignRecordError(
                "This record was not written by this garden, or was changed.",
                hint="Use the file that 'garden erase --export' wrote, with the same integrity keys.",
            )

    def take_up(self, record: Mapping[str, Any]) -> Erasure | None:
        """Begin an erasure again from its exported record; None if it is known here."""
        erasure = Erasure(
            **{name: record[name] for name in ("user_id", "path", "reason", "actor", "role")},
            erasure_id=UUID(record["erasure_id"]),
            kind=ErasureKind(record["kind"]),
            created_at=datetime.fromisoformat(record["created_at"]),
        )
        if self.find(erasure.user_id, erasure.erasure_id) is not None:
            return None
        self._begin(erasure, [(bytes.fromhex(each), *also) for each, *also in record["fingerprints"]])
        return erasure

    def finder_of(self, erasure: Erasure) -> ShingleFinder:
        """A finder that knows an erasure's words by their fingerprints."""
        values = {"user_id": erasure.user_id, "erasure_id": erasure.erasure_id}
        rows = self._fetch("maintainer_for_user", "words_of", values)
        known = {bytes(row["fingerprint"]) for row in rows}
        keyring = self._keys()
        keys = [keyring.derived_key(version, PURPOSE) for version in {row["salt_version"] for row in rows}]
        sizes = tuple({row["words"] for row in rows} - {0})
        return ShingleFinder(sizes, lambda run: any(fingerprint(key, run) in known for key in keys))

    def fill(
        self,
        erasure: Erasure,
        rows: Sequence[FilledRow],
        runs: Mapping[int, Iterable[str]],
        answered: Sequence[UUID],
        bytes_erased: int,
        path: str | None = None,
    ) -> None:
        """Replace rows by what is left of them, with their tombstones, in one transaction.

        It stores fingerprints of what goes, and forgets the stored answers of the events `answered` and what
        is kept of earlier texts of the document at `path`.
        """
        keys, user = self._keys(), {"user_id": erasure.user_id, "erasure_id": erasure.erasure_id}
        sql = statements("erasures")
        with self._pool.connection() as connection, connection.transaction():
            connection.execute(statements("identities")["maintainer_for_user"], user)
            connection.execute(sql["begin_filling"], user)
            _remember(connection, erasure, self._fingerprints(runs))
            connection.execute(sql["count_bytes"], {**user, "bytes": bytes_erased})
            for batch in _batches(answered):
                connection.execute(sql["forget_answers"], {**user, "event_ids": batch})
            if path is not None:
                forget_earlier(connection, erasure.user_id, path)
                is_all = erasure.kind is ErasureKind.USER
                forget_kept_texts(connection, erasure.user_id, path, for_good=is_all)
            known = self._version_hashes(connection, erasure.user_id, rows)
            with connection.pipeline():
                for each in rows:
                    filled = each.with_version(known.get(each.row_id))
                    name = "fill_annotation" if filled.is_annotation else "fill_event"
                    connection.execute(sql[name], {**user, **_filled_values(filled, erasure, keys)})

    def forget_requests(self, user_id: str, before: datetime) -> None:
        """Take the words out of a user's earlier calls and of all approvals, and end the open ones."""
        blank_calls(self._pool, user_id, before)
        self._pool.fetch("maintainer_for_user", "approvals", "end_all", {"user_id": user_id})

    def count_answers(self, user_id: str, event_ids: Sequence[UUID]) -> int:
        """Count the stored answers of some events."""
        values = {"user_id": user_id, "event_ids": list(event_ids)}
        return int(self._fetch("maintainer_for_user", "count_answers", values)[0]["answers"])

    def finish(self, erasure: Erasure) -> Erasure:
        """Seal the tombstone, and forget the words."""
        values = {"user_id": erasure.user_id, "erasure_id": erasure.erasure_id}
        # A call may have asked while the words were going.
        self.forget_requests(erasure.user_id, erasure.created_at)
        [counted] = self._fetch("maintainer_for_user", "count_rows", values)
        [row] = self._fetch("maintainer_for_user", "find", values)
        done = {name: row[name] for name in _SEALED}
        done |= {"finished_at": self._now(), "events": counted["events"]}
        self._fetch("maintainer_for_user", "finish", seal_erasure(done, self._keys()))
        return erasure_of(done)

    def _begin(self, erasure: Erasure, known: Sequence[Fingerprint]) -> None:
        values = {**{name: getattr(erasure, name) for name in _ORDERED}, "kind": str(erasure.kind)}
        values |= seal_row(self._keys().seal(_ORDER, values), TOMBSTONE_SEAL)
        with self._pool.connection() as connection, connection.transaction():
            connection.execute(statements("identities")["maintainer_for_user"], values)
            connection.execute(statements("erasures")["begin"], values)
            _remember(connection, erasure, known)

    def _check_order(self, row: Row) -> None:
        """Refuse to carry out what the owner of the database alone put there."""
        if not self._keys().holds(
            seal_of(row, TOMBSTONE_SEAL), _ORDER, {name: row[name] for name in _ORDERED}
        ):
            raise ForgedErasureError(
                "An unfinished erasure is not as it was asked for, so nothing was erased.",
                hint="Find out who changed the database, and remove the row of garden.erasures.",
            )

    def _fingerprints(self, runs: Mapping[int, Iterable[str]]) -> list[Fingerprint]:
        keyring = self._keys()
        version = keyring.versions[-1]
        key = keyring.derived_key(version, PURPOSE)
        return [(fingerprint(key, run), size, version) for size, each in runs.items() for run in each]

    def _version_hashes(
        self, connection: PooledConnection, user_id: str, rows: Sequence[FilledRow]
    ) -> dict[UUID, str | None]:
        known: dict[UUID, str | None] = {}
        for batch in _batches([each.row_id for each in rows]):
            values = {"user_id": user_id, "row_ids": batch}
            found = connection.execute(statements("erasures")["version_hashes"], values)
            known |= {row["row_id"]: row["version_hash"] for row in found.fetchall()}
        return known

    def _fetch(self, identity: str, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self._pool.fetch(identity, "erasures", name, values, prepare=False)


def _remember(connection: PooledConnection, erasure: Erasure, known: Sequence[Fingerprint]) -> None:
    values = {
        "user_id": erasure.user_id,
        "erasure_id": erasure.erasure_id,
        "fingerprints": [each for each, _, _ in known],
        "words": [size for _, size, _ in known],
        "salt_versions": [version for _, _, version in known],
    }
    connection.execute(statements("erasures")["remember_words"], values)


def _batches(ids: Sequence[UUID]) -> Iterator[list[UUID]]:
    for at in range(0, len(ids), _IDS_AT_ONCE):
        yield list(ids[at : at + _IDS_AT_ONCE])


def _filled_values(filled: FilledRow, erasure: Erasure, keys: Keyring) -> dict[str, Any]:
    seal: Seal = filled.tombstone(erasure.user_id, erasure.erasure_id, keys)
    return {
        **parameters(filled.row),
        "new_commitments": filled.commitments,
        "version_hash": filled.version_hash,
        **seal_row(seal, TOMBSTONE_SEAL),
        "user_id": erasure.user_id,
    }
