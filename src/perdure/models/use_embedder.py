"""The multilingual embedder: Google's Universal Sentence Encoder behind the `Embedder` port."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.errors import ModelError
from perdure.models.manifest import ModelSpec, find_model
from perdure.models.onnx_runtime import encode
from perdure.models.run_limiter import ModelRunLimiter, shared_run_limiter
from perdure.models.sentencepiece import unigram_tokenizer
from perdure.models.use_encoder import UseEncoder
from perdure.models.weights import Places, Weights, find_weights
from perdure.ports.embedder import Matrix, Vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MULTILINGUAL_EMBEDDER = "use-multilingual"


class Loaded(NamedTuple):
    """Tokenizer and encoder of one file of weights."""

    tokenizer: Tokenizer
    encoder: UseEncoder


_loaded: dict[str, Loaded] = {}
_lock = threading.Lock()


class UseEmbedder:
    """A sentence encoder that knows no prefixes: questions and passages are embedded alike.

    A text longer than the window is represented by its beginning.
    """

    def __init__(
        self,
        model: str | ModelSpec = MULTILINGUAL_EMBEDDER,
        places: Places | None = None,
        *,
        limiter: ModelRunLimiter | None = None,
    ) -> None:
        self.spec = find_model(model, "embedder") if isinstance(model, str) else model
        self._places = places
        self._limiter = limiter or shared_run_limiter()

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel(self.spec.name, self.spec.dimensions)

    @cached_property
    def weights(self) -> Weights:
        return find_weights(self.spec, self._places)

    def embed_query(self, text: str) -> Vector:
        return self._limiter.run(self._embed, text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.spec.dimensions), np.float32)
        return np.stack(self._limiter.map(self._embed, texts))

    def _embed(self, text: str) -> Vector:
        tokenizer, encoder = self._loaded
        return encoder.encode(encode(tokenizer, text, self.spec.max_tokens).ids)

    @cached_property
    def _loaded(self) -> Loaded:
        key = str(self.weights.model_path.resolve())
        with _lock:
            if key not in _loaded:
                _loaded[key] = self._load()
            return _loaded[key]

    def _load(self) -> Loaded:
        weights = self.weights
        content, vocabulary = weights.read_model(), weights.read_tokenizer()
        try:
            loaded = Loaded(unigram_tokenizer(vocabulary), UseEncoder(content))
        except ValueError as error:
            raise ModelError(
                f"model {self.spec.name} from {weights.source} cannot be loaded: {error}"
            ) from error
        if loaded.encoder.dimensions != self.spec.dimensions:
            raise ModelError(
                f"model {self.spec.name} gives {loaded.encoder.dimensions} dimensions, the manifest says "
                f"{self.spec.dimensions}"
            )
        if loaded.encoder.vocabulary < loaded.tokenizer.get_vocab_size():
            raise ModelError(f"model {self.spec.name}: weights and tokenizer are not of one model")
        return loaded
