"""Labels by a language model: what new facts say of the beliefs on their subjects, in one request for all pairs; confidence is ours."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel

from perdure.domain.fact import INSTRUCTION, Fact, FactType
from perdure.domain.inert import inert
from perdure.domain.llm_call import LlmOperation
from perdure.domain.opinion import EvidenceLabel
from perdure.domain.rendering import cited_line, fenced
from perdure.errors import DeadlineExceeded, LlmError
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import load
from perdure.ports.embedder import Vector
from perdure.ports.llm import ChatMessage
from perdure.ports.store import Rows
from perdure.recall.beliefs import StoredOpinion, logs_of, stored_opinions, subject_entities
from perdure.reflect.components import ReflectComponents
from perdure.reflect.opinions.rows import mentions
from perdure.text.names import normal_name
from perdure.text.terms import index_terms

log = logging.getLogger(__name__)

PER_FACT = 3
"""Beliefs that share words with a fact and that it is labelled for, the most first; and the one whose meaning is nearest."""
REPLY_TOKENS = 2000
Pair = tuple[str, str]
"""(opinion id, fact id)."""


class PairLabel(BaseModel):
    """What a fact says of a belief."""

    fact: str
    belief: str
    label: Literal["supporting", "weak", "contradicting", "neutral"]


class PairLabels(BaseModel):
    """A model's answer."""

    labels: list[PairLabel]


@dataclass(frozen=True, slots=True)
class GivenLabels:
    """Labels by pair, None where the fact says nothing of the belief; a pair that is missing is judged locally."""

    by_pair: Mapping[Pair, EvidenceLabel | None] = field(default_factory=dict)
    prompt: str = ""


def label_pairs(
    components: ReflectComponents, caller: Caller, bank: str, facts: Sequence[Fact]
) -> GivenLabels:
    """The labels of the pairs that are new; no call where there are none, and none given where the model fails."""
    with components.store.reading(bank) as reading:
        pairs = list(_pairs(reading, facts))
    if not pairs:
        return GivenLabels()
    prompt = load("label_opinions")
    purpose = Purpose(bank=bank, operation=LlmOperation.CONSOLIDATE, prompt=prompt.version)
    shown = _Shown(pairs)
    messages = [
        ChatMessage(role="system", text=prompt.text),
        ChatMessage(role="user", text=shown.text()),
    ]
    try:
        reply = caller.structured(
            purpose, messages, expect(PairLabels, items="labels"), max_tokens=REPLY_TOKENS
        )
    except (LlmError, DeadlineExceeded) as error:
        log.warning("opinions of %s are assessed without the language model: %s", bank, error)
        return GivenLabels()
    # A pair that a whole answer leaves out is neutral; one that a cut answer did not come to is judged locally.
    labels: dict[Pair, EvidenceLabel | None] = {}
    for one in reply.value.labels:
        pair = shown.pair(one.belief, one.fact)
        if pair is not None:
            labels.setdefault(pair, None if one.label == "neutral" else EvidenceLabel(one.label))
    if not reply.cut:
        labels = {(opinion.id, fact.id): labels.get((opinion.id, fact.id)) for opinion, fact in pairs}
    return GivenLabels(labels, prompt.version)


def _pairs(rows: Rows, facts: Sequence[Fact]) -> Iterator[tuple[StoredOpinion, Fact]]:
    """Beliefs on what each fact speaks of, whose log does not have it yet."""
    opinions = stored_opinions(rows)
    if not opinions:
        return
    logged = {one: {row.fact_id for row in rows_of} for one, rows_of in logs_of(rows).items()}
    entities = subject_entities(rows, [opinion.subject for opinion in opinions.values()])
    features = rows.features([*opinions, *(fact.id for fact in facts)])
    vectors = {one: own.vectors["fact"] for one, own in features.items() if "fact" in own.vectors}
    for fact in facts:
        if fact.type is FactType.OBSERVATION or fact.id in opinions or INSTRUCTION in fact.flags:
            continue
        terms = index_terms(fact.text).keys()
        about = [
            opinion
            for opinion in opinions.values()
            if opinion.tags == fact.tags
            and fact.id not in logged.get(opinion.id, ())
            and _is_about(fact, opinion, entities)
        ]
        about.sort(
            key=lambda opinion: (len(terms & index_terms(opinion.statement).keys()), opinion.id), reverse=True
        )
        worded = [opinion for opinion in about[:PER_FACT] if terms & index_terms(opinion.statement).keys()]
        nearest = max(about, key=lambda opinion: likeness(vectors, fact.id, opinion.id), default=None)
        chosen = {opinion.id: opinion for opinion in (*worded, *([nearest] if nearest is not None else []))}
        yield from ((opinion, fact) for opinion in chosen.values())


def likeness(vectors: Mapping[str, Vector], one: str, other: str) -> float:
    """The cosine of two facts; 0 where one has no vector."""
    return float(vectors[one] @ vectors[other]) if one in vectors and other in vectors else 0.0


def _is_about(fact: Fact, opinion: StoredOpinion, entities: Mapping[str, object]) -> bool:
    entity = entities.get(normal_name(opinion.subject))
    return getattr(entity, "id", None) in fact.entity_ids or mentions(fact.text, opinion.subject)


class _Shown:
    """Beliefs and facts under short ids."""

    def __init__(self, pairs: Sequence[tuple[StoredOpinion, Fact]]) -> None:
        self._opinions = {opinion.id: opinion for opinion, _ in pairs}
        self._facts = {fact.id: fact for _, fact in pairs}
        self._belief_ids = {f"B{number}": one for number, one in enumerate(self._opinions, start=1)}
        self._fact_ids = {f"F{number}": one for number, one in enumerate(self._facts, start=1)}
        self._pairs = {(opinion.id, fact.id) for opinion, fact in pairs}

    def text(self) -> str:
        """Beliefs, then facts, each with the beliefs that it is labelled for."""
        lines = ["Beliefs"]
        lines += [f"[{handle}] {inert(self._opinions[one].statement)}" for handle, one in self._belief_ids.items()]  # fmt: skip
        lines.append("Facts")
        for number, fact in enumerate(self._facts.values(), start=1):
            own = [handle for handle, one in self._belief_ids.items() if (one, fact.id) in self._pairs]
            lines.append(f"[F{cited_line(number, fact)[1:]} → {', '.join(own)}")
        return fenced(lines)

    def pair(self, belief: str, fact: str) -> Pair | None:
        """The pair of two ids; None for one that was not asked for."""
        pair = (self._belief_ids.get(_bare(belief), ""), self._fact_ids.get(_bare(fact), ""))
        return pair if pair in self._pairs else None


def _bare(handle: str) -> str:
    return handle.strip().strip("[]").upper()
