"""The channels, written for obviousness: what every store's search must answer.

The formulas here are the reference for authors of stores.

Keyword: the sum over query terms of weight x idf x tf (k1 + 1) / (tf + k1 (1 - b + b len / avglen)) with
idf = ln(1 + (N - df + 0.5) / (df + 0.5)). N, df and avglen count the bank's facts that are not closed
(retired_at is None), whatever the filter; len is the sum of a fact's weighted term frequencies.

Fuzzy: the mean over the distinct query words of the best similarity with one of the fact's words; a
similarity below the threshold counts 0. Similarity is the Jaccard coefficient of the words' trigrams
(padded by two blanks before and one after), and at least 0.5 + 0.5 len(word) / len(other) when the
query's word, of three letters or more, is contained in the other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import numpy as np

from perdure.domain.fact import Entity, Fact, Link
from perdure.domain.filter import Filter, admits
from perdure.domain.recall import Hit
from perdure.ports.embedder import Vector
from perdure.ports.probe import (
    FuzzyProbe,
    KeywordProbe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import Features


def best(scores: Mapping[str, float], limit: int, min_score: float | None = None) -> list[Hit]:
    """Hits by falling score, ties by id."""
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(ident, score) for ident, score in ranked if min_score is None or score >= min_score][:limit]


def cosine(left: Vector, right: Vector) -> float:
    """The product of two unit vectors."""
    return float(np.dot(left.astype(np.float64), right.astype(np.float64)))


def semantic(
    probe: SemanticProbe, facts: Iterable[Fact], features: Mapping[str, Features], limit: int
) -> list[Hit]:
    """Every admitted fact that has a vector in the view."""
    scores = {
        fact.id: cosine(features[fact.id].vectors[probe.view], probe.vector)
        for fact in facts
        if probe.view in features[fact.id].vectors
    }
    return best(scores, limit, probe.min_score)


def keyword(
    probe: KeywordProbe,
    facts: Iterable[Fact],
    bank_facts: Iterable[Fact],
    features: Mapping[str, Features],
    limit: int,
) -> list[Hit]:
    """BM25 as the module's docstring states it."""
    current = [features[fact.id].terms for fact in bank_facts if fact.retired_at is None]
    count = len(current)
    average = sum(sum(terms.values()) for terms in current) / count if count else 0.0
    idf = {}
    for term in probe.terms:
        df = sum(1 for terms in current if terms.get(term, 0.0) > 0.0)
        idf[term] = math.log(1 + (count - df + 0.5) / (df + 0.5))
    scores = {}
    for fact in facts:
        terms = features[fact.id].terms
        length = sum(terms.values())
        relative = length / average if average else 1.0
        shared = [term for term in probe.terms if terms.get(term, 0.0) > 0.0]
        if shared:
            scores[fact.id] = math.fsum(
                probe.terms[term] * idf[term] * terms[term] * (probe.k1 + 1)
                / (terms[term] + probe.k1 * (1 - probe.b + probe.b * relative))
                for term in shared
            )  # fmt: skip
    return best(scores, limit, probe.min_score)


def trigrams(word: str) -> set[str]:
    """Trigrams of the word padded by two blanks before and one after."""
    padded = f"  {word} "
    return {padded[index : index + 3] for index in range(len(padded) - 2)}


def similarity(wanted: str, word: str) -> float:
    """How alike a query's word and a vocabulary word are."""
    ours, theirs = trigrams(wanted), trigrams(word)
    jaccard = len(ours & theirs) / len(ours | theirs)
    if len(wanted) >= 3 and wanted in word:
        return max(jaccard, 0.5 + 0.5 * len(wanted) / len(word))
    return jaccard


def fuzzy(
    probe: FuzzyProbe, facts: Iterable[Fact], features: Mapping[str, Features], limit: int
) -> list[Hit]:
    """Mean of the best similarities, as the module's docstring states it."""
    wanted = list(dict.fromkeys(probe.words))
    scores = {}
    for fact in facts:
        nearest = [
            max((similarity(word, known) for known in features[fact.id].words), default=0.0)
            for word in wanted
        ]
        kept = [value for value in nearest if value >= probe.threshold]
        if kept and sum(kept) > 0:
            scores[fact.id] = math.fsum(kept) / len(wanted)
    return best(scores, limit, probe.min_score)


