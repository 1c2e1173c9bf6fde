"""Greedy decoding of spaCy's entity recogniser for a batch of documents at once.

The transition system of `spacy.TransitionBasedParser.v2` with the `ner` state (three feature tokens) walks each document from left to
right. Outside an entity the state is the next token alone, so the moves there are found for all tokens of a batch in one pass; only from
where an entity may begin is it followed token by token, all of a batch together. A recogniser of another make is run by spaCy itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perdure.models.spacy_vectors import Rows, TokenVectors, best_piece

Places = NDArray[np.int64]

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
        pieces_first = weights.transpose(0, 3, 2, 1).reshape(_FEATURES, inputs, self._width)
        self._next, self._first, self._last = (np.ascontiguousarray(feature) for feature in pieces_first)
        pad = lower.get_param("pad").transpose(0, 1, 3, 2).reshape(_FEATURES, self._width)
        self._nothing_open = pad[1] + pad[2]
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
        return self._decode(docs)

    def _decode(self, docs: Sequence[Any]) -> list[list[Entity]]:
        vectors = np.concatenate(self._vectors.of(docs)) @ self._narrow + self._narrow_bias
        base = vectors @ self._next
        base += self._bias
        place = _constraints(docs)
        chosen = self._choose(base + self._nothing_open, np.full(len(base), -1), place)
        kinds, labels = self._kinds[chosen], self._label_of[chosen]
        ends = np.arange(1, len(base) + 1)
        begins = np.flatnonzero(kinds == _BEGIN)
        ends[begins] = self._ends(vectors, base, begins, labels[begins], place)
        found: list[list[Entity]] = [[] for _ in docs]
        offsets = np.cumsum([0, *map(len, docs)])
        behind = 0
        for start in np.flatnonzero(kinds != _OUT).tolist():
            if start >= behind:
                behind = int(ends[start])
                row = int(np.searchsorted(offsets, start, side="right")) - 1
                first = int(offsets[row])
                found[row].append(Entity(start - first, behind - first, self._labels[labels[start]]))
        return found

    def _ends(self, vectors: Rows, base: Rows, begins: Places, labels: Places, place: Places) -> Places:
        """The place behind the last token of the entity that would begin at each of these tokens."""
        ends = np.zeros(len(begins), np.int64)
        opening = vectors[begins] @ self._first
        going, here = np.arange(len(begins)), begins + 1
        while len(going):
            state = base[here] + opening[going]
            state += vectors[here - 1] @ self._last
            last = self._kinds[self._choose(state, labels[going], place[here])] == _LAST
            here += 1
            ends[going[last]] = here[last]
            going, here = going[~last], here[~last]
        return ends

    def _choose(self, state: Rows, label: Places, place: Places) -> Places:
        """The best allowed move in each state."""
        scores = best_piece(state, self._pieces) @ self._upper
        scores += self._allowed[label, place]
        best: Places = scores.argmax(axis=1)
        return best

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


def _constraints(docs: Sequence[Any]) -> Places:
    """For each token 1 where no entity can go on behind it, and 2 more where none can begin."""
    columns = np.concatenate([doc.to_array(["SENT_START", "IS_SPACE"]) for doc in docs])
    ends = np.append(columns[1:, 0] == 1, True)
    ends[np.cumsum([len(doc) for doc in docs]) - 1] = True
    return ends + 2 * columns[:, 1].astype(np.int64)
