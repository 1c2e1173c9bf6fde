"""Near twins among the sentences of a profile: found by their vectors or words, without a reranker, and decided again by a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from perdure.domain.inert import inert
from perdure.domain.llm_call import LlmOperation
from perdure.domain.rendering import fenced
from perdure.errors import DeadlineExceeded, LlmError, ModelError
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import load
from perdure.ports.llm import ChatMessage, TokenUsage
from perdure.reflect.components import ReflectComponents
from perdure.text.terms import index_terms

NEAR = 0.93
"""Cosine from which two sentences are looked at again."""
SHARED = 0.75
"""Share of the shorter one's words, where there are no vectors."""
MOST_PAIRS = 24
REPLY_TOKENS = 800


class Verdict(BaseModel):
    """What a pair is; the reason stands before the verdict."""

    pair: str
    reason: str
    same: bool


class Verdicts(BaseModel):
    """A model's answer."""

    verdicts: list[Verdict]


@dataclass(slots=True)
class Decided:
    """(profile, first sentence, second one) of the pairs that say the same, and what asking took."""

    same: list[tuple[int, int, int]] = field(default_factory=list)
    calls: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)


def merge_twins(
    components: ReflectComponents, caller: Caller, bank: str, profiles: Sequence[Sequence[tuple[str, bool]]]
) -> Decided:
    """Ask once for all near pairs of which a sentence is new; without such pairs nobody is asked, and a failure leaves them as they are."""
    pairs = list(_near(components, profiles))[:MOST_PAIRS]
    if not pairs:
        return Decided()
    prompt = load("twins")
    lines = [
        f"[T{number}] {inert(profiles[place][first][0])} / {inert(profiles[place][second][0])}"
        for number, (place, first, second) in enumerate(pairs, start=1)
    ]
    messages = [
        ChatMessage(role="system", text=prompt.text),
        ChatMessage(role="user", text=fenced(lines)),
    ]
    purpose = Purpose(bank=bank, operation=LlmOperation.CONSOLIDATE, prompt=prompt.version)
    decided = Decided(calls=1)
    try:
        reply = caller.structured(
            purpose, messages, expect(Verdicts, items="verdicts"), max_tokens=REPLY_TOKENS
        )
    except (LlmError, DeadlineExceeded):
        return decided
    decided.usage = reply.usage
    gone: set[tuple[int, int]] = set()
    for verdict in reply.value.verdicts:
        number = verdict.pair.strip().strip("[]").upper().removeprefix("T")
        if not verdict.same or not number.isdigit() or not 1 <= int(number) <= len(pairs):
            continue
        place, first, second = pairs[int(number) - 1]
        if (place, first) not in gone and (place, second) not in gone:
            gone.add((place, first))
            decided.same.append((place, first, second))
    return decided


def _near(
    components: ReflectComponents, profiles: Sequence[Sequence[tuple[str, bool]]]
) -> Iterator[tuple[int, int, int]]:
    for place, sentences in enumerate(profiles):
        texts = [text for text, _ in sentences]
        likeness = _likeness(components, texts)
        for second in range(len(texts)):
            for first in range(second):
                is_new = sentences[first][1] or sentences[second][1]
                if is_new and likeness[first][second]:
                    yield place, first, second


def _likeness(components: ReflectComponents, texts: Sequence[str]) -> list[list[bool]]:
    """Whether each two sentences are near, by the cosine of their vectors, else by the words that they share."""
    embedder = components.retain.embedder
    if embedder is not None and len(texts) > 1:
        try:
            vectors = embedder.embed_passages(list(texts))
            return [[bool(value >= NEAR) for value in row] for row in vectors @ vectors.T]
        except ModelError:
            pass  # By words, as without an embedder.
    terms = [index_terms(text).keys() for text in texts]
    return [[len(a & b) >= SHARED * max(min(len(a), len(b)), 1) for b in terms] for a in terms]
