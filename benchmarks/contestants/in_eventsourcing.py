"""The Postgres recorder of eventsourcing: one event with the same words is appended; there is no file."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore


class Contestant:
    """One stream of events for each document."""

    def __init__(self, folder: Path, database: str) -> None:  # noqa: ARG002 - it keeps no files
        address = urlsplit(database)
        place = parse_qs(address.query)
        datastore = PostgresDatastore(
            dbname=address.path.lstrip("/"),
            host=place["host"][0],
            port=place["port"][0],
            user=address.username or "",
            password="",
        )
        self._recorder = PostgresApplicationRecorder(datastore)
        self._recorder.create_table()
        self._versions: dict[UUID, int] = {}

    def edit(self, document: str, anchor: str, old: str, new: str) -> None:
        stream = uuid5(NAMESPACE_URL, document)
        version = self._versions.get(stream, 0) + 1
        state = {"path": document, "anchor": anchor, "removed": old, "inserted": new, "actor": "companion",
                 "rationale": "She said so."}  # fmt: skip
        event = StoredEvent(stream, version, "document.SectionReplaced", json.dumps(state).encode())
        self._recorder.insert_events([event])
        self._versions[stream] = version

    def read(self, document: str) -> str:
        events = self._recorder.select_events(uuid5(NAMESPACE_URL, document), desc=True, limit=1)
        return str(json.loads(events[0].state)["inserted"])