def signature(
    probe: SignatureProbe, facts: Iterable[Fact], features: Mapping[str, Features], limit: int
) -> list[Hit]:
    """Share of equal bits among those facts that carry a signature."""
    wanted = int.from_bytes(probe.signature, "big")
    scores = {}
    for fact in facts:
        held = features[fact.id].signature
        if held and len(held) == len(probe.signature):
            different = (int.from_bytes(held, "big") ^ wanted).bit_count()
            scores[fact.id] = 1.0 - different / (8 * len(held))
    return best(scores, limit, probe.min_score)


def relation(
    probe: RelationProbe, facts: Iterable[Fact], entities: Mapping[str, Entity], limit: int
) -> list[Hit]:
    """Weight of the subject's entity plus weight of the object's; names and aliases match in any case."""
    weights: dict[str, float] = {}
    for ident, weight in probe.entities.items():
        names = {ident}
        if ident in entities:
            names |= {entities[ident].name, *entities[ident].aliases}
        for name in names:
            weights[name.casefold()] = max(weight, weights.get(name.casefold(), 0.0))
    scores = {}
    for fact in facts:
        if fact.subject is None or fact.relation is None or fact.object is None:
            continue
        if probe.relation is not None and fact.relation.casefold() != probe.relation.casefold():
            continue
        score = weights.get(fact.subject.casefold(), 0.0) + weights.get(fact.object.casefold(), 0.0)
        if score > 0:
            scores[fact.id] = score
    return best(scores, limit)


def temporal(
    probe: TemporalProbe,
    wanted: Filter,
    facts: Iterable[Fact],
    features: Mapping[str, Features],
    links: Iterable[Link],
    limit: int,
) -> list[Hit]:
    """Facts of the window, its slices taking turns; what room is left goes to facts linked with those.

    With a vector a fact scores its cosine (0 without a vector in the view); without one, how near its
    date is to the window's centre. Open sides of the window end at the first or last date found.
    A linked fact scores its best link weight times the score of the fact in the window (at least 0).
    """
    facts = list(facts)
    inside = {fact.id: fact for fact in facts if admits(_within(wanted, probe), fact)}
    dates = {ident: date for ident, fact in inside.items() if (date := fact.dated) is not None}
    if not dates or limit < 1:
        return []
    start = probe.window.start or min(dates.values())
    end = probe.window.end or max(dates.values())
    if probe.vector is None:
        scores = {ident: _nearness(date, probe, start, end) for ident, date in dates.items()}
    else:
        scores = dict.fromkeys(dates, 0.0)
        scores |= {
            ident: cosine(features[ident].vectors[probe.view], probe.vector)
            for ident in dates
            if probe.view in features[ident].vectors
        }
    hits = _take_turns(scores, dates, start, end, probe.slices)[:limit]
    found = {hit.fact_id: max(hit.score, 0.0) for hit in hits}
    others = {fact.id for fact in facts} - inside.keys()
    reached: dict[str, float] = {}
    for link in links:
        for near, far in ((link.source, link.target), (link.target, link.source)):
            if link.kind in probe.spread and near in found and far in others:
                reached[far] = max(reached.get(far, 0.0), found[near] * link.weight)
    return hits + best(reached, limit - len(hits))


def _within(wanted: Filter, probe: TemporalProbe) -> Filter:
    return Filter(now=wanted.now, any_time=True, include_expired=True, during=probe.window)


def _nearness(date: datetime, probe: TemporalProbe, start: datetime, end: datetime) -> float:
    one_sided = probe.window.is_open and probe.window.centre is not None
    centre = probe.window.centre or start + (end - start) / 2
    reach = (end - start) if one_sided else (end - start) / 2
    return 1.0 - min(abs(date - centre) / reach, 1.0) if reach > timedelta(0) else 1.0


def _take_turns(
    scores: Mapping[str, float], dates: Mapping[str, datetime], start: datetime, end: datetime, slices: int
) -> list[Hit]:
    """Round r holds the r-th best fact of each slice; within a round the better comes first."""
    width = (end - start) / slices
    members: dict[int, dict[str, float]] = defaultdict(dict)
    for ident, score in scores.items():
        place = math.floor((dates[ident] - start) / width) if width > timedelta(0) else 0
        members[min(max(place, 0), slices - 1)][ident] = score
    rounds: dict[int, dict[str, float]] = defaultdict(dict)
    for slice_scores in members.values():
        for turn, hit in enumerate(best(slice_scores, len(slice_scores))):
            rounds[turn][hit.fact_id] = hit.score
    return [hit for turn in sorted(rounds) for hit in best(rounds[turn], len(rounds[turn]))]
