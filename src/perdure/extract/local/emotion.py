"""Emotion of a text: a score from -5 to 5 and tags."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from perdure.text.wordlist import word_set

_WORD = re.compile(r"[a-z]+")
_REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)
_SYMBOL = re.compile(r"[\u2190-\u2bff\U0001f000-\U0001faff]")
_MAX_CHARACTERS = 600
_MAX_SYMBOLS = 8

_TAGS = {
    "joy": word_set(
        "happy joy joyful delighted thrilled excited glad cheerful fun enjoy enjoyed enjoying blast ecstatic overjoyed "
        "pleased celebrate celebrated smile smiling laugh laughed laughing wonderful awesome amazing"
    ),
    "love": word_set("love loved loving loves adore adored cherish cherished affection heart beloved dear fond crush"),
    "gratitude": word_set("grateful thankful gratitude appreciate appreciated appreciative blessed lucky"),
    "pride": word_set("proud pride accomplished accomplishment achieved achievement milestone"),
    "hope": word_set("hope hopeful hoping optimistic looking-forward inspired inspiring motivated encouraged"),
    "calm": word_set("calm peaceful relaxed relaxing relax serene soothing content cozy"),
    "sadness": word_set(
        "sad sadness unhappy cry cried crying tears heartbroken grief grieving mourn mourning miss missed lonely depressed "
        "depressing upset devastated sorrow hurt lost died passed"
    ),
    "anger": word_set(
        "angry anger furious mad annoyed annoying irritated frustrated frustrating rage outraged hate hated pissed unfair"
    ),
    "fear": word_set(
        "afraid scared scary fear feared terrified terrifying anxious anxiety nervous worried worry worrying panic dread "
        "frightened stressed stress stressful"
    ),
    "surprise": word_set("surprised surprise surprising shocked shocking unexpected unexpectedly astonished unbelievable"),
    "disgust": word_set("disgusting disgusted gross nasty revolting awful"),
    "shame": word_set("ashamed embarrassed embarrassing guilty guilt regret regretted sorry"),
    "tired": word_set("tired exhausted exhausting burned burnout swamped overwhelmed drained sleepy"),
}  # fmt: skip
_TAG_OF = {word: tag for tag, words in _TAGS.items() for word in words}


@cache
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


def read_emotion(text: str) -> tuple[float, tuple[str, ...]]:
    """VADER's compound score on a scale of -5 to 5, and the emotions that are named, in the order they come."""
    read = _REPEATED.sub(r"\1\1\1", text[:_MAX_CHARACTERS])
    tags = dict.fromkeys(_TAG_OF[word] for word in _WORD.findall(read.casefold()) if word in _TAG_OF)
    compound = float(_analyzer().polarity_scores(_without_later_symbols(read))["compound"])
    return round(max(-5.0, min(5.0, compound * 5)), 2), tuple(tags)


def _without_later_symbols(text: str) -> str:
    """The text with its first few emoji only: VADER's time grows with their square."""
    count = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return match[0] if count <= _MAX_SYMBOLS else " "

    return _SYMBOL.sub(keep, text)
