"""Google's Universal Sentence Encoder Multilingual (version 3, the convolutional one), run by numpy.

Each token's embedding gets what three convolutions see around it (2, 3 and 5 tokens); the sum over the tokens goes through a small
residual network (Yang et al. 2019, Multilingual Universal Sentence Encoder for Semantic Retrieval, arXiv:1907.04307).
Embeddings stay at one byte per axis in memory (65 MB instead of 262). All else is float32, and texts are run one by one: a vector
depends on nothing but its text.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from perdure.models.blas import Factor
from perdure.models.onnx_runtime import Ids
from perdure.ports.embedder import Matrix, Vector

Archive = Mapping[str, NDArray[Any]]

_EMBEDDING_BLOCKS = 17
"""Embeddings are stored in blocks with a scale each; token i stands in block i mod 17."""
_ORDERS = (2, 3, 5)
"""Widths of the convolutions, in tokens."""


class LayerNorm:
    """Rows with mean 0 and variance 1, then scaled and shifted."""

    def __init__(self, gain: Vector, shift: Vector, epsilon: float) -> None:
        self._gain, self._shift, self._epsilon = gain, shift, epsilon

    def __call__(self, rows: Matrix) -> Matrix:
        """Normalise each row over its columns."""
        centred = rows - rows.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        return np.asarray(centred / np.sqrt(variance + self._epsilon) * self._gain + self._shift, np.float32)


class Convolution:
    """A residual convolution over each token and its neighbours."""

    def __init__(self, order: int, weights: Matrix, bias: Vector) -> None:
        self._order, self._weights, self._bias = order, Factor(weights), bias

    def __call__(self, rows: Matrix) -> Matrix:
        """Return rows + relu(neighbourhoods x weights + bias), (tokens, channels)."""
        return rows + relu(self._weights.after(neighbourhoods(rows, self._order)) + self._bias)


class Branch:
    """What one width of convolution sees: a projection of the embeddings, normalised and convolved twice."""

    def __init__(self, archive: Archive, order: int, epsilon: float) -> None:
        self._projection, self._bias = Factor(archive[f"proj{order}"]), archive[f"proj_b{order}"]
        self._norm = LayerNorm(archive[f"ln_g{order}"], archive[f"ln_b{order}"], epsilon)
        self._first, self._second = (
            Convolution(order, archive[f"w{layer}_{order}"], archive[f"b{layer}_{order}"]) for layer in (1, 2)
        )

    def __call__(self, embeddings: Matrix) -> Matrix:
        """Return the view of each token, (tokens, 256)."""
        return self._second(self._first(self._norm(self._projection.after(embeddings) + self._bias)))


class UseEncoder:
    """The encoder's weights, and the vector of a sequence of tokens."""

    def __init__(self, content: bytes) -> None:
        """Read an .npz archive; raise ValueError if it lacks the encoder's weights."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                self._read(archive)
        except (KeyError, zipfile.BadZipFile) as error:
            raise ValueError(f"not the weights of a Universal Sentence Encoder: {error}") from error

    def _read(self, archive: Archive) -> None:
        first = archive["q1"]
        self._table = np.empty((_EMBEDDING_BLOCKS * first.shape[0], first.shape[1]), np.uint8)
        for block in range(_EMBEDDING_BLOCKS):
            self._table[block::_EMBEDDING_BLOCKS] = archive[f"q{block + 1}"]
        self._scale, self._lowest = archive["scale"], archive["lo"]
        self._epsilon = float(archive["eps"])
        self._branches = [Branch(archive, order, self._epsilon) for order in _ORDERS]
        self._norm = LayerNorm(archive["ln_g"], archive["ln_b"], self._epsilon)
        self._output_bias = archive["cnn_b"]
        # (outputs, inputs) for `np.vecdot`, which starts no threads for a single row.
        self._dense = {
            name: np.ascontiguousarray(archive[name].T)
            for name in ("cnn_W", "d0", "d1", "d2", "d3", "p1", "p3")
        }

    @property
    def dimensions(self) -> int:
        return len(self._dense["d3"])

    @property
    def vocabulary(self) -> int:
        """Return the number of tokens that have an embedding."""
        return len(self._table)

    def encode(self, ids: Ids) -> Vector:
        """Return the unit vector of a text's tokens, including its beginning and end marks."""
        pooled = self._pool(self._features(self._embed(ids)))
        # Two residual blocks; what goes in comes back through a projection of its own.
        middle = relu(self._layer("p1", pooled) + self._layer("d1", relu(self._layer("d0", pooled))))
        last = np.tanh(self._layer("p3", middle) + self._layer("d3", relu(self._layer("d2", middle))))
        return np.asarray(last / np.sqrt(np.maximum(np.vecdot(last, last), self._epsilon)), np.float32)

    def _embed(self, ids: Ids) -> Matrix:
        block = ids % _EMBEDDING_BLOCKS
        rows: Matrix = self._table[ids] * self._scale[block, None] + self._lowest[block, None]
        return rows

    def _features(self, embeddings: Matrix) -> Matrix:
        """Return the embedding and the branches' views of each token, (tokens, 512 + 3 x 256)."""
        views = [branch(embeddings) for branch in self._branches]
        return self._norm(np.concatenate([embeddings, *views], axis=1))

    def _pool(self, features: Matrix) -> Vector:
        """Return the sum of the tokens' outputs over the root of their number."""
        count = np.float32(len(features))
        total = self._layer("cnn_W", features.sum(axis=0)) + count * self._output_bias
        return np.asarray(total / np.sqrt(count), np.float32)

    def _layer(self, name: str, vector: Vector) -> Vector:
        outputs: Vector = np.vecdot(self._dense[name], vector)
        return outputs


def neighbourhoods(rows: Matrix, order: int) -> Matrix:
    """Return each row with its neighbours, (tokens, order x channels): as many to the left as to the right or one less.

    Beyond the ends there are zeros.
    """
    left = (order - 1) // 2
    padded = np.pad(rows, ((left, order - 1 - left), (0, 0)))
    # (tokens, channels, order) -> (tokens, order, channels) -> one row per token
    return sliding_window_view(padded, order, axis=0).transpose(0, 2, 1).reshape(len(rows), -1)


def relu(values: Matrix) -> Matrix:
    """Return max(x, 0)."""
    return np.maximum(values, 0.0)
