"""Labels by a language model: what new facts say of the beliefs on their subjects, in one request for all pairs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel

from perdure.domain.fact import INSTRUCTION, Fact
from perdure.domain.inert import inert
from perdure.domain.llm_call import LlmOperation
from perdure.domain.opinion import EvidenceLabel
from perdure.domain.rendering import cited_line, fenced
from perdure.errors import DeadlineExceeded, LlmError
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import load
from perdure.ports.llm import ChatMessage
from perdure.recall.beliefs import StoredOpinion
from perdure.reflect.components import ReflectComponents
from perdure.reflect.opinions.rows import Beliefs
from perdure.reflect.worded import bare_id
from perdure.text.terms import index_terms

log = logging.getLogger(__name__)

PER_FACT = 4
"""Beliefs for which a fact is labelled."""
REPLY_TOKENS = 2000
Pair = tuple[str, str]
"""(opinion id, fact id)."""


class PairLabel(BaseModel):
    """The label of a fact for a belief."""

    fact: str
    belief: str
    label: Literal["supporting", "weak", "contradicting", "neutral"]


class PairLabels(BaseModel):
    """The answer of the language model."""

    labels: list[PairLabel]


@dataclass(frozen=True, slots=True)
class GivenLabels:
    """Labels by pair, None if the fact says nothing of the belief; a missing pair is left to the reader."""

    by_pair: Mapping[Pair, EvidenceLabel | None] = field(default_factory=dict)
    prompt: str = ""


def label_pairs(
    components: ReflectComponents, caller: Caller, bank: str, facts: Sequence[Fact]
) -> GivenLabels | None:
    """Return the labels of the pairs that are new, without a call if there are none; None if the model fails."""
    with components.store.reading(bank) as reading:
        beliefs = Beliefs(reading)
        pairs = [pair for fact in facts for pair in _pairs(beliefs, fact)]
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
        return None
    # A pair that a whole answer leaves out is neutral; one that a cut answer did not reach is left to the reader.
    labels: dict[Pair, EvidenceLabel | None] = {}
    for one in reply.value.labels:
        pair = shown.pair(one.belief, one.fact)
        if pair is not None:
            labels.setdefault(pair, None if one.label == "neutral" else EvidenceLabel(one.label))
    if not reply.cut:
        labels = {(opinion.id, fact.id): labels.get((opinion.id, fact.id)) for opinion, fact in pairs}
    return GivenLabels(labels, prompt.version)


def _pairs(beliefs: Beliefs, fact: Fact) -> list[tuple[StoredOpinion, Fact]]:
    """Return the beliefs on what a fact is about whose log lacks it, those that share most words with it."""
    terms = index_terms(fact.text).keys()
    about = [one.stored for one in beliefs.on_subjects_of(fact) if fact.id not in one.fact_ids]
    about.sort(key=lambda one: (-len(terms & index_terms(one.statement).keys()), one.id))
    return [] if INSTRUCTION in fact.flags else [(opinion, fact) for opinion in about[:PER_FACT]]


class _Shown:
    """Beliefs and facts under short ids."""

    def __init__(self, pairs: Sequence[tuple[StoredOpinion, Fact]]) -> None:
        self._opinions = {opinion.id: opinion for opinion, _ in pairs}
        self._facts = {fact.id: fact for _, fact in pairs}
        self._belief_ids = {f"B{number}": one for number, one in enumerate(self._opinions, start=1)}
        self._fact_ids = {f"F{number}": one for number, one in enumerate(self._facts, start=1)}
        self._pairs = {(opinion.id, fact.id) for opinion, fact in pairs}

    def text(self) -> str:
        """Return the beliefs, then the facts, each with the beliefs for which it is labelled."""
        lines = ["Beliefs"]
        lines += [f"[{handle}] {inert(self._opinions[one].statement)}" for handle, one in self._belief_ids.items()]  # fmt: skip
        lines.append("Facts")
        for number, fact in enumerate(self._facts.values(), start=1):
            own = [handle for handle, one in self._belief_ids.items() if (one, fact.id) in self._pairs]
            lines.append(f"[F{cited_line(number, fact)[1:]} → {', '.join(own)}")
        return fenced(lines)

    def pair(self, belief: str, fact: str) -> Pair | None:
        """Return the pair of two ids; None if it was not asked for."""
        pair = (self._belief_ids.get(bare_id(belief), ""), self._fact_ids.get(bare_id(fact), ""))
        return pair if pair in self._pairs else None
