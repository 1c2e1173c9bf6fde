"""Greedy dependency parsing for a batch of documents at once.

The states and moves are spaCy's own (`spacy.TransitionBasedParser.v2`); the scores of each step are computed in numpy for all documents
together. The library's loop takes the interpreter's lock for every unit of the hidden layer of every state, which is more than half of its time.
A parser of another make is run by spaCy itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from perdure.models.spacy_vectors import Rows, best_piece


class Parser:
    """A parser's weights, and its steps."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser
        self._stepped = _is_known(parser)
        if not self._stepped:
            return
        network, lower, upper = (parser.model.get_ref(name) for name in ("tok2vec", "lower", "upper"))
        self._narrow = network.layers[-1].get_param("W").T
        self._narrow_bias = network.layers[-1].get_param("b")
        weights = lower.get_param("W")
        self._features, hidden, self._pieces, inputs = weights.shape
        self._width = hidden * self._pieces
        # the pieces of the maxout stand behind each other
        self._lower = np.ascontiguousarray(weights.transpose(3, 0, 2, 1).reshape(inputs, -1))
        self._pad = lower.get_param("pad").transpose(0, 1, 3, 2).reshape(1, -1)
        self._bias = lower.get_param("b").T.reshape(self._width)
        self._upper = np.ascontiguousarray(upper.get_param("W").T)
        self._upper_bias = upper.get_param("b")
        self._shape = SimpleNamespace(state2vec=SimpleNamespace(nF=self._features))

    def parse(self, docs: Sequence[Any], vectors: Sequence[Rows]) -> None:
        """Set heads, labels and sentence borders; the vectors of the documents' tokens are also in their tensors."""
        parser = self._parser
        parser.set_annotations(docs, self._states(docs, vectors) if self._stepped else parser.predict(docs))

    def _states(self, docs: Sequence[Any], vectors: Sequence[Rows]) -> Any:
        from spacy.ml.parser_model import ParserStepModel

        states = self._parser.moves.init_batch(docs)
        going = [state for state in states if not state.is_final()]
        cached = self._precomputed(np.concatenate(vectors))
        features = np.arange(self._features, dtype=np.int32)
        while going:
            # a feature without a token has the number -1: the last rows, which are the padding
            tokens = ParserStepModel.get_token_ids(self._shape, going)
            rows = cached.take(tokens * self._features + features, axis=0, mode="wrap")
            scores = best_piece(np.add.reduce(rows, axis=1), self._pieces) @ self._upper
            scores += self._upper_bias
            going = self._parser.transition_states(going, scores)
        return states

    def _precomputed(self, vectors: Rows) -> Rows:
        """What each token adds to the hidden layer in each feature's place, a row each; the last rows are no token."""
        made = np.empty((len(vectors) + 1, self._features * self._width), np.float32)
        np.matmul(vectors @ self._narrow + self._narrow_bias, self._lower, out=made[:-1])
        made[-1:] = self._pad
        made[:, : self._width] += self._bias
        return made.reshape(-1, self._width)


def _is_known(parser: Any) -> bool:
    """Whether the parser is one whose scores are computed here."""
    model = parser.model
    if model.name != "parser_model" or not model.attrs.get("has_upper") or model.attrs.get("unseen_classes"):
        return False
    shape = model.get_ref("lower").get_param("W").shape
    network = model.get_ref("tok2vec").layers
    return (
        parser.cfg.get("beam_width", 1) == 1
        and len(shape) == 4
        and shape[2] >= 2
        and [layer.name for layer in network[1:]] == ["list2array", "linear"]
        and network[0].name == "tok2vec-listener"
    )
