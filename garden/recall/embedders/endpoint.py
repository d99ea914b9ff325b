"""Embeddings from a service that speaks OpenAI's protocol; it receives the texts."""

import time
from collections.abc import Callable, Sequence

import httpx2
import numpy as np
from numpy.typing import NDArray

from garden.home.settings import Recall
from garden.recall.embedders import EmbedderUnavailableError, TextsRefusedError
from garden.recall.embedders.names import endpoint, endpoint_name
from garden.recall.embedders.vectors import BATCH_TEXTS, embed_batches

_TIMEOUT = httpx2.Timeout(10, connect=3)
_PAUSES_SECONDS = (0.5, 2.0, 8.0)
# A text alone is a question, and its answer goes by words rather than wait.
_QUESTION_TIMEOUT = httpx2.Timeout(3, connect=1)
# A service that asks for more has no capacity left; the next round of work tries again.
_PAUSE_SECONDS_MAX = 20.0
# Bad request, too large, can't be processed: it may be about the texts.
_REFUSALS = ("HTTP 400", "HTTP 413", "HTTP 422")


class EndpointEmbedder:
    """Asks the service in batches, and again after failures that pass."""

    is_local = False

    def __init__(self, recall: Recall, sleep: Callable[[float], None] = time.sleep) -> None:
        base_url, self._place = endpoint(recall)
        self._url = f"{base_url}/embeddings"
        self._request = {"model": recall.model, "encoding_format": "float"}
        self.dimensions = recall.dimensions
        self.name = endpoint_name(recall)
        key = recall.api_key and recall.api_key.get_secret_value().strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(headers=headers)
        self._sleep = sleep

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, of unit length; zeros for a blank text."""
        return embed_batches(texts, self._ask, size=BATCH_TEXTS, dimensions=self.dimensions)

    def _ask(self, texts: list[str]) -> NDArray[np.float32]:
        pauses, timeout = (_PAUSES_SECONDS, _TIMEOUT) if len(texts) > 1 else ((), _QUESTION_TIMEOUT)
        for pause in (*pauses, None):
            try:
                body = {**self._request, "input": texts}
                answer = self._client.post(self._url, json=body, timeout=timeout)
            except (httpx2.RequestError, httpx2.InvalidURL) as error:
                problem, seconds = type(error).__name__, 0.0
            else:
                if answer.is_success:
                    return self._vectors(answer, len(texts))
                asked = answer.headers.get("Retry-After", "")
                problem, seconds = f"HTTP {answer.status_code}", float(asked) if asked.isdecimal() else 0.0
                if answer.status_code not in (408, 429) and answer.status_code < 500:
                    break
            if pause is None or seconds > _PAUSE_SECONDS_MAX:
                break
            self._sleep(max(pause, seconds))
        raise self._error(problem)

    def _vectors(self, answer: httpx2.Response, count: int) -> NDArray[np.float32]:
        try:
            rows = {each["index"]: each["embedding"] for each in answer.json()["data"]}
            vectors = np.array([rows.pop(at) for at in range(count)], np.float32)
        except (ValueError, KeyError, TypeError):
            raise self._error("no vectors in the answer") from None
        if rows or vectors.shape != (count, self.dimensions) or not np.isfinite(vectors).all():
            raise self._error(f"{len(rows) + count} vectors of the form {vectors.shape[1:]}")
        return vectors

    def _error(self, problem: str) -> EmbedderUnavailableError:
        """The service's own words stay out of it: they may repeat the key or the texts."""
        kind = TextsRefusedError if problem in _REFUSALS else EmbedderUnavailableError
        return kind(
            f"The embeddings service {self._place} failed: {problem}.",
            hint="Check GARDEN_RECALL_BASE_URL, _API_KEY, _MODEL and _DIMENSIONS, or wait.",
        )
