"""Embedders: they turn texts into vectors whose cosine says how near two meanings are."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from garden.grammar.errors import GardenError
from garden.home.settings import Recall, Settings

# The mean of a longer text says little, and the time for one text stays bounded.
TEXT_CHARACTERS = 4000
_TINY = np.float32(1e-30)


class EmbedderUnavailableError(GardenError):
    """There are no embeddings; recall goes by the words alone."""

    code = "unavailable"


class Embedder(Protocol):
    """Turns texts into vectors; those of two names are never compared."""

    name: str
    dimensions: int
    # Otherwise it asks over the network, so never call it inside a transaction or a write.
    is_local: bool

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, of unit length; zeros for a text without a known word."""
        ...


_LOADED: dict[Recall, Embedder] = {}
_LOCK = Lock()


def load_embedder(settings: Settings) -> Embedder:
    """Load the configured embedder, or return the one that this process has loaded."""
    recall = settings.recall
    with _LOCK:
        try:
            if recall not in _LOADED:
                _LOADED[recall] = _load(recall)
            return _LOADED[recall]
        except ImportError as error:
            raise EmbedderUnavailableError(
                f"The embedder '{recall.embedder}' needs the package '{error.name}'.",
                hint=f"Install memory-garden[{recall.embedder}], or set GARDEN_RECALL_EMBEDDER.",
            ) from None


def _load(recall: Recall) -> Embedder:
    if recall.embedder == "static":
        from garden.recall.embedders.static import load_static

        return load_static()
    if recall.embedder == "minilm":
        from garden.recall.embedders.minilm import load_minilm

        return load_minilm(recall.model_folder)
    if recall.embedder == "openai":
        from garden.recall.embedders.endpoint import EndpointEmbedder

        return EndpointEmbedder(recall)
    raise EmbedderUnavailableError("Embeddings are switched off.", hint="Set GARDEN_RECALL_EMBEDDER.")


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
