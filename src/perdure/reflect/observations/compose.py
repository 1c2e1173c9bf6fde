"""Composing a profile: current relations as clauses, then the most central facts that differ from each other.

    Ann: lives in Lisbon; works at Zalando; likes tea and jazz. Ann moved to Lisbon in March. Ann ran her first marathon.

Pure: the same facts give the same profile, whatever the order in which they came.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from perdure.domain.fact import INSTRUCTION, Fact
from perdure.domain.observation import Clause, is_synthesised
from perdure.domain.rendering import one_line, with_date
from perdure.ports.embedder import Matrix, Vector
from perdure.reflect.observations.wording import relation_clause
from perdure.text.names import normal_name
from perdure.text.relations import is_single_valued, same_value
from perdure.text.terms import plain_words

TRADE = 0.5
"""The lambda of maximal marginal relevance: centrality against likeness to what was chosen."""
MOST_RELATIONS = 12
MOST_VALUES = 6
"""Values of one relation in a clause, the newest."""
MOST_SENTENCES = 8
SENTENCE_CHARACTERS = 280
"""Longer facts are no sentences of a profile."""
LEAST_SOURCES = 2
"""What rests on one fact is that fact."""
_QUOTING = re.compile(r"[^:\n]{1,80}\b(?:said|asked|shares|sends)\b[^:\n]{0,40}:")
_QUESTION_ENDS = ("?", '?"', "?”", "?'")
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Profile:
    """The text of an observation and the clauses that it is made of."""

    text: str
    clauses: tuple[Clause, ...]

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The facts that it rests on, each once, in the order of the clauses."""
        return tuple(dict.fromkeys(fact_id for clause in self.clauses for fact_id in clause.fact_ids))


def is_source(fact: Fact) -> bool:
    """Whether a profile may rest on a fact: a statement, no order to the agent and nothing that was synthesised."""
    return not is_synthesised(fact) and INSTRUCTION not in fact.flags


def compose(
    name: str,
    names: Sequence[str],
    facts: Sequence[Fact],
    vectors: Mapping[str, Vector],
    *,
    count: Count,
    max_tokens: int,
) -> Profile | None:
    """The profile of `name`, within `max_tokens`; None when it would rest on fewer than two facts.

    `names` are those under which the subject of a relation is meant; none for a topic, whose clauses are facts.
    """
    ordered = sorted(facts, key=_place)
    relations = _relation_clauses(names, ordered)
    used = {fact_id for clause in relations for fact_id in clause.fact_ids}
    rest = [fact for fact in ordered if fact.id not in used and _tells(fact, names)]
    sentences = [_sentence(fact) for fact in _central(rest, vectors)]
    return _within(name, relations, sentences, count, max_tokens)


def _tells(fact: Fact, names: Sequence[str]) -> bool:
    """Whether a fact can be a sentence of a profile: a short statement in the third person that names its subject."""
    text = one_line(fact.text)
    if len(text) > SENTENCE_CHARACTERS or text.endswith(_QUESTION_ENDS) or _QUOTING.match(text):
        return False
    own = f" {normal_name(text)} "
    return not names or any(f" {normal_name(name)}" in own for name in names)


def _place(fact: Fact) -> tuple[datetime, str]:
    return fact.mentioned_at or fact.recorded_at or _START_OF_TIME, fact.id


def _relation_clauses(names: Sequence[str], facts: Sequence[Fact]) -> list[Clause]:
    """A clause per relation of the subject, the one stated last first; values that are the same are one."""
    own = {normal_name(name) for name in names}
    stated: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.subject and fact.relation and normal_name(fact.subject) in own and _says_value(fact):
            stated[fact.relation].append(fact)
    clauses = []
    for relation, same in stated.items():
        values: list[list[Fact]] = []
        for fact in reversed(same):
            match = next((v for v in values if same_value(v[0].object or "", fact.object or "")), None)
            if match is not None:
                match.append(fact)
            elif len(values) < MOST_VALUES:
                values.append([fact])
        if len(values) > 1 and is_single_valued(relation):
            continue  # An open conflict is a question, no part of a profile.
        behind = [fact for value in values for fact in value]
        text = relation_clause(relation, [one_line(value[0].object or "") for value in values])
        clauses.append((_place(same[-1]), _clause(text, behind)))
    clauses.sort(key=lambda pair: pair[0], reverse=True)
    return [clause for _, clause in clauses[:MOST_RELATIONS]]


def _says_value(fact: Fact) -> bool:
    """Whether the value is in the fact's own words, which a person may have changed since it was read."""
    return bool(fact.object) and normal_name(fact.object or "") in normal_name(fact.text)


def _clause(text: str, facts: Sequence[Fact]) -> Clause:
    ids = tuple(dict.fromkeys(fact.id for fact in facts))
    return Clause(text=text, fact_ids=ids, proofs=sum(fact.proof_count for fact in facts))


def _sentence(fact: Fact) -> Clause:
    text = with_date(one_line(fact.text), fact)
    return _clause(text if text.endswith((".", "!", "?", "…", "]", '"', "。")) else f"{text}.", [fact])


def _central(facts: Sequence[Fact], vectors: Mapping[str, Vector]) -> list[Fact]:
    """Maximal marginal relevance (Carbonell and Goldstein 1998) with the centroid in the place of a question."""
    if not facts:
        return []
    matrix = _matrix(facts, vectors)
    # Cosine of each fact with the centre of all, shape (facts,).
    centre = matrix.mean(axis=0)
    centrality = matrix @ (centre / (np.linalg.norm(centre) or 1.0))
    likeness = np.zeros(len(facts), dtype=np.float32)
    chosen: list[int] = []
    left = np.ones(len(facts), dtype=np.bool_)
    while len(chosen) < min(MOST_SENTENCES, len(facts)):
        values = np.where(left, marginal_relevance(centrality, likeness), -np.inf)
        best = int(np.argmax(values))
        chosen.append(best)
        left[best] = False
        likeness = np.maximum(likeness, matrix @ matrix[best])
    return [facts[row] for row in chosen]


def marginal_relevance(centrality: Vector, likeness: Vector) -> Vector:
    """lambda x centrality - (1 - lambda) x likeness to what was chosen."""
    value: Vector = TRADE * centrality - (1.0 - TRADE) * likeness
    return value


def _matrix(facts: Sequence[Fact], vectors: Mapping[str, Vector]) -> Matrix:
    """Unit vectors of the facts, shape (facts, dimensions): their embeddings, or counts of words where one lacks it."""
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


def _within(
    name: str, relations: Sequence[Clause], sentences: Sequence[Clause], count: Count, max_tokens: int
) -> Profile | None:
    """Relations first, then sentences, each taken while the whole stays within the bound."""
    kept_relations: list[Clause] = []
    kept_sentences: list[Clause] = []
    for clause in relations:
        if count(_text(name, [*kept_relations, clause], [])) <= max_tokens:
            kept_relations.append(clause)
    for clause in sentences:
        if count(_text(name, kept_relations, [*kept_sentences, clause])) <= max_tokens:
            kept_sentences.append(clause)
    profile = Profile(_text(name, kept_relations, kept_sentences), (*kept_relations, *kept_sentences))
    return profile if len(profile.source_ids) >= LEAST_SOURCES else None


def _text(name: str, relations: Sequence[Clause], sentences: Sequence[Clause]) -> str:
    stated = f"{'; '.join(clause.text for clause in relations)}." if relations else ""
    return " ".join([f"{name}:", *filter(None, (stated, *(clause.text for clause in sentences)))])
