"""What there is to say about the models on this machine: where each came from, whether it is the right file, how fast it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perdure.errors import ModelError, ModelTampered
from perdure.models.manifest import ModelSpec, known_models
from perdure.models.weights import UNPINNED, Places, find_weights
from perdure.ports.embedder import Embedder
from perdure.ports.reranker import Reranker
from perdure.ports.tagger import Tagger

VERIFIED, TAMPERED, MISSING = "verified", "tampered", "missing"
_QUESTION = "Where does Ann work now, and since when?"
_PASSAGES = (
    "Ann joined the observatory in March 2021 after two years at a school in Porto.",
    "Bob said that the garden needs water twice a week in summer, and once in spring.",
    "The train to Lisbon was late again, so Ann missed the first talk of the conference.",
    "Carla's brother repairs violins; he learnt it from his grandfather in Cremona.",
)


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model of the manifest on this machine; `hash_state` is verified, unpinned, tampered or missing."""

    spec: ModelSpec
    hash_state: str
    source: str = ""
    path: Path | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Speed:
    """A model's speed measured on the spot: the first call loads it."""

    load_ms: float
    single_ms: float
    per_second: float
    unit: str


def inspect_models(
    places: Places | None = None, specs: Sequence[ModelSpec] | None = None
) -> Iterator[ModelState]:
    """The state of each model; its files are read and hashed."""
    for spec in known_models() if specs is None else specs:
        yield inspect_model(spec, places)


def inspect_model(spec: ModelSpec, places: Places | None = None) -> ModelState:
    """Where a model's files are and whether they are the right ones."""
    try:
        weights = find_weights(spec, places)
    except ModelError as error:
        return ModelState(spec, MISSING, problem=str(error))
    try:
        weights.read_model()
        weights.read_tokenizer()
    except ModelTampered as error:
        return ModelState(spec, TAMPERED, weights.source, weights.model_path, str(error))
    state = UNPINNED if weights.check == UNPINNED else VERIFIED
    return ModelState(spec, state, weights.source, weights.model_path)


def measure_embedder(embedder: Embedder, rounds: int = 5) -> Speed:
    """Load time, milliseconds a query and texts a second."""
    load = _milliseconds(lambda: embedder.embed_query(_QUESTION))
    single = min(_milliseconds(lambda: embedder.embed_query(_QUESTION)) for _ in range(rounds))
    texts = [*_PASSAGES] * 4
    batch = min(_milliseconds(lambda: embedder.embed_passages(texts)) for _ in range(2))
    return Speed(load, single, len(texts) / batch * 1000.0, "texts")


def measure_reranker(reranker: Reranker, rounds: int = 5) -> Speed:
    """Load time, milliseconds a pair and pairs a second."""
    load = _milliseconds(lambda: reranker.score(_QUESTION, _PASSAGES[:1]))
    single = min(_milliseconds(lambda: reranker.score(_QUESTION, _PASSAGES[:1])) for _ in range(rounds))
    texts = [*_PASSAGES] * 4
    batch = min(_milliseconds(lambda: reranker.score(_QUESTION, texts)) for _ in range(2))
    return Speed(load, single, len(texts) / batch * 1000.0, "pairs")


def measure_tagger(tagger: Tagger, rounds: int = 5) -> Speed:
    """Load time, milliseconds a text and texts a second."""
    load = _milliseconds(lambda: tagger.tag(_PASSAGES[:1]))
    single = min(_milliseconds(lambda: tagger.tag(_PASSAGES[:1])) for _ in range(rounds))
    texts = [*_PASSAGES] * 8
    batch = min(_milliseconds(lambda: tagger.tag(texts)) for _ in range(2))
    return Speed(load, single, len(texts) / batch * 1000.0, "texts")


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000.0
