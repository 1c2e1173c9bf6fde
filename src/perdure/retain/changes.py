"""Changes: which older fact a new one ends, and on which axis of time.

Words are not judged here. Facts are paired by a relation with one value at a time, which a caller or a language model states,
by a language model's proposal, or by a trained judge; order of time, trust and who speaks of whom decide which of a pair ends.
Whatever is not sure ends nothing: what is current is decided when it is asked.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from perdure.domain.fact import INSTRUCTION, PLANNED, QUESTION, UNSURE_DATE, Fact
from perdure.domain.filter import Filter
from perdure.errors import ModelError, public_message
from perdure.ports.extractor import Replacement
from perdure.ports.probe import SemanticProbe
from perdure.ports.reader import PlacedStatement, Reader
from perdure.ports.store import NewFact, Reading, Selection
from perdure.retain.commit import Closure
from perdure.text.names import normal_name
from perdure.text.relations import is_single_valued, same_value
from perdure.text.voice import voice_of

CURRENT_VALUES = 50
"""Facts of one subject and relation that are looked at, the newest first."""
AHEAD = timedelta(days=1)
"""What was said or holds from further ahead than this closes nothing: clocks and dates go wrong."""
CORRECTED_WITHIN = timedelta(days=30)
"""What was said longer ago is not taken back any more: it changed, whatever the words."""
EARLIER_STATEMENTS = 8
"""Earlier facts that a judge compares a new one with: the nearest in meaning."""
CHANGING = ("begins", "ended", "corrects")
"""Meanings of statements that may end an earlier one."""
LEAST_CHANGING = 0.5
"""Probability of such a meaning from which on a statement is compared with earlier ones."""
CERTAIN = 0.95
"""Probability from which on a judged change is believed; .3% of near misses reach it (docs/decisions/reader.md)."""
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a later statement does to an earlier one, as probabilities."""

    ends: float
    """The earlier was so and no longer is."""
    corrects: float
    """The earlier never was so."""
    same: float
    """Both say the same."""


class EffectJudge(Protocol):
    """Judges what later statements do to earlier ones."""

    def judge_effects(self, pairs: Sequence[tuple[PlacedStatement, PlacedStatement]]) -> Sequence[Effect]:
        """Return the effect of each pair (earlier, later)."""


_NO_EFFECT = Effect(ends=0.0, corrects=0.0, same=0.0)


class ReaderEffects:
    """Judges effects by the reader; if it fails, nothing is judged and a warning is logged."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def judge_effects(self, pairs: Sequence[tuple[PlacedStatement, PlacedStatement]]) -> Sequence[Effect]:
        """Return the effect of each pair (earlier, later); none where the later one states no change."""
        try:
            changing = self._changing({later for _, later in pairs})
            read = [pair for pair in pairs if pair[1] in changing]
            effects = dict(zip(read, self._reader.effects(read), strict=True)) if read else {}
        except ModelError as error:
            log.warning("changes were not judged: %s", public_message(error))
            return [_NO_EFFECT] * len(pairs)
        return [
            Effect(**{name: effects[pair].effects[name] for name in ("ends", "corrects", "same")})
            if pair in effects
            else _NO_EFFECT
            for pair in pairs
        ]

    def _changing(self, statements: set[PlacedStatement]) -> set[PlacedStatement]:
        """Return the statements that probably state a change."""
        ordered = sorted(statements, key=lambda statement: (statement.text, statement.before))
        readings = self._reader.meanings(ordered)
        return {
            statement
            for statement, reading in zip(ordered, readings, strict=True)
            if sum(reading.meanings[name] for name in CHANGING) >= LEAST_CHANGING
        }


def find_closures(
    reading: Reading,
    added: Sequence[NewFact],
    now: datetime,
    *,
    proposals: Mapping[str, Sequence[Replacement]] | None = None,
    judge: EffectJudge | None = None,
) -> list[Closure]:
    """Return the ends that the new facts put to older ones, stored or new; `proposals` are an extractor's, by new fact."""
    new = [one.fact for one in added if _is_usable(one.fact, now)]
    first: dict[str, Closure] = {}
    for closure in (
        *_by_relation(reading, new, now),
        *_proposed(reading, new, proposals or {}, now),
        *(_judged(reading, added, now, judge) if judge is not None else ()),
    ):
        first.setdefault(closure.fact_id, closure)
    return list(first.values())


