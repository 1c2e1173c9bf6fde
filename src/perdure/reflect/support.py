"""Whether facts support a sentence that a language model wrote: a calibrated probability, and values that no source states.

The reranker reads the sentence as the question and its sources as passages; a logistic regression over its logit and the
share of the sentence's words that the sources have gives the probability. `python -m bench.support --write` fits it and writes
`support.toml` next to this file. Whatever the probability, a number or a name that no source has makes a sentence unsupported.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from perdure.domain.fact import Fact
from perdure.domain.rendering import one_line, with_date
from perdure.errors import ModelError
from perdure.extract.local.language import language_of
from perdure.ports.reranker import Reranker
from perdure.recall.evidence import clamp, probability
from perdure.text.terms import STOP_WORDS, fold, index_terms

FILE = "support.toml"
CROSS, BARE = "cross", "words"
LOGITS = (-11.0, 10.0)
"""Bounds of the reranker's logit."""
HIGH_LOGIT = 4.0
"""From here on a logit says more."""
MAX_CHARACTERS = 4000
"""Length of a passage that the reranker reads."""
_WORD = re.compile(r"\d+(?:[.,:-]\d+)*|[^\W\d_][\w’'-]*")
_STARTS = re.compile(r"(?:^|[.!?:]\s+)[\"“(]*$|[\"“(]$")
_SUBJECT = re.compile(r"\W*([A-Z][\w-]+)(?:['’]s\b| (?:is|was|has|had|can|will|and|[a-z]+s|[a-z]+ed)\b)")
_ANSWERS = frozenset({"yes", "no", "both", "neither", "none", "unknown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """The texts of a source, the times that it names, and the people in it."""

    texts: tuple[str, ...]
    moments: tuple[datetime, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How well sources support a sentence."""

    probability: float
    floor: float
    unsaid: tuple[str, ...] = ()
    """Numbers and names of the sentence that no source has."""

    @property
    def holds(self) -> bool:
        """Return whether the sentence may be kept."""
        return not self.unsaid and self.probability >= self.floor

    @property
    def reason(self) -> str:
        """Return why it may not."""
        if self.unsaid:
            return f"its sources do not say {', '.join(self.unsaid)}"
        return f"its sources support it with probability {self.probability:.2f}, below {self.floor:.2f}"


def source_of(fact: Fact, further: Sequence[str] = ()) -> SourceText:
    """Return a fact as a source: its text with its date, the words it was read from, and `further` texts around it."""
    # A time that ends at midnight has the day before as its last.
    end = None if fact.occurred_end is None else fact.occurred_end - timedelta(microseconds=1)
    moments = (fact.occurred_start, end, fact.mentioned_at, fact.valid_from, fact.valid_to)
    texts = [with_date(one_line(fact.text), fact), one_line(fact.source_text), *map(one_line, further)]
    names = (fact.speaker, *fact.entities, fact.subject or "", fact.object or "")
    return SourceText(
        texts=tuple(dict.fromkeys(filter(None, texts))),
        moments=tuple(moment for moment in moments if moment is not None),
        names=tuple(filter(None, names)),
    )


def check_support(sentence: str, sources: Sequence[SourceText], reranker: Reranker | None) -> Support:
    """Return how well the sources support a sentence, by words alone if there is no reranker or it fails."""
    fitted = read_calibrations()
    logit: float | None = None
    if reranker is not None and reranker.name == fitted["reranker"]:
        try:
            logit = max(map(float, reranker.score(sentence, passages_of(sources))), default=LOGITS[0])
        except ModelError:
            logit = None
    calibration = fitted[BARE if logit is None else CROSS]
    return Support(
        probability=probability(calibration["weights"], support_features(sentence, sources, logit)),
        floor=calibration["floor"],
        unsaid=unsaid(sentence, sources),
    )


def passages_of(sources: Sequence[SourceText]) -> list[str]:
    """Return each text of the sources, and all of them together for sentences that combine several."""
    alone = list(dict.fromkeys(text[:MAX_CHARACTERS] for source in sources for text in source.texts))
    if len(sources) > 1:
        alone.append(" ".join(source.texts[0] for source in sources)[:MAX_CHARACTERS])
    return alone


def support_features(
    sentence: str, sources: Sequence[SourceText], logit: float | None = None
) -> dict[str, float]:
    """Return the features of the regression."""
    bounded = clamp(LOGITS[0] if logit is None else logit, *LOGITS)
    terms = index_terms(sentence).keys()
    said = index_terms(" ".join(_all_texts(sources))).keys()
    return {
        "logit": bounded,
        "high_logit": max(0.0, bounded - HIGH_LOGIT),
        "covered": len(terms & said) / len(terms) if terms else 0.0,
    }


def unsaid(sentence: str, sources: Sequence[SourceText], *, is_value: bool = False) -> tuple[str, ...]:
    """Return the numbers and names of the sentence that no source has.

    Names are capitalised words; the first word of a sentence is one if it is the subject, or if the text is a bare value.
    Languages that capitalise other words too are checked for numbers alone.
    """
    texts = list(_all_texts(sources))
    said = {part for text in texts for word in _WORD.findall(text) for part in _parts(word)}
    stems = index_terms(" ".join(texts)).keys()
    has_names = language_of(sentence) == "en"
    subject = _SUBJECT.match(sentence) if has_names else None
    missing = []
    undated = _without_dates(sentence, sources)
    for match in _WORD.finditer(undated):
        word, plain = match[0], fold(match[0])
        starts = _STARTS.search(undated[: match.start()]) is not None and not is_value
        if word[0].isdigit() or _figure(plain):
            whole = {plain, plain.replace(",", "").lstrip("0"), *_figure(plain)}
            is_missing = said.isdisjoint(whole) and not said.issuperset(re.findall(r"\d+", word) or [plain])
        elif has_names and word[0].isupper() and word != "I" and plain not in STOP_WORDS | _ANSWERS:
            named = not starts or (subject is not None and subject[1] == word and not word.endswith("ly"))
            is_missing = named and said.isdisjoint(_parts(word)) and not index_terms(word).keys() & stems
        else:
            continue
        if is_missing:
            missing.append(word)
    return tuple(dict.fromkeys(missing))


def _without_dates(sentence: str, sources: Sequence[SourceText]) -> str:
    """Return the sentence without the days on which its sources say that something happened."""
    for moment in {moment.date() for source in sources for moment in source.moments}:
        day = rf"0?{moment.day}(?:st|nd|rd|th)?"
        month = rf"(?:{moment:%B}|{moment:%b})\b\.?"
        sentence = re.sub(rf"\b(?:{moment:%Y-%m-%d}|{day}(?: of)? {month}|{month} {day})\b", "", sentence)
    return sentence


def _parts(word: str) -> set[str]:
    """Return the forms in which a word of a source may be repeated: whole, in parts, and a number as a figure."""
    bare = re.sub(r"['’]s?$", "", fold(word))
    plain = bare.replace(",", "")
    return {bare, *re.split(r"[-:.]", bare), plain, plain.lstrip("0"), *_figure(bare)}


def _figure(word: str) -> tuple[str, ...]:
    figure = read_calibrations()["numbers"].get(word)
    return () if figure is None else (str(figure),)


def _all_texts(sources: Sequence[SourceText]) -> Iterator[str]:
    for source in sources:
        yield from source.texts
        yield from source.names
        for moment in source.moments:
            yield f"{moment:%Y %B %b %A}"


@cache
def read_calibrations() -> Mapping[str, Any]:
    """Return the fitted weights and floors, and the figures of number words, from the file next to this module."""
    return tomllib.loads(files("perdure.reflect").joinpath(FILE).read_text(encoding="utf-8"))
