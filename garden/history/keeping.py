"""Keeping whole texts of some versions of the documents that have grown, from the events."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from garden.events.kept_texts import KeptText
from garden.events.records import Caller
from garden.events.version_texts import KEPT_VERSIONS_MAX, VERSION_MAX, ChangedEventsError, VersionTexts
from garden.writing.services import Services

_AT_ONCE = 100
# A document with more stays marked: its writers wait for the lock.
_LOCKED_TEXTS_MAX = 10
# A rebuild reads this much quickly, and short texts need not be kept often.
_CHANGES_BYTES_MIN = 64 * 1024


def keep_texts(services: Services) -> Iterator[int]:
    """Keep the texts that are due, document by document; yields how many."""
    for user_id, path in services.kept_texts.marked(_AT_ONCE):
        # A changed row, which `garden verify` reports, must not keep the job from other documents.
        with suppress(ChangedEventsError):
            yield _keep(services, user_id, path)


def _keep(services: Services, user_id: str, path: str) -> int:
    with services.recovery_path.store.document(Caller(user_id, "reconciler", "maintainer"), path):
        with services.reader.snapshot(user_id) as snapshot:
            texts = VersionTexts(snapshot, path)
            last = texts.go_to_last_kept()
            due = list(islice(_due_texts(texts), _LOCKED_TEXTS_MAX))
        is_all = len(due) < _LOCKED_TEXTS_MAX
        services.kept_texts.keep(user_id, path, last, due, is_all=is_all)
    return len(due)


def _due_texts(texts: VersionTexts) -> Iterator[KeptText]:
    """The texts after which 200 changes, or more bytes of changes than the last text has, have come."""
    count, size, limit = 0, 0, max(len(texts.data), _CHANGES_BYTES_MIN)
    for _, splices in texts.steps(texts.reached + 1, VERSION_MAX):
        if count == KEPT_VERSIONS_MAX or size > limit:
            yield KeptText(texts.reached, bytes(texts.data))
            count, size, limit = 0, 0, max(len(texts.data), _CHANGES_BYTES_MIN)
        count += 1
        size += sum(len(removed) + len(inserted) for _, removed, inserted in splices)
