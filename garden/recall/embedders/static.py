"""Static embeddings: the mean of one vector for each piece of a word, from the wheel of wordllama."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from garden.recall.embedders import EmbedderUnavailableError, names
from garden.recall.embedders.vectors import TEXT_CHARACTERS, unit_rows

_SHAPE = (32000, 256)
_WORD_START = "▁"
# Below are marks and single bytes: the spelling of an unknown character says nothing about its meaning.
_FIRST_PIECE = 259
# Merging is quadratic, and a sentence without spaces would be one word.
_WORD = re.compile(r"[^\s▁]{1,64}")


class StaticEmbedder:
    """Looks up the pieces of each word; no model runs."""

    name = names.STATIC
    dimensions = _SHAPE[1]
    is_local = True

    def __init__(self, pieces: Mapping[str, int], table: NDArray[np.float16]) -> None:
        self._pieces, self._table = pieces, table
        self._cached_ids = lru_cache(20_000)(self._ids)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, of unit length; zeros for a text without a known word."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            # In capitals a word has other pieces: without `lower`, questions find a quarter less.
            words = _WORD.findall(text[:TEXT_CHARACTERS].lower())
            if ids := [each for word in words for each in self._cached_ids(word)]:
                vectors[row] = self._table[ids].mean(axis=0, dtype=np.float32)
        return unit_rows(vectors)

    def _ids(self, word: str) -> tuple[int, ...]:
        """Merge neighbours as long as they form a piece, the one learned first before all others."""
        known = self._pieces
        units = list(_WORD_START + word)
        while merges := [
            (known[left + right], at)
            for at, (left, right) in enumerate(pairwise(units))
            if left + right in known
        ]:
            _, at = min(merges)
            units[at : at + 2] = [units[at] + units[at + 1]]
        ids = (known.get(unit, 0) for unit in units if unit != _WORD_START)
        return tuple(each for each in ids if each >= _FIRST_PIECE)


def load_static() -> StaticEmbedder:
    """Open the two files; the table is mapped into memory, so only the rows in use are read."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(name="wordllama")
    folder = Path(spec.submodule_search_locations[0])
    try:
        text = (folder / "tokenizers" / "l2_supercat_tokenizer_config.json").read_text("utf-8")
        # The list of merges in the rest of the file says nothing that the pieces' numbers don't.
        pieces, _ = json.JSONDecoder().raw_decode(text, text.index("{", text.index('"vocab":')))
        weights = folder / "weights" / "l2_supercat_256.safetensors"
        table_bytes = 2 * _SHAPE[0] * _SHAPE[1]
        table = np.memmap(weights, "<f2", "r", weights.stat().st_size - table_bytes, _SHAPE)
    except (OSError, ValueError, OverflowError) as error:
        raise EmbedderUnavailableError(
            f"The files of the package 'wordllama' can't be used: {error}.", hint="Install it again."
        ) from None
    return StaticEmbedder(pieces, table)
