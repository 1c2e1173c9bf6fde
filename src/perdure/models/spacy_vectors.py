"""The token vectors of spaCy's hash embedding and window encoder, computed in numpy.

The network of `spacy.MultiHashEmbed.v2` and `spacy.MaxoutWindowEncoder.v2`. What it makes of a word alone (a third of the work) depends on
nothing but the word's features and is kept; the layers over a word's neighbours run on numpy's BLAS without the library's calls between
them. A network of another make is run by spaCy itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

_KEPT = 20_000
"""Words whose own vectors are kept."""
_PARTS = (
    "extract_features", "list2ragged", "ints-getitem", "hashembed", "maxout", "layernorm", "dropout", "ragged2list", "expand_window",
)  # fmt: skip
_JOINTS = (">>", "|", "with_array(", "residual(")
_TINY = 1e-8


class _Layer(NamedTuple):
    """A maxout with its norm; the pieces of the maxout stand behind each other."""

    weights: Rows
    bias: Rows
    pieces: int
    scale: Rows
    shift: Rows

    def __call__(self, inputs: Rows) -> Rows:
        made = inputs @ self.weights
        made += self.bias
        best = best_piece(made, self.pieces)
        best -= best.mean(axis=1, keepdims=True)
        spread = np.einsum("ij,ij->i", best, best) / best.shape[1] + np.float32(_TINY)
        best *= (1.0 / np.sqrt(spread))[:, None]
        best *= self.scale
        best += self.shift
        return best


def best_piece(made: Rows, pieces: int) -> Rows:
    """The maxout of two or more pieces that stand behind each other."""
    width = made.shape[1] // pieces
    best: Rows = np.maximum(made[:, :width], made[:, width : 2 * width])
    for piece in range(2, pieces):
        np.maximum(best, made[:, piece * width : (piece + 1) * width], out=best)
    return best


class TokenVectors:
    """A network's weights, and what it made of words before."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self._known = _is_known(network)
        if not self._known:
            return
        nodes = list(network.walk())
        self._columns = next(node for node in nodes if node.name == "extract_features").attrs["columns"]
        self._tables = [node for node in nodes if node.name == "hashembed"]
        maxouts = [node for node in nodes if node.name == "maxout"]
        norms = [node for node in nodes if node.name == "layernorm"]
        layers = [_layer(maxout, norm) for maxout, norm in zip(maxouts, norms, strict=True)]
        self._mix, self._windows = layers[0], layers[1:]
        self._pad = len(self._windows)
        self._places: dict[bytes, int] = {}
        self._own: Rows = np.zeros((0, len(self._mix.scale)), np.float32)

    def of(self, docs: Sequence[Any]) -> list[Rows]:
        """The vectors of each document's tokens."""
        if not self._known:
            return [np.asarray(rows, np.float32) for rows in self._network.predict(docs)]
        lengths = [len(doc) for doc in docs]
        spans = list(_spans(lengths, self._pad))
        rows = np.zeros((sum(lengths) + self._pad * (len(docs) + 1), self._own.shape[1]), np.float32)
        own = self._own_vectors(np.concatenate([doc.to_array(self._columns) for doc in docs]))
        place = 0
        for (start, end), length in zip(spans, lengths, strict=True):
            rows[start:end] = own[place : place + length]
            place += length
        for layer in self._windows:
            rows += layer(_with_neighbours(rows))
        return [rows[start:end] for start, end in spans]

    def _own_vectors(self, features: NDArray[np.uint64]) -> Rows:
        keys = [row.tobytes() for row in features]
        new = {key: place for place, key in enumerate(keys) if key not in self._places}
        if len(self._places) + len(new) > _KEPT:
            self._forget()
            new = {key: place for place, key in enumerate(keys)}
        if new:
            made = self._embed(features[list(new.values())])
            first = len(self._places)
            self._places.update((key, first + number) for number, key in enumerate(new))
            self._make_room(len(self._places))
            self._own[first : len(self._places)] = made
        return self._own[[self._places[key] for key in keys]]

    def _embed(self, features: NDArray[np.uint64]) -> Rows:
        found = [
            table.predict(np.ascontiguousarray(features[:, table.attrs["column"]])) for table in self._tables
        ]
        return self._mix(np.concatenate(found, axis=1))

    def _make_room(self, words: int) -> None:
        if words > len(self._own):
            larger = np.zeros((max(words, 2 * len(self._own)), self._own.shape[1]), np.float32)
            larger[: len(self._own)] = self._own
            self._own = larger

    def _forget(self) -> None:
        self._places = {}
        self._own = self._own[:0]


def _spans(lengths: Sequence[int], pad: int) -> Iterator[tuple[int, int]]:
    """Where each document stands when `pad` empty rows part it from its neighbours."""
    start = pad
    for length in lengths:
        yield start, start + length
        start += length + pad


def _with_neighbours(rows: Rows) -> Rows:
    """Each row between the one before it and the one behind it."""
    count, width = rows.shape
    wide = np.empty((count, 3 * width), np.float32)
    wide[:1, :width] = wide[-1:, 2 * width :] = 0
    wide[1:, :width] = rows[:-1]
    wide[:, width : 2 * width] = rows
    wide[:-1, 2 * width :] = rows[1:]
    return wide


def _layer(maxout: Any, norm: Any) -> _Layer:
    weights, bias = maxout.get_param("W"), maxout.get_param("b")
    width, pieces, inputs = weights.shape
    return _Layer(
        np.ascontiguousarray(weights.transpose(2, 1, 0).reshape(inputs, pieces * width)),
        np.ascontiguousarray(bias.T.reshape(pieces * width)),
        pieces,
        norm.get_param("G"),
        norm.get_param("b"),
    )


def _is_known(network: Any) -> bool:
    """Whether the network is the one that is written here, with a window of one word to each side."""
    rest = network.name
    for part in (*_JOINTS, *_PARTS, ")"):
        rest = rest.replace(part, "")
    nodes = list(network.walk())
    windows = [node for node in nodes if node.name == "expand_window"]
    paddings = [node.attrs["pad"] for node in nodes if "pad" in node.attrs]
    return (
        not rest
        and sum(node.name == "extract_features" for node in nodes) == 1
        and sum(node.name == "maxout" for node in nodes) == len(windows) + 1
        and network.name.count("residual(") == len(windows)
        and all(node.attrs["window_size"] == 1 for node in windows)
        and max(paddings, default=0) == len(windows)
        and all(node.get_dim("nP") >= 2 for node in nodes if node.name == "maxout")
    )
