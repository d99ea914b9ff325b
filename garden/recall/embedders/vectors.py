"""Vectors: texts embedded batch by batch, and rows at unit length or as bytes."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from garden.recall.embedders import Embedder, TextsRefusedError

# The mean of a longer text says little, and the time for one text stays bounded.
TEXT_CHARACTERS = 4000
BATCH_TEXTS = 64
_PLAIN_TEXT = "A quiet day by the sea."
_TINY = np.float32(1e-30)


def embed_each(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed the texts; one that is refused gets zeros, so that it holds up no other."""
    try:
        return embedder.embed(texts)
    except TextsRefusedError:
        half = len(texts) // 2
        if half:
            return np.concatenate([embed_each(embedder, part) for part in (texts[:half], texts[half:])])
        # If even this is refused, the text is not to blame.
        embedder.embed([_PLAIN_TEXT])
        return np.zeros((1, embedder.dimensions), np.float32)


def embed_batches(
    texts: Sequence[str], embed: Callable[[list[str]], NDArray[np.float32]], *, size: int, dimensions: int
) -> NDArray[np.float32]:
    """Embed the texts that are not blank, so many at once."""
    vectors = np.zeros((len(texts), dimensions), np.float32)
    rows = [row for row, text in enumerate(texts) if text.strip()]
    for batch in (rows[start : start + size] for start in range(0, len(rows), size)):
        vectors[batch] = embed([texts[row][:TEXT_CHARACTERS] for row in batch])
    return unit_rows(vectors)


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows at unit length; zeros stay zeros."""
    units: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY)
    return units


def quantize(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """The rows as bytes, each scaled so that its largest magnitude is 127."""
    scaled: NDArray[np.float32] = vectors / np.abs(vectors).max(axis=1, keepdims=True, initial=_TINY)
    return np.rint(scaled * 127).astype(np.int8)
