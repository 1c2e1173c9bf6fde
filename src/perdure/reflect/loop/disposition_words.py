"""What a bank's disposition says to a language model: a sentence per trait and level, weighted by bias strength."""

from __future__ import annotations

from perdure.domain.bank import Disposition
from perdure.reflect.disposition import NEUTRAL_LEVEL

NEUTRAL = "Judge evenly."
TRAITS = {
    "skepticism": (
        "Take what memory says as true without asking for more.",
        "Trust what memory says unless something speaks against it.",
        "Weigh how well memory supports a claim.",
        "Doubt what only one source says, and say how sure you are.",
        "Believe only what several sources or a trusted one say, and point out what is not proven.",
    ),
    "literalism": (
        "Read between the lines and say what follows from the facts, as long as they carry it.",
        "Look for what is meant rather than for the exact words.",
        "Keep to the sense of what was said.",
        "Stay close to the words that were used.",
        "Use the speakers' own words and infer nothing from them.",
    ),
    "empathy": (
        "Keep to facts and leave feelings out.",
        "Mention feelings only where they matter to the answer.",
        "Mention feelings where they were told.",
        "Take what people feel into account and mention it.",
        "Put what people feel and need first, and word the answer gently.",
    ),
}
"""Trait -> a sentence per level, 1 to 5."""
_WEIGHTS = ((0.1, ""), (0.4, "Slightly"), (0.7, "Clearly"), (1.01, "Strongly"))
"""Bias strength up to which a weight is meant; the first one says nothing."""


def weight_of(bias_strength: float) -> str:
    """How strongly a trait is put: nothing, slightly, clearly or strongly."""
    return next(word for bound, word in _WEIGHTS if bias_strength < bound)


def disposition_words(disposition: Disposition) -> str:
    """One line per trait that leans; an even judgement where none does or the bank has no bias."""
    weight = weight_of(disposition.bias_strength)
    if not weight:
        return f"- {NEUTRAL}"
    lines = [
        f"- {weight} ({trait} {level} of 5): {sentences[level - 1]}"
        for trait, sentences in TRAITS.items()
        if (level := getattr(disposition, trait)) != NEUTRAL_LEVEL
    ]
    return "\n".join(lines or [f"- {NEUTRAL}"])
