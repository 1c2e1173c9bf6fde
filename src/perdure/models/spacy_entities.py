"""Greedy decoding of spaCy's entity recogniser for a batch of documents at once.

The transition system of `spacy.TransitionBasedParser.v2` with the `ner` state (three feature tokens) walks each document from left to
right; stepping through all documents of a batch together does in numpy what the library's loop does document by document,
for a quarter of the time. A recogniser of another make is run by spaCy itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perdure.models.spacy_vectors import TokenVectors

_FEATURES = 3
_BEGIN, _IN, _LAST, _UNIT, _OUT, _NEVER = range(6)
_MOVES = {"B": _BEGIN, "I": _IN, "L": _LAST, "U": _UNIT, "O": _OUT}


class Entity(NamedTuple):
    """First token, the token behind the last, and the label."""

    start: int
    end: int
    label: str


class EntityFinder:
    """A recogniser's weights, and the decoding."""

    def __init__(self, ner: Any) -> None:
        self._ner = ner
        self._vectorised = _is_known(ner)
        if not self._vectorised:
            return
        network, lower, upper = (ner.model.get_ref(name) for name in ("tok2vec", "lower", "upper"))
        self._vectors = TokenVectors(network.layers[0])
        self._narrow = network.layers[-1].get_param("W").T
        self._narrow_bias = network.layers[-1].get_param("b")
        weights = lower.get_param("W")
        _, hidden, self._pieces, inputs = weights.shape
        self._width = hidden * self._pieces
        # the pieces of the maxout stand behind each other
        pieces_first = weights.transpose(3, 0, 2, 1)
        self._lower = np.ascontiguousarray(pieces_first.reshape(inputs, _FEATURES * self._width))
        self._pad = lower.get_param("pad").transpose(0, 1, 3, 2).reshape(1, _FEATURES, self._width)
        self._bias = lower.get_param("b").T.reshape(self._width)
        self._upper, self._upper_bias = upper.get_param("W").T, upper.get_param("b")
        names = [ner.moves.get_class_name(number) for number in range(ner.moves.n_moves)]
        labels = sorted({name[2:] for name in names if name[1:2] == "-"})
        self._labels = labels
        self._kinds = np.array([_kind(name) for name in names])
        self._label_of = np.array([labels.index(name[2:]) if name[1:2] == "-" else -1 for name in names])
        self._allowed = self._allowed_moves()

    def find(self, docs: Sequence[Any]) -> list[list[Entity]]:
        """The entities of each document; sentence borders must have been set."""
        if not docs:
            return []
        if not self._vectorised:
            list(self._ner.pipe(docs, batch_size=len(docs)))
            return [[Entity(span.start, span.end, span.label_) for span in doc.ents] for doc in docs]
        order = sorted(range(len(docs)), key=lambda number: -len(docs[number]))
        found = self._decode([docs[number] for number in order])
        result: list[list[Entity]] = [[] for _ in docs]
        for number, entities in zip(order, found, strict=True):
            result[number] = entities
        return result

    def _decode(self, docs: Sequence[Any]) -> list[list[Entity]]:
        """Longest document first, so that the ones still being read are a prefix."""
        lengths = np.array([len(doc) for doc in docs])
        offsets = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        cached = self._precomputed(docs)
        place = _constraints(docs)
        nowhere = len(cached) - 1
        opened = np.full(len(docs), -1)
        label = np.full(len(docs), -1)
        found: list[list[Entity]] = [[] for _ in docs]
        for step in range(int(lengths[0])):
            active = int(np.searchsorted(-lengths, -step, side="left"))
            here = offsets[:active] + step
            inside = opened[:active] >= 0
            state = cached[here, 0]
            state += cached[np.where(inside, offsets[:active] + opened[:active], nowhere), 1]
            state += cached[np.where(inside, here - 1, nowhere), 2]
            hidden = state.reshape(active, self._pieces, -1).max(axis=1)
            scores = hidden @ self._upper
            scores += self._allowed[label[:active], place[here]]
            self._apply(step, scores.argmax(axis=1), opened, label, found)
        return found

    def _apply(
        self,
        step: int,
        chosen: NDArray[np.int64],
        opened: NDArray[np.int64],
        label: NDArray[np.int64],
        found: list[list[Entity]],
    ) -> None:
        kinds = self._kinds[chosen]
        for row in np.flatnonzero((kinds != _OUT) & (kinds != _IN)):
            kind, name = kinds[row], self._label_of[chosen[row]]
            if kind == _BEGIN:
                opened[row], label[row] = step, name
            else:
                start = step if kind == _UNIT else int(opened[row])
                found[row].append(Entity(start, step + 1, self._labels[name]))
                opened[row] = label[row] = -1

    def _precomputed(self, docs: Sequence[Any]) -> NDArray[np.float32]:
        """What each token adds to the hidden layer in each feature's place; the last row is no token."""
        vectors = np.concatenate(self._vectors.of(docs)) @ self._narrow + self._narrow_bias
        made = (vectors @ self._lower).reshape(len(vectors), _FEATURES, self._width)
        made[:, 0] += self._bias
        result: NDArray[np.float32] = np.concatenate([made, self._pad])
        return result

    def _allowed_moves(self) -> NDArray[np.float32]:
        """The output bias, or minus infinity for a move that is not allowed: by open label (the last: none) and place.

        Places: 0 anywhere, +1 where an entity cannot go on to the next token, +2 on white space.
        """
        moves = np.full((len(self._labels) + 1, 4, len(self._kinds)), -np.inf, np.float32)
        for place in range(4):
            begins = np.isin(self._kinds, [_UNIT] if place & 1 else [_BEGIN, _UNIT]) & (place < 2)
            moves[-1, place] = np.where(begins | (self._kinds == _OUT), self._upper_bias, -np.inf)
            for number in range(len(self._labels)):
                goes_on = np.isin(self._kinds, [_LAST] if place & 1 else [_IN, _LAST]) & (
                    self._label_of == number
                )
                moves[number, place] = np.where(goes_on, self._upper_bias, -np.inf)
        return moves


def _kind(name: str) -> int:
    return _MOVES.get(name[:1], _NEVER) if name == "O" or name[2:] else _NEVER


def _is_known(ner: Any) -> bool:
    """Whether the recogniser is the one whose decoding is written here."""
    model = ner.model
    if model.name != "parser_model" or not model.attrs.get("has_upper") or model.attrs.get("unseen_classes"):
        return False
    shape = model.get_ref("lower").get_param("W").shape
    network = [layer.name for layer in model.get_ref("tok2vec").layers]
    return (
        ner.cfg.get("beam_width", 1) == 1
        and len(shape) == 4
        and shape[0] == _FEATURES
        and shape[2] >= 2
        and network[1:] == ["list2array", "linear"]
    )


def _constraints(docs: Sequence[Any]) -> NDArray[np.int64]:
    """For each token 1 where no entity can go on behind it, and 2 more where none can begin."""
    place: list[int] = []
    for doc in docs:
        starts = doc.to_array("SENT_START").tolist()
        last = [start == 1 for start in starts[1:]] + [True] * bool(starts)
        place += [
            ends + 2 * blank for ends, blank in zip(last, doc.to_array("IS_SPACE").tolist(), strict=True)
        ]
    return np.array(place, np.int64)