def _by_relation(reading: Reading, new: Sequence[Fact], now: datetime) -> Iterator[Closure]:
    """Yield the ends of values of relations that have one at a time: each is ended by the first later one that differs."""
    stating = [fact for fact in new if fact.subject and fact.object and is_single_valued(fact.relation or "")]
    fresh = {fact.id for fact in stating}
    everything = Filter(include_closed=True, include_expired=True).at(now)
    for subject, relation in sorted(
        {(normal_name(fact.subject or ""), fact.relation or "") for fact in stating}
    ):
        own = [fact for fact in stating if _states(fact, subject, relation)]
        selections = [
            Selection(where=everything, subject=name, relation=relation, limit=CURRENT_VALUES)
            for name in sorted({fact.subject or "" for fact in own})
        ]
        stored = [fact for selection in selections for fact in reading.browse(selection).facts]
        own += [
            fact
            for fact in stored
            if fact.is_open and fact.valid_to is None and _is_usable(fact, now) and fact.object
        ]
        ordered = sorted(own, key=lambda fact: (_since(fact), fact.id in fresh, fact.ordinal, fact.id))
        for index, fact in enumerate(ordered):
            later = next(
                (
                    one
                    for one in ordered[index + 1 :]
                    if not same_value(one.object or "", fact.object or "") and _may_close(one, fact)
                ),
                None,
            )
            if later is not None and (later.id in fresh or fact.id in fresh):
                yield _close(fact, later, now, corrects=False)


def _states(fact: Fact, subject: str, relation: str) -> bool:
    return normal_name(fact.subject or "") == subject and fact.relation == relation


def _proposed(
    reading: Reading, new: Sequence[Fact], proposals: Mapping[str, Sequence[Replacement]], now: datetime
) -> Iterator[Closure]:
    """Yield the ends that an extractor proposes: it pairs two statements of one thing, which is later is decided here."""
    named = dict.fromkeys(one.fact_id for own in proposals.values() for one in own)
    stored = {fact.id: fact for fact in reading.facts(list(named)) if _may_end(fact, now)} if named else {}
    for fact in new:
        for proposal in proposals.get(fact.id, ()):
            other = stored.get(proposal.fact_id)
            if other is None or fact.source_text.rstrip().endswith("?"):
                continue
            earlier, later = (other, fact) if _said(other) <= _said(fact) else (fact, other)
            if _may_close(later, earlier) and _speaks_of_its_time(later, earlier):
                recent = _said(later) - _said(earlier) <= CORRECTED_WITHIN
                yield _close(earlier, later, now, corrects=proposal.corrects and later is fact and recent)


def _judged(
    reading: Reading, added: Sequence[NewFact], now: datetime, judge: EffectJudge
) -> Iterator[Closure]:
    """Yield the ends of which the judge is nearly certain, among the earlier statements nearest in meaning.

    A correction takes back one statement, the surest: it often names nothing of what it corrects.
    """
    usable = [one for one in added if "fact" in one.features.vectors and _is_usable(one.fact, now)]
    usable.sort(key=lambda one: _said(one.fact))  # stable: statements of one moment stay in their order
    pairs: list[tuple[Fact, NewFact]] = []
    for place, later in enumerate(usable):
        if not later.fact.is_planned:
            near = _nearest_earlier(reading, later, usable[:place], now)
            pairs += [(fact, later) for fact in near if _may_close(later.fact, fact)]
    passages = reading.passages([earlier.id for earlier, _ in pairs]) if pairs else {}
    contexts = {fact_id: passage.in_context for fact_id, passage in passages.items()}
    contexts |= {one.fact.id: one.features.passage_in_context for one in usable}
    placed = [
        (
            PlacedStatement.of(earlier, contexts.get(earlier.id, "")),
            PlacedStatement.of(later.fact, contexts[later.fact.id]),
        )
        for earlier, later in pairs
    ]
    surest: dict[str, tuple[float, Closure]] = {}
    corrected: dict[str, tuple[float, str]] = {}
    for (earlier, later), effect in zip(pairs, judge.judge_effects(placed) if placed else (), strict=True):
        probability = effect.ends + effect.corrects
        is_correction = effect.corrects > effect.ends
        if probability < CERTAIN or probability <= surest.get(earlier.id, (0.0, None))[0]:
            continue
        if is_correction:
            before = corrected.get(later.fact.id, (0.0, ""))
            if probability <= before[0]:
                continue
            surest.pop(before[1], None)
            corrected[later.fact.id] = (probability, earlier.id)
        surest[earlier.id] = probability, _close(earlier, later.fact, now, corrects=is_correction)
    yield from (closure for _, closure in surest.values())


