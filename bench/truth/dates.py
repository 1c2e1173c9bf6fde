"""Sentences with labelled dates: are facts dated as a reader would date them, and left undated where there is no date?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from re import findall
from typing import Any

from bench.truth.replay import open_replay
from bench.truth.report import Figure, PartReport, Share
from perdure import Fact, Filter

SPEAKER = "Ann"
PLANNED = "planned"
UNSURE_DATE = "unsure_date"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDate:
    """A date as its words must be understood; a start with a time is compared to the minute."""

    words: str
    start: datetime | None
    has_time: bool
    end: datetime | None
    """Exclusive, as in facts."""
    planned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedSentence:
    """A sentence, when it was said, and the dates in it."""

    id: str
    language: str
    kind: str
    said_at: datetime
    text: str
    dates: Sequence[LabelledDate]


@dataclass(frozen=True, slots=True, kw_only=True)
class DateOutcome:
    """What the memory made of a sentence."""

    sentence: DatedSentence
    right: bool
    """A fact has the first labelled date; without a labelled date, all facts are undated."""
    planned_right: bool
    altered: bool
    """A fact's text has digits that the sentence has not."""
    dated_as: str


def load_dates(path: Path) -> list[DatedSentence]:
    return [_sentence(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _sentence(entry: Mapping[str, Any]) -> DatedSentence:
    dates = [
        LabelledDate(
            words=label["words"],
            start=_instant(label["start"]) if label["start"] else None,
            has_time="T" in (label["start"] or ""),
            end=_instant(label["end"]) if label.get("end") else None,
            planned=bool(label.get("planned")),
        )
        for label in entry["dates"]
    ]
    return DatedSentence(
        id=entry["id"],
        language=entry["language"],
        kind=entry["kind"],
        said_at=_instant(entry["said_at"]),
        text=entry["text"],
        dates=dates,
    )


def _instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def run_dates(path: Path) -> PartReport:
    """Retain each sentence in a bank of its own and compare its facts' dates with the labels."""
    outcomes = []
    with open_replay() as (memory, clock):
        for sentence in load_dates(path):
            clock.now = sentence.said_at
            memory.retain(sentence.id, sentence.text, speaker=SPEAKER, timestamp=sentence.said_at.isoformat())
            facts = list(memory.facts.iterate(sentence.id, where=Filter(include_closed=True)))
            outcomes.append(_outcome(sentence, facts))
    misses = [line for outcome in outcomes for line in _date_misses(outcome)]
    misses += [f"{_described(o.sentence)}: has digits that were not said" for o in outcomes if o.altered]
    return PartReport(_sections(outcomes), misses)


def _outcome(sentence: DatedSentence, facts: Sequence[Fact]) -> DateOutcome:
    sure = [fact for fact in facts if UNSURE_DATE not in fact.flags]
    if sentence.dates:
        label = sentence.dates[0]
        matching = [fact for fact in facts if _has_date(fact, label)]
        right = bool(matching)
        planned_right = any((PLANNED in fact.flags) == label.planned for fact in matching)
    else:
        right = not any(fact.occurred for fact in sure)
        planned_right = True
    digits = set(findall(r"\d+", sentence.text))
    return DateOutcome(
        sentence=sentence,
        right=right,
        planned_right=planned_right,
        altered=any(not digits.issuperset(findall(r"\d+", fact.text)) for fact in facts),
        dated_as="; ".join(_shown(fact) for fact in facts),
    )


def _has_date(fact: Fact, label: LabelledDate) -> bool:
    """Whether the fact's times are those of the label; a side that the label leaves open is not compared."""
    if label.has_time:
        same_start = _minute(fact.occurred_start) == _minute(label.start)
    else:
        same_start = label.start is None or _day(fact.occurred_start) == label.start.date()
    return same_start and (label.end is None or _day(fact.occurred_end) == label.end.date())


def _minute(moment: datetime | None) -> datetime | None:
    return moment.replace(second=0, microsecond=0) if moment else None


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None


def _shown(fact: Fact) -> str:
    times = _span(fact.occurred_start, fact.occurred_end) if fact.occurred else "undated"
    return " ".join([times, *sorted({PLANNED, UNSURE_DATE}.intersection(fact.flags))])


def _span(start: datetime | None, end: datetime | None) -> str:
    return " to ".join(f"{moment:%Y-%m-%d %H:%M}" if moment else "open" for moment in (start, end))


def _sections(outcomes: Sequence[DateOutcome]) -> dict[str, dict[str, Figure]]:
    dated = [outcome for outcome in outcomes if outcome.sentence.dates]
    undated = [outcome for outcome in outcomes if not outcome.sentence.dates]
    return {
        "dates": {
            "right date": Share.of(o.right for o in dated),
            "plan or not, of the right": Share.of(o.planned_right for o in dated if o.right),
            "undated left undated": Share.of(o.right for o in undated),
            "altered": Share.of(o.altered for o in outcomes),
        },
        "dates right, by language": _grouped(outcomes, lambda sentence: sentence.language),
        "dates right, by kind": _grouped(outcomes, lambda sentence: sentence.kind),
    }


def _grouped(outcomes: Sequence[DateOutcome], group: Callable[[DatedSentence], str]) -> dict[str, Figure]:
    names = sorted({group(outcome.sentence) for outcome in outcomes})
    return {name: Share.of(o.right for o in outcomes if group(o.sentence) == name) for name in names}


def _date_misses(outcome: DateOutcome) -> Iterator[str]:
    dates = outcome.sentence.dates[:1]
    label = ", ".join(f"{one.words!r} {_span(one.start, one.end)}" for one in dates) or "no date"
    if not outcome.right:
        yield f"{_described(outcome.sentence)}: should be {label}, is {outcome.dated_as}"
    elif not outcome.planned_right:
        yield f"{_described(outcome.sentence)}: plan or not is wrong: {label}, is {outcome.dated_as}"


def _described(sentence: DatedSentence) -> str:
    said_at = f"{sentence.said_at:%Y-%m-%d %H:%M}"
    return f"{sentence.id} {sentence.language} {sentence.kind}, said {said_at}: {sentence.text}"
