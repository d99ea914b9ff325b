"""Sessions: the run of notes entries that an entry belongs to, worked out from the entry itself."""

from datetime import time, timedelta
from zoneinfo import ZoneInfo

from garden.events.recall_reader import FoundPassage
from garden.home.settings import Sessions
from garden.recall.periods import key_of


def session_of(row: FoundPassage, kind: str | None, rules: Sessions, zone: ZoneInfo | None) -> str | None:
    """The session of a passage: what the heading above it says, or the day or week in the Inbox.

    The clock on the wall divides the days, so one of 23 or 25 hours is one session as well. An entry that was
    written on another day than it speaks of belongs to the day it speaks of.
    """
    section = row.anchor.rpartition(" ")[0]
    if kind != "notes" or section == "summaries":
        return None
    if section != "inbox" or " > " in row.heading:
        return row.heading.rpartition(" > ")[2] or None
    if rules.auto_divide == "none":
        return None
    day, local = row.day, row.created_at.astimezone(zone)
    if day == local.date() and local.time() < time.fromisoformat(rules.divide_at):
        day -= timedelta(days=1)
    return key_of(rules.auto_divide, day)
