"""Embedders: they turn texts into vectors whose cosine says how near two meanings are."""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from garden.grammar.errors import GardenError
from garden.home.settings import Recall, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbedderUnavailableError(GardenError):
    """There are no embeddings; recall goes by the words alone."""

    code = "unavailable"


class TextsRefusedError(EmbedderUnavailableError):
    """The embedder takes none of these texts, perhaps because of one of them."""


class Embedder(Protocol):
    """Turns texts into vectors; those of two names are never compared."""

    name: str
    dimensions: int
    # Otherwise it asks over the network, so never call it inside a transaction or a write.
    is_local: bool

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
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
