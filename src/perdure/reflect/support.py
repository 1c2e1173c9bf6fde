"""Whether facts support a sentence that a language model wrote: a calibrated probability, and values that nobody said.

The reranker reads the sentence as the question and its sources as passages; a logistic regression over its logit and the share of the
sentence's words that the sources have gives the probability. `python -m bench.support --write` fits it and writes `support.toml` beside this
file. Whatever the probability, a number or a name that no source has makes a sentence unsupported.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files

from perdure.domain.fact import Fact
from perdure.domain.rendering import one_line, with_date
from perdure.errors import InvalidInput, ModelError
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
"""Of a passage that the reranker reads."""
WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "once": 1, "twice": 2, "thrice": 3, "dozen": 12}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SUBJECT = re.compile(
    r"^\W*(?P<name>[A-Z][\w-]+)(?:['’]s\b| (?:is|was|are|were|has|had|did|does|will|can|and|[a-z]+s|[a-z]+ed)\b)"
)
_STARTS = re.compile(r"(?:^|[.!?:]\s+)[\"“(]*(?=[A-Z])|[\"“(](?=[A-Z])")
_ANSWERS = frozenset({"yes", "no", "both", "neither", "none", "unknown"})
_SMALL_NUMBERS = frozenset({"zero", "one", "once", "hundred"})
"""Number words that are often no count."""
_TIMES = ("%Y", "%B", "%b", "%A")
_MONTHS = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTHS})\b|\b(?P<early_month>{_MONTHS})\.? (?P<late_day>\d{{1,2}})(?:st|nd|rd|th)?\b",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """What a source says, and in which words of time."""

    texts: tuple[str, ...]
    moments: tuple[datetime, ...] = ()
    names: tuple[str, ...] = ()
    """Who said it and whom it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What sources are worth for a sentence."""

    probability: float
    floor: float
    unsaid: tuple[str, ...] = ()
    """Numbers and names of the sentence that no source has."""

    @property
    def holds(self) -> bool:
        """Whether the sentence may stand."""
        return not self.unsaid and self.probability >= self.floor

    @property
    def reason(self) -> str:
        """Why it may not."""
        if self.unsaid:
            return f"its sources do not say {', '.join(self.unsaid)}"
        return f"its sources support it with probability {self.probability:.2f}, below {self.floor:.2f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportCalibration:
    """Weights by feature, and the probability from which a sentence is supported."""

    weights: Mapping[str, float]
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportCalibrations:
    """With the reranker that they were fitted for, and without one."""

    reranker: str
    by_name: Mapping[str, SupportCalibration] = field(default_factory=dict)


def source_of(fact: Fact, further: Sequence[str] = ()) -> SourceText:
    """What a fact says: its text with its date, the words it was read from, and what else of its surroundings was read."""
    # A time that ends at midnight has the day before as its last.
    end = None if fact.occurred_end is None else fact.occurred_end - timedelta(microseconds=1)
    moments = (fact.occurred_start, end, fact.mentioned_at, fact.valid_from, fact.valid_to)
    texts = [with_date(one_line(fact.text), fact), one_line(fact.source_text), *map(one_line, further)]
    names = (fact.speaker, *fact.entities, fact.subject or "", fact.object or "")
    return SourceText(
        texts=tuple(dict.fromkeys(text for text in texts if text)),
        moments=tuple(moment for moment in moments if moment is not None),
        names=tuple(name for name in names if name),
    )


def check_support(sentence: str, sources: Sequence[SourceText], reranker: Reranker | None) -> Support:
    """What the sources are worth for a sentence; by words alone where there is no reranker or it fails."""
    calibrations = read_calibrations()
    logit: float | None = None
    if reranker is not None and reranker.name == calibrations.reranker:
        try:
            logit = max(map(float, reranker.score(sentence, passages_of(sources))), default=LOGITS[0])
        except ModelError:
            logit = None
    calibration = calibrations.by_name[BARE if logit is None else CROSS]
    return Support(
        probability=probability(calibration.weights, support_features(sentence, sources, logit)),
        floor=calibration.floor,
        unsaid=unsaid(sentence, sources),
    )


def passages_of(sources: Sequence[SourceText]) -> list[str]:
    """Each text of the sources alone, and all together, where a sentence gathers several."""
    alone = list(dict.fromkeys(text[:MAX_CHARACTERS] for source in sources for text in source.texts))
    if len(sources) > 1:
        alone.append(" ".join(source.texts[0] for source in sources)[:MAX_CHARACTERS])
    return alone


def support_features(
    sentence: str, sources: Sequence[SourceText], logit: float | None = None
) -> dict[str, float]:
    """What speaks for and against a sentence."""
    bounded = clamp(LOGITS[0] if logit is None else logit, *LOGITS)
    return {
        "logit": bounded,
        "high_logit": max(0.0, bounded - HIGH_LOGIT),
        "covered": covered(sentence, sources),
    }


def covered(sentence: str, sources: Sequence[SourceText]) -> float:
    """The share of the sentence's terms that its sources have."""
    terms = index_terms(sentence).keys()
    said = index_terms(" ".join(_all_words(sources))).keys()
    return len(terms & said) / len(terms) if terms else 0.0


