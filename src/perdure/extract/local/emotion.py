"""Emotion of a text: a score from -5 to 5 and tags."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from vaderSentiment.vaderSentiment import BOOSTER_DICT, NEGATE, SPECIAL_CASES, SentimentIntensityAnalyzer

from perdure.text.wordlist import word_set

_WORD = re.compile(r"[a-z]+")
_REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)
_SYMBOL = re.compile(r"[\u2190-\u2bff\U0001f000-\U0001faff]")
_LONGEST_READ = 600
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
_TURNING = frozenset(NEGATE) | {"never", "so", "this", "without", "doubt"}
_IDIOMATIC = frozenset(max(key.split(), key=len) for key in (*SPECIAL_CASES, *BOOSTER_DICT) if " " in key)
"""Of each idiom of several words the longest."""
_TAG_OF = {word: tag for tag, words in _TAGS.items() for word in words}


def _first_symbols() -> Callable[[re.Match[str]], str]:
    """Keeps a few emoji and drops the rest: the analyser's time grows with their square."""
    seen = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        return match[0] if seen <= _MAX_SYMBOLS else " "

    return keep


class _Analyzer(SentimentIntensityAnalyzer):  # type: ignore[misc]  # the library has no types
    """VADER that looks for negations and idioms around a word only where there may be one."""

    def _negation_check(self, valence: float, words: list[str], steps_back: int, index: int) -> Any:
        first = index - steps_back - 1
        near = words[first:index]
        if not any(word.lower() in _TURNING or "n't" in word.lower() for word in near):
            return valence
        return super()._negation_check(valence, near, steps_back, index - first)

    def _special_idioms_check(self, valence: float, words: list[str], index: int) -> Any:
        near = words[index - 3 : index + 3]
        if not any(word.lower() in _IDIOMATIC for word in near):
            return valence
        return super()._special_idioms_check(valence, near, 3)


@cache
def _analyzer() -> _Analyzer:
    return _Analyzer()


def read_emotion(text: str) -> tuple[float, tuple[str, ...]]:
    """Score -5..5 and the emotions named, in the order they come."""
    read = _REPEATED.sub(r"\1\1\1", text[:_LONGEST_READ])
    read = _SYMBOL.sub(_first_symbols(), read)
    tags = tuple(dict.fromkeys(_TAG_OF[word] for word in _WORD.findall(read.casefold()) if word in _TAG_OF))
    compound = float(_analyzer().polarity_scores(read)["compound"])
    return round(max(-5.0, min(5.0, compound * 5)), 2), tags
