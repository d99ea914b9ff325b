"""The possible minimum of a recorded edit, by hand.

A bare insert, a synced copy of the old version, a synced replacement, a bare update. No lock, no plan, no
lint, no seal, no head, no idempotency.
"""

import os
import secrets
from pathlib import Path

import psycopg


class Contestant:
    """Files in a folder, and a table without an index on words."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        self._connection = psycopg.connect(database, autocommit=True)
        self._connection.execute(
            "create table public.floor "
            "(id bigserial primary key, path text, words text, status text, at timestamptz)"
        )

    def edit(self, document: str, anchor: str, old: str, new: str) -> None:  # noqa: ARG002 - no sections here
        live = self._folder / document
        before = live.read_bytes()
        row = self._connection.execute(
            "insert into public.floor (path, words, status, at) "
            "values (%s, %s, 'pending', now()) returning id",
            (document, new),
            prepare=True,
        ).fetchone()
        put(live.with_name(f"copy-{secrets.token_hex(8)}.md"), before)
        replace(live, before.replace(old.encode(), new.encode()))
        self._connection.execute(
            "update public.floor set status = 'committed' where id = %s", row, prepare=True
        )

    def read(self, document: str) -> str:
        return (self._folder / document).read_text()


def replace(live: Path, content: bytes) -> None:
    """Replace a file durably."""
    fresh = live.with_name(".new")
    put(fresh, content)
    fresh.rename(live)
    handle = os.open(live.parent, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def put(file: Path, content: bytes) -> None:
    """Write a file and wait for the disk."""
    with file.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
