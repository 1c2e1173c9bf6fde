"""Composing a profile: at most ten statements as they were said, the most central first, that differ from each other.

Pure: the same facts give the same profile, whatever the order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from perdure.domain.fact import INSTRUCTION, Fact
from perdure.domain.observation import Clause, is_synthesised
from perdure.domain.rendering import document_line, one_line
from perdure.ports.embedder import Matrix, Vector
from perdure.text.terms import plain_words

TRADE = 0.5
"""The lambda of maximal marginal relevance: centrality against likeness to what was chosen."""
MOST_STATEMENTS = 10
MOST_CHARACTERS = 280
"""Longer statements do not become lines of a profile."""
LEAST_SOURCES = 2
"""A profile of one fact would be that fact."""
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Profile:
    """The text of an observation and its clauses."""

    text: str
    clauses: tuple[Clause, ...]

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Return the facts that it rests on, each once, in the order of the clauses."""
        return tuple(dict.fromkeys(fact_id for clause in self.clauses for fact_id in clause.fact_ids))


def is_source(fact: Fact) -> bool:
    """Return whether a profile may rest on a fact: a statement of a person or an agent, no order, no question, nothing synthesised."""
    return (
        not is_synthesised(fact)
        and INSTRUCTION not in fact.flags
        and not fact.is_foreign
        and not fact.text.rstrip().endswith("?")
    )


def compose(
    name: str,
    facts: Sequence[Fact],
    vectors: Mapping[str, Vector],
    *,
    count: Count,
    max_tokens: int,
) -> Profile | None:
    """Return the profile of `name`, within `max_tokens`; None if it would rest on fewer than two facts."""
    short = [fact for fact in sorted(facts, key=_place) if len(one_line(fact.text)) <= MOST_CHARACTERS]
    kept: list[Clause] = []
    for fact in central(short, vectors):
        line = document_line(fact)
        text = line if line.endswith((".", "!", "?", "…", "]", '"', "。")) else f"{line}."
        clause = Clause(text=text, fact_ids=(fact.id,), proofs=fact.proof_count)
        if count(_text(name, [*kept, clause])) <= max_tokens:
            kept.append(clause)
    return Profile(_text(name, kept), tuple(kept)) if len(kept) >= LEAST_SOURCES else None


def _place(fact: Fact) -> tuple[datetime, str]:
    return fact.mentioned_at or fact.recorded_at or _START_OF_TIME, fact.id


def central(facts: Sequence[Fact], vectors: Mapping[str, Vector]) -> list[Fact]:
    """Return the ten facts that are most central and least like each other, the most central first.

    This is maximal marginal relevance (Carbonell and Goldstein 1998) with the centroid in the place of a question.
    """
    if not facts:
        return []
    matrix = _matrix(facts, vectors)
    # Cosine of each fact with the centre of all, shape (facts,).
    centre = matrix.mean(axis=0)
    centrality = matrix @ (centre / (np.linalg.norm(centre) or 1.0))
    likeness = np.zeros(len(facts), dtype=np.float32)
    chosen: list[int] = []
    left = np.ones(len(facts), dtype=np.bool_)
    while len(chosen) < min(MOST_STATEMENTS, len(facts)):
        values = np.where(left, TRADE * centrality - (1.0 - TRADE) * likeness, -np.inf)
        best = int(np.argmax(values))
        chosen.append(best)
        left[best] = False
        likeness = np.maximum(likeness, matrix @ matrix[best])
    return [facts[row] for row in chosen]


def _matrix(facts: Sequence[Fact], vectors: Mapping[str, Vector]) -> Matrix:
    """Return unit vectors of the facts, shape (facts, dimensions): their embeddings, or counts of words if one has none."""
    if all(fact.id in vectors for fact in facts):
        return np.stack([vectors[fact.id] for fact in facts]).astype(np.float32)
    words = [plain_words(fact.text) for fact in facts]
    column = {word: place for place, word in enumerate(sorted({word for own in words for word in own}))}
    matrix = np.zeros((len(facts), max(len(column), 1)), dtype=np.float32)
    for row, own in enumerate(words):
        for word in own:
            matrix[row, column[word]] += 1.0
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Matrix = (matrix / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    return scaled


def _text(name: str, clauses: Sequence[Clause]) -> str:
    return " ".join([f"{name}:", *(clause.text for clause in clauses)])
