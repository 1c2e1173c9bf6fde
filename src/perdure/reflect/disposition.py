"""What a bank's disposition changes: in an answer without a language model, and in the prompt of one with it.

A trait leans by (level - 3) / 2 x bias strength, from -1 to 1; at level 3, and without bias, it changes nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import ceil

from perdure.domain.bank import Disposition
from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence, Recollection
from perdure.domain.rendering import one_line

NEUTRAL_LEVEL = 3
NEUTRAL = "Judge evenly."
LEAST_LEAN = 0.2
"""A trait that leans less changes nothing."""
SUPPORT_STEP = 2.5
MAX_SHORTFALL = 1.0
"""A statement that lacks more support is left out; one that lacks less is marked."""
MAX_FOLLOWED = 4
WEAKLY_SUPPORTED = "(weakly supported)"
_STRONGEST = 5.0
_TRUSTED, _DOUBTED = 3, 1
_WEIGHTS = ((0.1, ""), (0.4, "Slightly"), (0.7, "Clearly"), (1.01, "Strongly"))
"""Bias strength below which a weight is used in prompts; the first one says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """How far each trait leans, from -1 to 1."""

    skepticism: float = 0.0
    literalism: float = 0.0
    empathy: float = 0.0

    @property
    def quotes(self) -> bool:
        """Return whether statements are reduced to the speakers' own words."""
        return self.literalism >= LEAST_LEAN

    @property
    def followed(self) -> int:
        """Return how many facts are added that follow over links."""
        return ceil(-self.literalism * MAX_FOLLOWED) if self.literalism <= -LEAST_LEAN else 0

    def shortfall(self, recollection: Recollection) -> float:
        """Return what a fact lacks of the support that is needed; 0 if it has enough."""
        lean = self.skepticism if self.skepticism >= LEAST_LEAN else 0.0
        return max(1.0 + SUPPORT_STEP * lean - support(recollection), 0.0)

    def feels(self, fact: Fact) -> bool:
        """Return whether the emotions of a fact are mentioned."""
        strong = abs(fact.emotion) >= _STRONGEST * (1.0 - self.empathy)
        return self.empathy >= LEAST_LEAN and bool(fact.emotion_tags) and strong


def leaning_of(disposition: Disposition) -> Leaning:
    """Return (level - 3) / 2 x bias strength, for each trait."""

    def lean(level: int) -> float:
        return (level - NEUTRAL_LEVEL) / 2.0 * disposition.bias_strength

    return Leaning(
        skepticism=lean(disposition.skepticism),
        literalism=lean(disposition.literalism),
        empathy=lean(disposition.empathy),
    )


def support(recollection: Recollection) -> float:
    """Return 2 for strong evidence, 1 for weak; 1 more for a second proof and for a trusted source, 1 less for a doubted one."""
    fact = recollection.fact
    points = {Evidence.STRONG: 2.0, Evidence.WEAK: 1.0, Evidence.NONE: 0.0}[recollection.evidence]
    points += 1.0 if fact.proof_count > 1 or len(fact.source_fact_ids) > 1 else 0.0
    points += 1.0 if fact.trust >= _TRUSTED else 0.0
    return points - (1.0 if fact.trust <= _DOUBTED else 0.0)


def quoted(fact: Fact) -> str:
    """Return the speaker's own words in quotation marks, or the fact's text if they were not kept."""
    words = one_line(fact.source_text)
    return f"{fact.speaker or 'Memory'}: “{words}”" if words else one_line(fact.text)


def disposition_words(disposition: Disposition) -> str:
    """Return a line for the prompt per trait that leans, weighted by bias strength."""
    weight = next(word for bound, word in _WEIGHTS if disposition.bias_strength < bound)
    lines = [
        f"- {weight} ({trait} {level} of 5): {sentences[level - 1]}"
        for trait, sentences in _traits().items()
        if weight and (level := getattr(disposition, trait)) != NEUTRAL_LEVEL
    ]
    return "\n".join(lines or [f"- {NEUTRAL}"])


@cache
def _traits() -> Mapping[str, list[str]]:
    """Return trait -> a sentence per level, from 1 to 5."""
    text = files("perdure.reflect").joinpath("disposition.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
