"""Indexes that are kept in memory and brought up to date by each question, one a user, the latest used."""

import ctypes
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from threading import Lock, RLock

import numpy as np

from garden.events.recall_reader import NOTHING_SEEN, RecallReader, SectionColumns
from garden.recall.index import Groups, Index
from garden.recall.segment import rows_of_sections

_GROWN_MAX = 16 * 1024 * 1024
# What an index takes beside its arrays.
_BYTES_MIN = 20_480
# An index of the past counts for no limit, and takes most memory while it is made: so there is one at a time.
_MAKING_PAST = Lock()


class LiveIndex:
    """The index of one user, with vectors of one embedder, as the database stands."""

    index: Index
    _seen: str
    _news: object
    _generations: dict[str, str]

    def __init__(self, reader: RecallReader, user_id: str, embedder: str | None, dimensions: int) -> None:
        self._reader, self._user_id = reader, user_id
        self._embedder, self._dimensions = embedder, dimensions
        self._lock = RLock()
        self._start_over()

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        return _BYTES_MIN + self.index.size

    def refresh(self) -> Index:
        """Read what is newer, in one round trip, and return the index as it is now."""
        with self._lock:
            look = self._reader.look(self._user_id, self._seen, self._embedder)
            known = look.unchanged + len(look.generations.keys() & self._generations.keys())
            if int(look.seen) < int(self._seen) or known < len(self._generations):
                # Another database, or documents that went without a trace.
                self._start_over()
                look = self._reader.look(self._user_id, self._seen, self._embedder)
            news = (look.generations, look.gone, look.sections)
            if any(news) and news != self._news:
                self._take(look.generations, look.gone, look.sections)
            # What a first look brings is large, and would stand in memory twice.
            self._news = None if self._seen == NOTHING_SEEN else news
            self._seen, self.behind = look.seen, look.behind
            return self.index

    def at(self, time: datetime) -> Index:
        """The index of what stood at a time, made anew for each question."""
        with _MAKING_PAST:
            look = self._reader.look(self._user_id, NOTHING_SEEN, self._embedder, at=time)
            return _index_of(look.sections, self._dimensions)

    def _start_over(self) -> None:
        self._seen, self._news, self._generations, self.behind = NOTHING_SEEN, None, {}, 0
        self.index = _index_of((), self._dimensions)

    def _take(self, generations: dict[str, str], gone: bytes, sections: Sequence[SectionColumns]) -> None:
        dropped = {path for path, made in generations.items() if self._generations.get(path, made) != made}
        if dropped:
            whole = self._reader.look(self._user_id, NOTHING_SEEN, self._embedder, paths=dropped)
            self.index.all_groups.forget(dropped)
            sections = (*whole.sections, *(each for each in sections if each.path not in dropped))
        rows = rows_of_sections(sections, self.index.all_groups.number_of, self._dimensions)
        numbers = np.frombuffer(gone, ">i8").astype(np.int64)
        self.index = self.index.changed(rows, numbers, dropped)
        self._generations |= generations


class LiveIndexes:
    """The indexes of all users up to so many bytes; the one that was not asked for longest goes first."""

    def __init__(self, reader: RecallReader, bytes_max: int) -> None:
        self._reader, self._bytes_max = reader, bytes_max
        self._all: OrderedDict[tuple[str, str | None], LiveIndex] = OrderedDict()
        self._lock = RLock()

    def of(self, user_id: str, embedder: str | None, dimensions: int) -> LiveIndex:
        """The index of a user, which may still have to be read."""
        key = user_id, embedder
        with self._lock:
            if key not in self._all:
                self._all[key] = LiveIndex(self._reader, user_id, embedder, dimensions)
            self._all.move_to_end(key)
            return self._all[key]

    def evict(self, grown: int = 0) -> None:
        """Let go of the indexes that are too many, but not of the last one used, which grew by so much."""
        with self._lock:
            while len(self._all) > 1 and sum(each.size for each in self._all.values()) > self._bytes_max:
                self._all.popitem(last=False)
        if grown > _GROWN_MAX:
            _give_back_memory()


def _give_back_memory() -> None:
    """Give freed memory back to the system, where the C library would keep it: reading took much more."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


def _index_of(sections: Sequence[SectionColumns], dimensions: int) -> Index:
    groups = Groups()
    return Index.of(rows_of_sections(sections, groups.number_of, dimensions), groups)