def _nearest_earlier(
    reading: Reading, later: NewFact, in_batch: Sequence[NewFact], now: datetime
) -> list[Fact]:
    """Return the open statements before a new one that are nearest in meaning, stored ones and those retained with it."""
    vector = later.features.vectors["fact"]
    hits = reading.search(SemanticProbe(vector), Filter(questions=False).at(now), EARLIER_STATEMENTS)
    scores = {hit.fact_id: hit.score for hit in hits}
    stored = [fact for fact in reading.facts(list(scores)) if _said(fact) <= _said(later.fact)]
    scores |= {one.fact.id: float(one.features.vectors["fact"] @ vector) for one in in_batch}
    facts = [fact for fact in (*stored, *(one.fact for one in in_batch)) if _may_end(fact, now)]
    return sorted(facts, key=lambda fact: -scores[fact.id])[:EARLIER_STATEMENTS]


def _may_end(fact: Fact, now: datetime) -> bool:
    """Return whether a stored fact is open and was not recorded by a clock ahead of this one."""
    ahead = fact.recorded_at is not None and fact.recorded_at > now + AHEAD
    return fact.is_open and fact.valid_to is None and _is_usable(fact, now) and not ahead


def _is_usable(fact: Fact, now: datetime) -> bool:
    """Return whether a fact is neither an order nor a question to the agent, and not said or true from far ahead."""
    moments = [moment for moment in (fact.mentioned_at, fact.valid_from) if moment is not None]
    stated = INSTRUCTION not in fact.flags and QUESTION not in fact.flags
    return stated and all(moment <= now + AHEAD for moment in moments)


def _may_close(later: Fact, earlier: Fact) -> bool:
    """Return whether a later statement has the standing to end an earlier one.

    Lower trust never closes higher, a plan closes nothing, a tool or a web page only what such said, and what people said of themselves is not closed by others.
    """
    if later.trust < earlier.trust or PLANNED in later.flags or later.is_foreign > earlier.is_foreign:
        return False
    if earlier.speaker and not earlier.subject:
        return later.speaker == earlier.speaker
    subject = normal_name(earlier.subject or "")
    return not (_said_by(earlier, subject) and not _said_by(later, subject))


def _speaks_of_its_time(later: Fact, earlier: Fact) -> bool:
    """Return whether a later statement does not only tell of a time long before the earlier one was said."""
    over = later.occurred_end if UNSURE_DATE not in later.flags else None
    return over is None or over >= _said(earlier) - CORRECTED_WITHIN


def _said_by(fact: Fact, subject: str) -> bool:
    voice = voice_of(fact.speaker)
    return voice is not None and normal_name(voice.name) == subject


def _said(fact: Fact) -> datetime:
    return fact.mentioned_at or fact.recorded_at or _START_OF_TIME


def _since(fact: Fact) -> datetime:
    """Return when a statement began to hold."""
    return fact.valid_from or _said(fact)


def _close(fact: Fact, by: Fact, now: datetime, *, corrects: bool) -> Closure:
    """Return the end of a fact: a change ends it when the other began to hold, a correction takes it back from now on."""
    if corrects:
        return Closure(fact_id=fact.id, retired_at=max(now, fact.recorded_at or now), superseded_by=by.id)
    end = by.valid_from or by.occurred_start or by.mentioned_at or now
    start = fact.valid_from
    return Closure(
        fact_id=fact.id, valid_to=max(end, start) if start is not None else end, superseded_by=by.id
    )
