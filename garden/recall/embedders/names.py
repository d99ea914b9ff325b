"""The names of embedders, found without loading any."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from garden.home.settings import Recall

STATIC = "wordllama-l2-256/1"
_DEFAULT_URL = "https://api.openai.com/v1"


def configured_name(recall: Recall) -> str | None:
    """The name of the configured embedder; None if there is none, or no file of its model."""
    if recall.embedder == "openai":
        return endpoint_name(recall)
    if recall.embedder == "minilm":
        try:
            return _name_in(recall.model_folder) if recall.model_folder else None
        except OSError:
            return None
    return STATIC if recall.embedder == "static" else None


def endpoint_name(recall: Recall) -> str:
    """The name of a service's model."""
    return f"{recall.model}@{endpoint(recall)[1]}/{recall.dimensions}"


def endpoint(recall: Recall) -> tuple[str, str]:
    """The address of a service, and what of it may be shown."""
    url = (recall.base_url.get_secret_value() if recall.base_url else _DEFAULT_URL).rstrip("/")
    return url, url.partition("://")[2].rpartition("@")[2]


def model_files(folder: Path) -> tuple[bytes, bytes]:
    """The model in a folder, and its tokenizer."""
    return (folder / "model.onnx").read_bytes(), (folder / "tokenizer.json").read_bytes()


def model_name(model: bytes, tokenizer: bytes) -> str:
    """A hash of both files, so that each model has a name of its own."""
    return f"onnx-{sha256(model + tokenizer).hexdigest()[:12]}/1"


@cache
def _name_in(folder: Path) -> str:
    return model_name(*model_files(folder))
