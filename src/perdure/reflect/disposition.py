"""What a bank's disposition changes in an answer that no language model words.

A trait leans by (level - 3) / 2 x bias strength, from -1 to 1; at level 3, and without bias, it changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from perdure.domain.bank import Disposition
from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence, Recollection
from perdure.domain.rendering import one_line

NEUTRAL_LEVEL = 3
LEAST_LEAN = 0.2
"""A trait that leans less changes nothing."""
SUPPORT_STEP = 2.5
MAX_SHORTFALL = 1.0
"""A sentence that lacks more support is left out; one that lacks less is hedged."""
MAX_FOLLOWED = 4
HEDGE = "As far as memory tells: "
_STRONGEST = 5.0
_TRUSTED = 3
_DOUBTED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """How far each trait leans, -1..1."""

    skepticism: float = 0.0
    literalism: float = 0.0
    empathy: float = 0.0

    @property
    def needed_support(self) -> float:
        """The support that a sentence needs: 1, and more the more skeptical the bank is."""
        lean = self.skepticism if self.skepticism >= LEAST_LEAN else 0.0
        return 1.0 + SUPPORT_STEP * lean

    @property
    def quotes(self) -> bool:
        """Whether sentences are the speakers' own words."""
        return self.literalism >= LEAST_LEAN

    @property
    def followed(self) -> int:
        """How many facts are added that follow over links."""
        return ceil(-self.literalism * MAX_FOLLOWED) if self.literalism <= -LEAST_LEAN else 0

    @property
    def least_emotion(self) -> float | None:
        """The emotion from which a fact's feelings are told; None when they are not."""
        return _STRONGEST * (1.0 - self.empathy) if self.empathy >= LEAST_LEAN else None


def leaning_of(disposition: Disposition) -> Leaning:
    """(level - 3) / 2 x bias strength, for each trait."""

    def lean(level: int) -> float:
        return (level - NEUTRAL_LEVEL) / 2.0 * disposition.bias_strength

    return Leaning(
        skepticism=lean(disposition.skepticism),
        literalism=lean(disposition.literalism),
        empathy=lean(disposition.empathy),
    )


def support(recollection: Recollection) -> float:
    """2 for strong evidence, 1 for weak; 1 more for a second proof and for a trusted source, 1 less for a doubted one."""
    fact = recollection.fact
    points = {Evidence.STRONG: 2.0, Evidence.WEAK: 1.0, Evidence.NONE: 0.0}[recollection.evidence]
    points += 1.0 if fact.proof_count > 1 or len(fact.source_fact_ids) > 1 else 0.0
    points += 1.0 if fact.trust >= _TRUSTED else 0.0
    return points - (1.0 if fact.trust <= _DOUBTED else 0.0)


def shortfall(recollection: Recollection, leaning: Leaning) -> float:
    """What a fact lacks of the support that is needed; 0 when it has enough."""
    return max(leaning.needed_support - support(recollection), 0.0)


def quoted(fact: Fact) -> str:
    """The speaker's own words in quotation marks; the fact's text where they were not kept."""
    words = one_line(fact.source_text)
    if not words:
        return one_line(fact.text)
    return f"{fact.speaker or 'Memory'}: “{words}”"


def feelings(facts: Sequence[Fact], leaning: Leaning) -> list[tuple[str, Fact]]:
    """Sentences on what the words of facts carry ("Ann's words carry joy and pride."), each with its fact."""
    least = leaning.least_emotion
    if least is None:
        return []
    return [
        (f"{_owner(fact)} words carry {' and '.join(fact.emotion_tags[:2])}.", fact)
        for fact in facts
        if fact.emotion_tags and abs(fact.emotion) >= least
    ]


def _owner(fact: Fact) -> str:
    return f"{fact.speaker}'s" if fact.speaker else "The"
