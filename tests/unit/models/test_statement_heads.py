"""The heads that read slot and aspect: their file, and what they say of plain sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.changes.fit import load_sentences, training_sha256
from perdure.errors import ModelError
from perdure.models.manifest import find_model
from perdure.models.statement_heads import (
    BINS,
    HEADS,
    WEIGHTS,
    UseStatementClassifier,
    load_heads,
    save_heads,
    word_bins,
)
from perdure.models.use_embedder import MULTILINGUAL_EMBEDDER, UseEmbedder

needs_encoder = pytest.mark.skipif(not UseEmbedder().is_installed, reason="the encoder is not installed")


def test_the_weights_are_of_the_encoder_and_the_sentences_that_are_here() -> None:
    heads = load_heads()
    spec = find_model(MULTILINGUAL_EMBEDDER, "embedder")
    assert (heads.embedder, heads.embedder_sha256) == (spec.name, spec.sha256[spec.model_file])
    assert heads.training_sha256 == training_sha256(), "fit again: python -m bench.changes --write"


def test_the_weights_have_a_column_for_every_label_of_the_sentences() -> None:
    heads, sentences = load_heads(), load_sentences()
    for name in HEADS:
        head = getattr(heads, name)
        assert set(head.labels) == {getattr(sentence, name) for sentence in sentences}
        assert head.on_vector.shape == (512, len(head.labels))
        assert head.on_words.shape == (BINS, len(head.labels))


def test_the_file_is_small() -> None:
    assert WEIGHTS.stat().st_size < 700_000


def test_heads_survive_a_file(tmp_path: Path) -> None:
    path = tmp_path / "heads.npz"
    save_heads(load_heads(), path)
    assert np.array_equal(load_heads(path).slot.on_vector, load_heads().slot.on_vector)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "heads.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"heads\.npz"):
        load_heads(path)


def test_names_and_numbers_are_no_words_of_their_own() -> None:
    assert word_bins("I moved to Ghent in 2019") == word_bins("I moved to Porto in 2024")
    assert word_bins("I moved to Ghent") != word_bins("I would move to Ghent")


@needs_encoder
@pytest.mark.parametrize(
    ("text", "slot", "aspect"),
    [
        ("I live in Ghent.", "home", "holds"),
        ("Ich arbeite nicht mehr bei Bosch.", "employer", "ends"),
        ("Thanks, that was a great evening!", "none", "none"),
    ],
)
def test_plain_sentences_are_read(text: str, slot: str, aspect: str) -> None:
    read = UseStatementClassifier(UseEmbedder()).classify([text])[0]
    assert max(read.slots, key=read.slots.__getitem__) == slot
    assert max(read.aspects, key=read.aspects.__getitem__) == aspect
    assert sum(read.slots.values()) == pytest.approx(1.0, abs=1e-4)


@needs_encoder
def test_a_text_reads_alike_beside_others() -> None:
    alone = UseStatementClassifier(UseEmbedder()).classify(["I live in Ghent."])[0]
    beside = UseStatementClassifier(UseEmbedder()).classify(["We have a dog.", "I live in Ghent."])[1]
    assert alone == beside