def unsaid(sentence: str, sources: Sequence[SourceText], *, is_value: bool = False) -> tuple[str, ...]:
    """Numbers and names of the sentence that no source has, in its words.

    Names are capitalised words within English sentences, and the first one where it stands as the subject, or where the text is a bare
    value; in other languages only numbers are looked at.
    """
    texts = list(_all_words(sources))
    said = {fold(word) for text in texts for word in _values(text)}
    undated = _without_days(sentence, sources)
    missing = [number for number in _NUMBER.findall(undated) if not _is_said(number, said)]
    for word in _WORD.findall(sentence):
        value = WORDS.get(word.lower())
        if value is not None and word.lower() not in _SMALL_NUMBERS and not {word.lower(), str(value)} & said:
            missing.append(word)
    if language_of(sentence) == "en":
        stems = index_terms(" ".join(texts)).keys()
        names = _values_in(sentence) if is_value else _names(sentence)
        missing += [
            name for name in names if _bare(name) not in said and not index_terms(name).keys() & stems
        ]
    return tuple(dict.fromkeys(missing))


def _without_days(sentence: str, sources: Sequence[SourceText]) -> str:
    """The sentence without the days that are days of its sources: their digits are no numbers of anything else."""
    moments = [moment for source in sources for moment in source.moments]
    days = {(moment.day, fold(moment.strftime("%b"))) for moment in moments}
    dates = {moment.strftime("%Y-%m-%d") for moment in moments}

    def drop(match: re.Match[str]) -> str:
        day, month = match["day"] or match["late_day"], match["month"] or match["early_month"]
        return month if (int(day), fold(month)[:3]) in days else match[0]

    plain = _ISO_DATE.sub(lambda match: "" if match[0] in dates else match[0], sentence)
    return _DAY.sub(drop, plain)


def _values_in(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        if match[0][0].isupper() and fold(match[0]) not in STOP_WORDS and fold(match[0]) not in _ANSWERS:
            yield match[0]


def _names(sentence: str) -> Iterator[str]:
    subject = _SUBJECT.match(sentence)
    if subject is not None and fold(subject["name"]) not in STOP_WORDS and not subject["name"].endswith("ly"):
        yield subject["name"]
    starts = {match.end() for match in _STARTS.finditer(sentence)}
    for match in _WORD.finditer(sentence):
        at_start = match.start() in starts
        if match[0][0].isupper() and match[0] != "I" and not at_start and fold(match[0]) not in STOP_WORDS:
            yield match[0]


def _is_said(number: str, said: set[str]) -> bool:
    plain = number.replace(",", "")
    parts = re.split(r"[:.,]", number)
    return number in said or plain in said or plain.lstrip("0") in said or all(one in said for one in parts)


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", fold(word))


def _values(text: str) -> Iterator[str]:
    for number in _NUMBER.findall(text):
        yield from (number, number.replace(",", ""), *re.split(r"[:.,-]", number))
    for word in _WORD.findall(text):
        yield _bare(word)
        yield from _bare(word).split("-")
        value = WORDS.get(word.lower())
        if value is not None:
            yield str(value)


def _all_words(sources: Sequence[SourceText]) -> Iterator[str]:
    for source in sources:
        yield from source.texts
        yield from source.names
        for moment in source.moments:
            yield " ".join(moment.strftime(form) for form in _TIMES)


@cache
def read_calibrations() -> SupportCalibrations:
    """The calibrations of the file beside this module."""
    return parse_calibrations(files("perdure.reflect").joinpath(FILE).read_text(encoding="utf-8"))


def parse_calibrations(text: str) -> SupportCalibrations:
    """Calibrations from TOML; InvalidInput names what is missing."""
    raw = tomllib.loads(text)
    if not isinstance(raw.get("reranker"), str):
        raise InvalidInput("support.reranker", "the name of a model", raw.get("reranker"))
    by_name = {}
    for name in (CROSS, BARE):
        table = raw.get(name)
        if not isinstance(table, Mapping) or not isinstance(table.get("weights"), Mapping):
            raise InvalidInput(f"support.{name}", "a table with weights", table)
        floor = table.get("floor")
        if not isinstance(floor, float) or not 0.0 <= floor <= 1.0:
            raise InvalidInput(f"support.{name}.floor", "a probability", floor)
        by_name[name] = SupportCalibration(weights=table["weights"], floor=floor)
    return SupportCalibrations(reranker=raw["reranker"], by_name=by_name)
