"""Checks of a user's rows outside the chains: feed, stored requests with their answers, tokens, erasures."""

from collections.abc import Iterator
from uuid import UUID

from garden.events.erasures import erasure_holds
from garden.events.keyring import Keyring
from garden.events.seals import request_holds
from garden.events.snapshots import ReaderSnapshot
from garden.events.tokens import token_holds

Fault = tuple[UUID | None, str]
"""The event that a fault is about, if any, and a message."""


def faults_of_stored_requests(snapshot: ReaderSnapshot, keys: Keyring) -> Iterator[Fault]:
    """Find stored requests that are not as they were sealed, or whose event is gone or contradicts them."""
    for row in snapshot.rows_by("stored_requests", "key"):
        if not request_holds(snapshot.user_id, row["key"], row, keys):
            yield row["event_id"], "the stored request, or its answer, was changed"
        elif row["status"] is None:
            yield row["event_id"], "a request is stored, and its event is gone"
        elif (row["response"] is None) == (row["status"] == "committed"):
            yield row["event_id"], f"its event is {row['status']}, and the stored request contradicts that"


def faults_of_feed(snapshot: ReaderSnapshot, _keys: Keyring) -> Iterator[Fault]:
    """Find entries of the feed whose events are gone or ended otherwise, and entries that are missing."""
    for row in snapshot.fetch("feed_faults", {}):
        yield row["event_id"], row["message"]


def faults_of_erasures(snapshot: ReaderSnapshot, keys: Keyring) -> Iterator[Fault]:
    """Find finished erasures that are not as they were sealed, and those whose tombstone is gone."""
    rows = snapshot.fetch("erasures", {})
    erased_by = {row["erasure_id"] for row in snapshot.fetch("erased_rows", {})}
    for erasure_id in erased_by - {row["erasure_id"] for row in rows}:
        yield erasure_id, "it took words out of events, and its tombstone is gone"
    for row in rows:
        if row["finished_at"] is not None and not erasure_holds(row, keys):
            yield row["erasure_id"], "the tombstone of an erasure was changed"


def faults_of_kept_texts(snapshot: ReaderSnapshot, _keys: Keyring) -> Iterator[Fault]:
    """Find kept texts that are not those of their versions."""
    for row in snapshot.fetch("kept_text_faults", {}):
        yield row["event_id"], f"the kept text of version {row['version']} of {row['path']} was changed"


def faults_of_tokens(snapshot: ReaderSnapshot, keys: Keyring) -> Iterator[Fault]:
    """Find access tokens that are not as they were made."""
    for row in snapshot.fetch("sealed_tokens", {}):
        if not token_holds(row, keys):
            yield None, f"the access token {row['token_id']} was changed"
