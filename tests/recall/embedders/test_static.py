import importlib.util
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from garden.recall.embedders import Embedder, EmbedderUnavailableError
from garden.recall.embedders.static import load_static

_SAMPLES = Path(__file__).parents[3] / "sample_users"
_ODD = ("Ærøskøbing — 日本 😀 “quoted”", "aaaaaaaaaaaaaaaa lllublub", "Жизнь\tи  судьба", "(3.5%)/year")


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_static()


def data_folder() -> Path:
    spec = importlib.util.find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def test_each_text_is_the_mean_of_the_pieces_that_the_models_own_tokenizer_finds(embedder: Embedder) -> None:
    tokenizer = Tokenizer.from_file(str(data_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    raw = (data_folder() / "weights" / "l2_supercat_256.safetensors").read_bytes()
    table = np.frombuffer(raw, "<f2", offset=8 + int.from_bytes(raw[:8], "little")).reshape(32000, 256)
    lines = chain.from_iterable(page.read_text("utf-8").splitlines() for page in _SAMPLES.rglob("*.md"))
    texts = [text for text in (*lines, *_ODD) if text.strip() and max(map(len, text.split())) <= 64]
    expected = []
    for text in texts:
        ids = tokenizer.encode(" ".join(text.lower().split()), add_special_tokens=False).ids
        words = [each for each in ids if each >= 259 and tokenizer.id_to_token(each) != "▁"]
        mean = table[words].astype(np.float64).mean(axis=0)
        expected.append(mean / np.linalg.norm(mean))
    assert len(texts) > 100
    assert np.abs(embedder.embed(texts) - np.array(expected)).max() < 1e-5


def test_near_meanings_are_nearer_than_far_ones(embedder: Embedder) -> None:
    texts = ["She loves sailing on the Baltic", "Her hobby is boating at sea", "The invoice is due on Friday"]
    text, near, far = embedder.embed(texts)
    assert text @ near > text @ far + 0.2


def test_rows_have_unit_length_and_texts_without_a_known_word_are_zeros(embedder: Embedder) -> None:
    rows = embedder.embed(["Baltic", "", " \n", "\U000e0100𓀀"])
    assert rows.shape == (4, embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0, 0])
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_unknown_characters_and_what_follows_the_first_4000_move_no_text(embedder: Embedder) -> None:
    one, two, three = embedder.embed(["sailing 𓀀", "Sailing", "sailing " * 500 + "tax " * 100_000])
    assert one == pytest.approx(two)
    assert two == pytest.approx(three, abs=1e-5)


@pytest.mark.parametrize("is_table_cut", [True, False])
def test_files_that_were_cut_off_make_it_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_table_cut: bool
) -> None:
    names = ("tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors")
    for at, name in enumerate(names):
        copy = tmp_path / "wordllama" / name
        copy.parent.mkdir(parents=True)
        data = (data_folder() / name).read_bytes()
        copy.write_bytes(data[: len(data) // 3] if at == is_table_cut else data)
    (tmp_path / "wordllama" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbedderUnavailableError, match="'wordllama' can't be used"):
        load_static()
