"""What every embedder, reranker, tagger and token counter must hold to, whichever model is behind it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from perdure.errors import ModelMissing
from perdure.models.hashing import HashingEmbedder
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.models.providers import OllamaEmbedder, OpenAIEmbedder
from perdure.models.reader import OnnxReader, ReaderReranker
from perdure.models.spacy_tagger import choose_tagger
from perdure.models.tokens import token_counter
from perdure.models.use_embedder import UseEmbedder
from perdure.ports.embedder import Embedder
from perdure.ports.reranker import Reranker
from perdure.ports.tagger import Tagger
from perdure.ports.tokens import Tokens
from tests.models.provider_server import Provider, running

TEXTS = [
    "Ann works at the observatory in Porto.",
    "",
    "Carla repairs violins and cellos in her workshop near the harbour.",
    "😀",
    "An odd \ud800 surrogate, a NUL \x00 and a long line " + "of words " * 400,
    "今日は雨です。",
]
ODD = [*TEXTS, "x" * 200_000, "\n\n- milk\n- call Anna\n\n```\ncode = 1\n```", "   ", "a\r\nb. c!d? e…"]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running() as found:
        yield found


def multilingual() -> UseEmbedder:
    embedder = UseEmbedder()
    try:
        embedder.weights  # noqa: B018  # looks for the files
    except ModelMissing:
        pytest.skip("needs perdure[multilingual]")
    return embedder


@pytest.fixture(params=["hashing", "e5", "use", "openai", "ollama"])
def embedder(request: pytest.FixtureRequest, provider: Provider) -> Embedder:
    match request.param:
        case "hashing":
            return HashingEmbedder()
        case "e5":
            return OnnxEmbedder()
        case "use":
            return multilingual()
        case "openai":
            return OpenAIEmbedder(f"{provider.url}/v1", "m")
        case _:
            return OllamaEmbedder(provider.url, "m")


@pytest.fixture
def reranker() -> Reranker:
    return ReaderReranker(OnnxReader())


@pytest.fixture(params=["rules", "spacy"])
def tagger(request: pytest.FixtureRequest) -> Tagger:
    return choose_tagger(request.param)


@pytest.fixture(params=["cl100k", "o200k", "approximate"])
def tokens(request: pytest.FixtureRequest) -> Tokens:
    return token_counter(request.param)


def test_vectors_are_unit_rows_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.model.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for row, text in zip(vectors, TEXTS, strict=True):
        assert np.allclose(embedder.embed_passages([text])[0], row, atol=1e-6)
    assert embedder.embed_passages([]).shape == (0, embedder.model.dimensions)


def test_a_query_has_the_same_vector_on_every_call(embedder: Embedder) -> None:
    first = embedder.embed_query("Where does Ann work?")
    embedder.embed_passages(TEXTS)
    assert first.dtype == np.float32
    assert first.shape == (embedder.model.dimensions,)
    assert np.array_equal(first, embedder.embed_query("Where does Ann work?"))
    assert np.linalg.norm(first) == pytest.approx(1.0, abs=1e-5)


def test_scores_are_finite_and_in_the_order_of_the_passages(reranker: Reranker) -> None:
    logits = reranker.score("Where does Ann work?", TEXTS)
    assert logits.dtype == np.float32
    assert logits.shape == (len(TEXTS),)
    assert np.isfinite(logits).all()
    assert int(logits.argmax()) == 0
    assert np.allclose(reranker.score("Where does Ann work?", TEXTS[::-1]), logits[::-1], atol=1e-5)
    assert reranker.score("x", []).shape == (0,)
    assert np.isfinite(reranker.score("", ["", "x"])).all()
    assert reranker.name


def test_offsets_are_right_for_any_text(tagger: Tagger) -> None:
    clean = [text.replace("\ud800", "\ufffd") for text in ODD]
    for text, mentions in zip(clean, tagger.tag(ODD, ["Anna", "Ann"]), strict=True):
        assert [mention.start for mention in mentions] == sorted(mention.start for mention in mentions)
        assert all(text[mention.start : mention.end] == mention.text for mention in mentions)


def test_names_and_known_names(tagger: Tagger) -> None:
    (mentions,) = tagger.tag(["Ann moved to Porto. she met carla there."], ["Carla", "Ann"])
    found = {mention.text: mention.type for mention in mentions}
    assert found == {"Ann": "person", "Porto": "place", "carla": "person"}
    assert tagger.tag([]) == []


def test_dates_and_numbers_are_no_mentions(tagger: Tagger) -> None:
    (mentions,) = tagger.tag(["On Monday, 3 May 2021 at 5 p.m. we paid 20 euros for two tickets in July."])
    assert mentions == []
