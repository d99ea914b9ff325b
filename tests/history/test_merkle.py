"""Trees in tiles: roots and proofs equal those computed from the definitions of RFC 6962."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from garden.history.merkle import consistency_proof, inclusion_proof, leaf_hash, root_from_proof
from garden.history.tiles import (
    Tiles,
    TilesDamagedError,
    read_entries,
    remove_outgrown,
    tile_path,
    tree_size_of,
    write_tiles,
)
from tests.history import rfc6962

# With steps that end within, at and past the end of a tile.
SIZES = (0, 1, 3, 255, 256, 257, 600, 1024, 1300)
LEAVES = [b"entry %d" % number for number in range(SIZES[-1])]


def grow(folder: Path) -> Iterator[Tiles]:
    for old, new in pairwise(SIZES):
        files = list(Tiles(folder, old).grown(LEAVES[old:new]))
        write_tiles(folder, files)
        remove_outgrown(folder, (path for path, _ in files))
        yield Tiles(folder, new)


def test_a_tree_that_grows_in_steps_has_the_roots_and_entries_of_its_leaves(folder: Path) -> None:
    for tiles in grow(folder):
        assert tiles.root() == rfc6962.root(LEAVES[: tiles.size])
        assert [tiles.entry(index) for index in range(tiles.size)] == LEAVES[: tiles.size]
    assert [tiles.root(size) for size in SIZES] == [rfc6962.root(LEAVES[:size]) for size in SIZES]


def test_a_full_tile_takes_the_place_of_its_partial_ones(folder: Path) -> None:
    *_, tiles = grow(folder)
    partial = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.p/*"))
    assert partial == [
        "tile/0/005.p/20",
        "tile/1/000.p/1", "tile/1/000.p/2", "tile/1/000.p/4", "tile/1/000.p/5",
        "tile/entries/005.p/20",
    ]  # fmt: skip
    older = Tiles(folder, 600)
    assert older.root() == rfc6962.root(LEAVES[:600])
    assert older.bundle(2) == LEAVES[512:600]
    with pytest.raises(TilesDamagedError, match="no tile 6"):
        tiles.hashes(0, 6)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), size=st.integers(1, 70))
def test_proofs_are_those_of_the_definition(data: st.DataObject, size: int) -> None:
    leaves = LEAVES[:size]
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))

    def subtree(level: int, at: int) -> bytes:
        return rfc6962.root(leaves[at << level : (at + 1) << level])

    proof = inclusion_proof(subtree, index, size)
    assert proof == rfc6962.path(index, leaves)
    assert consistency_proof(subtree, old, size) == rfc6962.consistency(old, leaves)
    leaf, root = leaf_hash(leaves[index]), rfc6962.root(leaves)
    assert root_from_proof(leaf, index, size, proof) == root
    other = data.draw(st.integers(0, size).filter(lambda number: number != index))
    assert root_from_proof(leaf, other, size, proof) != root
    assert root_from_proof(leaf, index, size, [*proof, root]) is None


def test_paths_are_written_in_groups_of_three_digits() -> None:
    assert tile_path(0, 1234067) == "tile/0/x001/x234/067"
    assert tile_path("entries", 5, 12) == "tile/entries/005.p/12"
    sizes = {"tile/0/000": 256, "tile/2/x001/000.p/3": 256003 << 16, "tile/entries/x001/000": 256256}
    assert {path: tree_size_of(path) for path in sizes} == sizes
    for path in (
        "checkpoint", "tile/64/000", "tile/00/000", "tile/0/0", "tile/0/x000/001", "tile/0/000.p/0",
        "tile/0/../000", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000\n", "/tile/0/000",
    ):  # fmt: skip
        assert tree_size_of(path) is None, path


def test_a_bundle_that_is_cut_off_is_refused() -> None:
    assert read_entries(b"\0\1a\0\0") == [b"a", b""]
    with pytest.raises(TilesDamagedError, match="cut off"):
        read_entries(b"\0\2a")
