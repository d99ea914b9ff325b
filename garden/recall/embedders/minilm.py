"""Sentence embeddings by onnxruntime: all-MiniLM-L6-v2, or a model of the same form, from a folder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from garden.recall.embedders import EmbedderUnavailableError
from garden.recall.embedders.names import model_files, model_name
from garden.recall.embedders.vectors import embed_batches

_TOKENS = 256
_BATCH_TEXTS = 32
_HINT = "Set GARDEN_RECALL_MODEL_FOLDER to a folder with model.onnx and tokenizer.json."


class MiniLmEmbedder:
    """Runs a transformer, and takes the mean of its states at the tokens of a text."""

    is_local = True

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer, name: str) -> None:
        tokenizer.enable_truncation(_TOKENS)
        tokenizer.enable_padding()
        self.name = name
        self.dimensions = int(session.get_outputs()[0].shape[2])
        self._session, self._tokenizer = session, tokenizer
        self._inputs = [each.name for each in session.get_inputs()]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, of unit length; zeros for a blank text."""
        return embed_batches(texts, self._means, size=_BATCH_TEXTS, dimensions=self.dimensions)

    def _means(self, texts: list[str]) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], np.int64)
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: feeds[name] for name in self._inputs})[0]
        return np.average(states, axis=1, weights=np.broadcast_to(mask[:, :, None], states.shape))


def load_minilm(folder: Path | None) -> MiniLmEmbedder:
    """Load `model.onnx` and `tokenizer.json` from a folder."""
    if folder is None:
        raise EmbedderUnavailableError("No folder with a model is set.", hint=_HINT)
    try:
        model, words = model_files(folder)
        session, tokenizer = InferenceSession(model), Tokenizer.from_buffer(words)
        embedder = MiniLmEmbedder(session, tokenizer, model_name(model, words))
        embedder.embed(["A model of another form fails here, not in an answer."])
    except Exception as error:  # noqa: BLE001 - neither library has a narrower class for a bad file
        raise EmbedderUnavailableError(f"No model loads from {folder}: {error}.", hint=_HINT) from None
    return embedder
