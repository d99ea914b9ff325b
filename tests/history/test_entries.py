"""What an entry covers, made anew from the row as the documentation says."""

import json
from datetime import UTC
from hashlib import sha256

from garden.application import Garden
from garden.events.database import connection
from garden.history.checkpoints import log_folder
from garden.history.tiles import Tiles
from tests.history.conftest import logged
from tests.support.accounts import Account

LEFT_OUT = {
    "salts", "after_hash", "error", "rationale", "override_rationale", "evidence_refs", "edit", "line_hash",
    "splices_removed", "splices_inserted", "lint", "before_hash", "before_raw_hash", "intended_hash",
    "intended_raw_hash",
    "section_anchor", "sections", "tool_call_id", "transaction_id", "agent_action_id", "idempotency_key",
}  # fmt: skip


def test_an_entry_is_made_of_the_documented_lines(garden: Garden, account: Account, database: str) -> None:
    event = account.edit("three\n")
    size = logged(garden)
    with connection(database) as owner:
        found = owner.execute("select * from garden.events where event_id = %s", [event.event_id])
        names = [column.name for column in found.description or ()]
        row = dict(zip(names, found.fetchone() or (), strict=True))
    lines = []
    for name in sorted(names):
        value = row[name]
        if name in LEFT_OUT or value is None:
            continue
        if isinstance(value, bytes):
            shown = value.hex()
        elif hasattr(value, "astimezone"):
            shown = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
        else:
            shown = str(value) if name.endswith("_id") and name != "user_id" else json.dumps(value)
        lines.append(f"{name} {shown}\n")
    digest = sha256("".join(lines).encode()).hexdigest()
    tiles = Tiles(log_folder(garden.services), size)
    entries = [tiles.entry(index) for index in range(size)]
    assert f"event/v1 {event.event_id} sha256:{digest}".encode() in entries
