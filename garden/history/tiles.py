"""The files of the transparency log, in the layout of C2SP's tlog-tiles: hash tiles, entries, checkpoint.

A tile holds up to 256 hashes of one level; a full one is one hash in the level above. Files are named by
their content's place and width, so a file that a signed checkpoint needs is never changed.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from garden.grammar.errors import GardenError
from garden.history.merkle import HASH_BYTES, complete_root, leaf_hash, tree_root
from garden.home.state_files import make_private_folder, remove_strays, write_private_files

WIDTH = 256
ENTRIES = "entries"
CHECKPOINT = "checkpoint"
_TILES_KEPT = 64
_PATH = re.compile(
    r"tile/(entries|[0-9]|[1-5][0-9]|6[0-3])/(000|(?!x000)(?:x[0-9]{3}/){0,5}[0-9]{3})"
    r"(?:\.p/([1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5]))?"
)


class TilesDamagedError(GardenError):
    """A file of the log is missing or has another length."""

    code = "unavailable"


def tree_size_of(path: str) -> int | None:
    """The size of the smallest tree that has this tile or bundle; None for a path in another form."""
    match = _PATH.fullmatch(path)
    if match is None:
        return None
    level = 0 if match[1] == ENTRIES else int(match[1])
    index, width = int(re.sub("[x/]", "", match[2])), int(match[3] or WIDTH)
    return (index * WIDTH + width) << 8 * level


def tile_path(level: int | str, index: int, width: int = WIDTH) -> str:
    """The path of a tile of a level, or of a bundle of `ENTRIES`."""
    digits = f"{index:03d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    *upper, last = (digits[at : at + 3] for at in range(0, len(digits), 3))
    name = "/".join([*(f"x{each}" for each in upper), last])
    return f"tile/{level}/{name}" + ("" if width == WIDTH else f".p/{width}")


def write_entries(entries: Sequence[bytes]) -> bytes:
    """A bundle of entries, each after its length."""
    return b"".join(len(each).to_bytes(2, "big") + each for each in entries)


def read_entries(bundle: bytes) -> list[bytes]:
    """The entries of a bundle."""
    entries, at = [], 0
    while at < len(bundle):
        end = at + 2 + int.from_bytes(bundle[at : at + 2], "big")
        entries.append(bundle[at + 2 : end])
        at = end
    if at != len(bundle):
        raise TilesDamagedError("A bundle of entries is cut off.", hint=_HINT)
    return entries


class Tiles:
    """The tree of a log of a known size, read from its files; a tile that was read is kept for a while."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder
        self.size = size
        self.hashes = lru_cache(_TILES_KEPT)(self._read_hashes)
        self.bundle = lru_cache(_TILES_KEPT)(self._read_bundle)

    def subtree(self, level: int, index: int) -> bytes:
        """The hash of a complete subtree, for the functions of `merkle`."""
        count = 1 << level % 8
        tile, first = divmod(index * count, WIDTH)
        return complete_root(self.hashes(level // 8, tile)[first : first + count])

    def root(self, size: int | None = None) -> bytes:
        """The root of the first `size` leaves, by default of all."""
        return tree_root(self.subtree, self.size if size is None else size)

    def entry(self, index: int) -> bytes:
        """One entry."""
        return self.bundle(index // WIDTH)[index % WIDTH]

    def grown(self, entries: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
        """The files that these further entries add, each with its path; the files of a level in order."""
        first, partial = divmod(self.size, WIDTH)
        bundles = [*(self.bundle(first) if partial else ()), *entries]
        for index, bundle in _cut(bundles, first):
            yield tile_path(ENTRIES, index, len(bundle)), write_entries(bundle)
        level, old, hashes = 0, self.size, [leaf_hash(each) for each in entries]
        while hashes:
            first, partial = divmod(old, WIDTH)
            tiles = list(_cut([*(self.hashes(level, first) if partial else ()), *hashes], first))
            for index, tile in tiles:
                yield tile_path(level, index, len(tile)), b"".join(tile)
            hashes = [complete_root(tile) for _, tile in tiles if len(tile) == WIDTH]
            level, old = level + 1, first

    def _read_hashes(self, level: int, index: int) -> list[bytes]:
        width = self._width(self.size >> 8 * level, index)
        found, data = self._read(level, index, width)
        if len(data) != found * HASH_BYTES:
            raise TilesDamagedError(f"{tile_path(level, index, found)} has another length.", hint=_HINT)
        return [data[at : at + HASH_BYTES] for at in range(0, width * HASH_BYTES, HASH_BYTES)]

    def _read_bundle(self, index: int) -> list[bytes]:
        width = self._width(self.size, index)
        found, data = self._read(ENTRIES, index, width)
        entries = read_entries(data)
        if len(entries) != found:
            raise TilesDamagedError(f"{tile_path(ENTRIES, index, found)} has another length.", hint=_HINT)
        return entries[:width]

    def _width(self, count: int, index: int) -> int:
        width = min(WIDTH, count - index * WIDTH)
        if width < 1:
            raise TilesDamagedError(f"The log has {self.size} entries and no tile {index}.", hint=_HINT)
        return width

    def _read(self, level: int | str, index: int, width: int) -> tuple[int, bytes]:
        """A tile and its width; the full one where a newer tree has outgrown the partial one."""
        try:
            return width, (self._folder / tile_path(level, index, width)).read_bytes()
        except OSError as error:
            reason = error.strerror
        try:
            return WIDTH, (self._folder / tile_path(level, index)).read_bytes()
        except OSError:
            path = tile_path(level, index, width)
            raise TilesDamagedError(f".garden/tlog/{path}: {reason}.", hint=_HINT) from None


_HINT = "Put .garden/tlog back from a backup, or remove it: the next checkpoint makes it anew."


def write_tiles(folder: Path, tiles: Iterable[tuple[str, bytes]]) -> None:
    """Write files of the log durably, and remove strays beside them; the caller holds the lock of the log."""
    contents = {folder / path: content for path, content in tiles}
    for parent in {path.parent for path in contents}:
        _make_folder(parent)
        remove_strays(parent)
    write_private_files(contents)


def remove_outgrown(folder: Path, paths: Iterable[str]) -> None:
    """Remove the partial tiles of places that have full ones; no newer tree needs them."""
    for path in paths:
        if ".p/" not in path:
            shutil.rmtree(folder / f"{path}.p", ignore_errors=True)


def _make_folder(path: Path) -> None:
    if not path.is_dir():
        _make_folder(path.parent)
        make_private_folder(path)


def _cut(items: Sequence[bytes], first: int) -> Iterator[tuple[int, Sequence[bytes]]]:
    for at in range(0, len(items), WIDTH):
        yield first + at // WIDTH, items[at : at + WIDTH]
