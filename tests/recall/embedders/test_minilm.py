from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from garden.home.settings import Recall
from garden.recall.embedders import EmbedderUnavailableError
from garden.recall.embedders.minilm import load_minilm
from garden.recall.embedders.names import configured_name

_WORDS = {"[PAD]": 0, "[UNK]": 1, "sea": 2, "boat": 3, "tax": 4}
_TABLE = np.array([[9, 9, 9], [0, 0, 1], [1, 0, 0], [0.6, 0.8, 0], [0, 0, -1]], np.float32)
_ALL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_model(folder: Path, inputs: tuple[str, ...] = _ALL_INPUTS) -> Path:
    """A model whose state at a token is the token's row of the table."""
    folder.mkdir(exist_ok=True)
    sizes = ["texts", "tokens"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, sizes) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*sizes, 3])],
        [numpy_helper.from_array(_TABLE, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    tokenizer = Tokenizer(WordLevel(_WORDS, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.parametrize("inputs", [_ALL_INPUTS, ("input_ids",)])
def test_a_text_is_the_mean_of_its_tokens_without_the_padding(
    tmp_path: Path, inputs: tuple[str, ...]
) -> None:
    embedder = load_minilm(write_model(tmp_path, inputs))
    rows = embedder.embed(["sea", "sea boat", " ", *["sea sea sea tax"] * 40])
    assert embedder.dimensions == 3
    assert rows[0] == pytest.approx([1, 0, 0])
    assert rows[1] == pytest.approx(np.array([0.8, 0.4, 0]) / np.hypot(0.8, 0.4))
    assert not rows[2].any()
    assert (rows[3:] == rows[3]).all()
    assert np.linalg.norm(rows[3]) == pytest.approx(1)


def test_a_model_with_an_unknown_input_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailableError, match="pixels"):
        load_minilm(write_model(tmp_path, ("input_ids", "pixels")))


def test_a_long_text_is_cut_at_the_models_length(tmp_path: Path) -> None:
    embedder = load_minilm(write_model(tmp_path))
    assert embedder.embed(["sea " * 256 + "tax " * 500])[0] == pytest.approx([1, 0, 0])


def test_another_model_has_another_name(tmp_path: Path) -> None:
    name = load_minilm(write_model(tmp_path)).name
    assert configured_name(Recall(embedder="minilm", model_folder=tmp_path)) == name
    assert configured_name(Recall(embedder="minilm", model_folder=tmp_path / "missing")) is None
    assert load_minilm(write_model(tmp_path)).name == name
    assert load_minilm(write_model(tmp_path, ("input_ids",))).name != name


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_damaged_or_missing_makes_it_unavailable(tmp_path: Path, damaged: str) -> None:
    (write_model(tmp_path) / damaged).write_bytes(b"nothing of the kind")
    for folder in (tmp_path, tmp_path / "missing", None):
        with pytest.raises(EmbedderUnavailableError) as refusal:
            load_minilm(folder)
        assert "GARDEN_RECALL_MODEL_FOLDER" in refusal.value.hint
