import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from garden.home.settings import Recall, Settings
from garden.recall.embedders import EmbedderUnavailableError, load_embedder
from garden.recall.embedders.names import configured_name
from garden.recall.embedders.vectors import quantize, unit_rows

_HEAVY = """
import sys
from garden.home.settings import Settings
from garden.recall.embedders import load_embedder
heavy = {"httpx2", "onnxruntime", "tokenizers", "wordllama"}
assert not heavy & set(sys.modules), "importing"
assert load_embedder(Settings()).embed(["sailing"]).any()
assert not heavy & set(sys.modules), "loading the default"
"""


def test_neither_importing_nor_the_default_loads_another_embedders_packages() -> None:
    subprocess.run([sys.executable, "-c", _HEAVY], check=True)


def test_threads_that_load_at_once_share_one_embedder() -> None:
    with ThreadPoolExecutor(8) as threads:
        own = Settings(recall=Recall(model="of this test alone"))
        found = list(threads.map(lambda _: load_embedder(own), range(32)))
    assert all(each is found[0] for each in found)


def test_other_settings_load_another_embedder() -> None:
    found = [load_embedder(Settings(recall=Recall(embedder="openai", model=each))) for each in ("a", "b")]
    assert load_embedder(Settings()).name == configured_name(Recall())
    assert [each.name for each in found] == ["a@api.openai.com/v1/1536", "b@api.openai.com/v1/1536"]
    assert not found[0].is_local


def test_embeddings_that_are_switched_off_are_unavailable() -> None:
    with pytest.raises(EmbedderUnavailableError, match="switched off") as refusal:
        load_embedder(Settings(recall=Recall(embedder="none")))
    assert (refusal.value.code, refusal.value.hint) == ("unavailable", "Set GARDEN_RECALL_EMBEDDER.")


def test_a_package_that_is_missing_is_named_with_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "garden.recall.embedders.minilm", raising=False)
    with pytest.raises(EmbedderUnavailableError, match="'minilm' needs the package 'onnxruntime'") as refusal:
        load_embedder(Settings(recall=Recall(embedder="minilm")))
    assert "memory-garden[minilm]" in refusal.value.hint


def test_bytes_keep_the_cosine_of_any_two_rows() -> None:
    rows = np.random.default_rng(7).standard_normal((200, 256)).astype(np.float32)
    small = quantize(rows * np.logspace(-6, 6, 200, dtype=np.float32)[:, None])
    assert small.dtype == np.int8
    assert (np.abs(small.astype(int)).max(axis=1) == 127).all()
    wide, before = unit_rows(small.astype(np.float32)), unit_rows(rows)
    assert np.abs(wide @ wide.T - before @ before.T).max() < 0.0035
    assert not quantize(np.zeros((2, 3), np.float32)).any()
    assert quantize(np.zeros((0, 3), np.float32)).shape == (0, 3)
