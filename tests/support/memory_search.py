"""The channels, written for obviousness: what every store's search must answer.

The formulas here are the reference for authors of stores.

Keyword: the sum over query terms of weight x idf x tf (k1 + 1) / (tf + k1 (1 - b + b len / avglen)) with
idf = ln(1 + (N - df + 0.5) / (df + 0.5)) (BM25, Robertson and Zaragoza 2009). N, df and avglen count the bank's facts that are
not closed (`Fact.is_open`), whatever the filter; len is the sum of a fact's weighted term frequencies.

Fuzzy: the mean over the distinct query words of the best similarity with one of the fact's words; a similarity below the
threshold counts 0. Similarity is the Jaccard coefficient of the words' trigrams (padded by two blanks before and one after),
and at least 0.5 + 0.5 len(word) / len(other) when the query's word, of three letters or more, is contained in the other.

Wherever scores are equal, the fact recorded first comes first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import numpy as np

from perdure.domain.fact import Entity, Fact, Link, LinkKind
from perdure.domain.filter import Filter, admits
from perdure.domain.recall import Hit
from perdure.domain.time import Window
from perdure.ports.embedder import Vector
from perdure.ports.probe import (
    MOST_TERMS,
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    Probe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import Features
from perdure.stores.index.packing import term_hash


class MemorySearch:
    """Answers probes over the facts of one bank that a filter admits."""

    def __init__(
        self,
        facts: Mapping[str, Fact],
        features: Mapping[str, Features],
        links: Iterable[Link],
        entities: Mapping[str, Entity],
        where: Filter,
    ) -> None:
        """`facts` are all facts of the bank in recorded order."""
        self._bank_facts = facts
        self._recorded = {fact_id: number for number, fact_id in enumerate(facts)}
        self._facts = {fact_id: fact for fact_id, fact in facts.items() if admits(where, fact)}
        self._features = features
        self._links = list(links)
        self._entities = entities

    def answer(self, probe: Probe, limit: int) -> list[Hit]:
        """The best hits of a probe."""
        match probe:
            case SemanticProbe():
                return self._best(self._cosines(probe.vector, probe.view), limit, probe.min_score)
            case KeywordProbe():
                return self._best(self._bm25(probe), limit, probe.min_score)
            case GraphProbe():
                return self._best(self._graph(probe), limit)
            case TemporalProbe():
                return self._temporal(probe, limit)
            case FuzzyProbe():
                return self._best(self._fuzzy(probe), limit, probe.min_score)
            case SignatureProbe():
                return self._best(self._equal_bits(probe.signature), limit, probe.min_score)
            case RelationProbe():
                return self._best(self._relation(probe), limit)
            case PageRankProbe():
                return self._best(self._pagerank(probe), limit)

    def _best(self, scores: Mapping[str, float], limit: int, min_score: float | None = None) -> list[Hit]:
        ranked = sorted(scores.items(), key=lambda item: (-item[1], self._recorded[item[0]]))
        return [Hit(*item) for item in ranked if min_score is None or item[1] >= min_score][:limit]

    def _cosines(self, vector: Vector, view: str) -> dict[str, float]:
        """Of every admitted fact that has a vector in the view."""
        vectors = {fact_id: self._features[fact_id].vectors for fact_id in self._facts}
        return {
            fact_id: float(np.dot(views[view].astype(np.float64), vector.astype(np.float64)))
            for fact_id, views in vectors.items()
            if view in views
        }

    def _bm25(self, probe: KeywordProbe) -> dict[str, float]:
        open_facts = [fact.id for fact in self._bank_facts.values() if fact.is_open]
        open_terms = [self._features[fact_id].terms for fact_id in open_facts]
        count = len(open_terms)
        average = sum(sum(terms.values()) for terms in open_terms) / count if count else 0.0
        idf = {}
        frequency = {term: sum(terms.get(term, 0.0) > 0.0 for terms in open_terms) for term in probe.terms}
        present = {term for own in self._features.values() for term in own.terms}
        rarest = sorted(frequency.keys() & present, key=lambda term: (frequency[term], term_hash(term)))
        for term in rarest[:MOST_TERMS]:
            df = frequency[term]
            idf[term] = math.log(1 + (count - df + 0.5) / (df + 0.5))
        scores = {}
        for fact_id in self._facts:
            terms = self._features[fact_id].terms
            relative = sum(terms.values()) / average if average else 1.0
            shared = [term for term in idf if terms.get(term, 0.0) > 0.0]
            if shared:
                scores[fact_id] = math.fsum(
                    probe.terms[term] * idf[term] * terms[term] * (probe.k1 + 1)
                    / (terms[term] + probe.k1 * (1 - probe.b + probe.b * relative))
                    for term in shared
                )  # fmt: skip
        return scores

    def _fuzzy(self, probe: FuzzyProbe) -> dict[str, float]:
        words = list(dict.fromkeys(probe.words))
        scores = {}
        for fact_id in self._facts:
            nearest = [
                max((similarity(word, other) for other in self._features[fact_id].words), default=0.0)
                for word in words
            ]
            similar = [value for value in nearest if value >= probe.threshold]
            if similar and sum(similar) > 0:
                scores[fact_id] = math.fsum(similar) / len(words)
        return scores

    def _equal_bits(self, signature: bytes) -> dict[str, float]:
        """Of every admitted fact that has a signature."""
        asked = int.from_bytes(signature, "big")
        scores = {}
        for fact_id in self._facts:
            own = self._features[fact_id].signature
            if own and len(own) == len(signature):
                scores[fact_id] = 1.0 - (int.from_bytes(own, "big") ^ asked).bit_count() / (8 * len(own))
        return scores

    def _relation(self, probe: RelationProbe) -> dict[str, float]:
        """Weight of the subject's entity plus weight of the object's; names and aliases match in any case."""
        weights: dict[str, float] = {}
        for entity_id, weight in probe.entities.items():
            entity = self._entities.get(entity_id)
            names = {entity_id, entity.name, *entity.aliases} if entity else {entity_id}
            for name in names:
                weights[name.casefold()] = max(weight, weights.get(name.casefold(), 0.0))
        scores = {}
        for fact in self._facts.values():
            if fact.subject is None or fact.relation is None or fact.object is None:
                continue
            if probe.relation is not None and fact.relation.casefold() != probe.relation.casefold():
                continue
            score = weights.get(fact.subject.casefold(), 0.0) + weights.get(fact.object.casefold(), 0.0)
            if score > 0:
                scores[fact.id] = score
        return scores

    def _temporal(self, probe: TemporalProbe, limit: int) -> list[Hit]:
        """Facts of the window, its slices taking turns; what room is left goes to facts linked with those.

        With a vector a fact scores its cosine (0 without a vector in the view); without one, how near its date is to the
        window's centre. Open sides of the window end at the first or last date found. A linked fact scores its best link
        weight times the score of the fact in the window (at least 0).
        """
        dates = {
            fact.id: fact.likely_dated
            for fact in self._facts.values()
            if fact.likely_dated is not None and _happened_in(fact, probe.window)
        }
        if not dates:
            return []
        start = probe.window.start or min(dates.values())
        end = probe.window.end or max(dates.values())
        if probe.vector is None:
            scores = {fact_id: nearness(date, probe, start, end) for fact_id, date in dates.items()}
        else:
            cosines = self._cosines(probe.vector, probe.view)
            scores = {fact_id: cosines.get(fact_id, 0.0) for fact_id in dates}
        hits = self._take_turns(scores, dates, start, end, probe.slices)[:limit]
        reached: dict[str, float] = {}
        returned = {hit.fact_id: max(hit.score, 0.0) for hit in hits}
        for link in self._links:
            for near, far in ((link.source, link.target), (link.target, link.source)):
                if link.kind in probe.spread and near in returned and far in self._facts and far not in dates:
                    reached[far] = max(reached.get(far, 0.0), returned[near] * link.weight)
        return hits + self._best(reached, limit - len(hits))

    def _take_turns(
        self,
        scores: Mapping[str, float],
        dates: Mapping[str, datetime],
        start: datetime,
        end: datetime,
        slices: int,
    ) -> list[Hit]:
        """Round r holds the r-th best fact of each slice; within a round the better comes first."""
        width = (end - start) / slices
        members: dict[int, dict[str, float]] = defaultdict(dict)
        for fact_id, score in scores.items():
            number = math.floor((dates[fact_id] - start) / width) if width > timedelta(0) else 0
            members[min(max(number, 0), slices - 1)][fact_id] = score
        rounds: dict[int, dict[str, float]] = defaultdict(dict)
        for slice_scores in members.values():
            for turn, hit in enumerate(self._best(slice_scores, len(slice_scores))):
                rounds[turn][hit.fact_id] = hit.score
        return [hit for turn in sorted(rounds) for hit in self._best(rounds[turn], len(rounds[turn]))]

    def _graph(self, probe: GraphProbe) -> dict[str, float]:
        """Spreading activation among admitted facts, as GraphProbe states it."""
        members = self._members(probe.hub_cap)
        frontier = {fact_id: value for fact_id, value in probe.facts.items() if fact_id in self._facts}
        frontier = {fact_id: value for fact_id, value in frontier.items() if value > 0}
        seeds, totals, entities = set(frontier), dict(frontier), dict(probe.entities)
        expanded: set[str] = set()
        for _ in range(probe.hops):
            frontier = {hit.fact_id: hit.score for hit in self._best(frontier, probe.breadth)}
            expanded |= frontier.keys()
            received = self._spread(members, frontier, entities)
            for fact_id, score in received.items():
                totals[fact_id] = totals.get(fact_id, 0.0) + score
            frontier = {
                fact_id: probe.decay * min(1.0, score)
                for fact_id, score in received.items()
                if fact_id not in expanded
            }
            entities = {}
        if not probe.include_seeds:
            return {fact_id: score for fact_id, score in totals.items() if fact_id not in seeds}
        return totals

    def _members(self, hub_cap: int) -> dict[str, set[str]]:
        """Entity id -> the admitted facts it joins: all, or of a hub the best-connected."""
        degree = {fact.id: len(set(fact.entity_ids)) for fact in self._facts.values()}
        for link in self._links:
            for end in (link.source, link.target):
                if end in degree:
                    degree[end] += 1
        mentioning: dict[str, list[str]] = defaultdict(list)
        for fact in self._facts.values():
            for entity in set(fact.entity_ids):
                mentioning[entity].append(fact.id)
        return {
            entity: set(
                sorted(fact_ids, key=lambda fact_id: (-degree[fact_id], self._recorded[fact_id]))[:hub_cap]
            )
            for entity, fact_ids in mentioning.items()
        }

    def _spread(
        self, members: Mapping[str, set[str]], frontier: Mapping[str, float], entities: Mapping[str, float]
    ) -> dict[str, float]:
        """What one step from the frontier and the entities brings to each fact; none excites itself."""
        excited: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for fact_id, value in frontier.items():
            for entity in set(self._facts[fact_id].entity_ids):
                excited[entity].append((value, fact_id))
        for entity, value in entities.items():
            excited[entity].append((value, ""))
        by_kind: dict[LinkKind, dict[str, float]] = {kind: {} for kind in LinkKind}
        for link in self._links:
            for near, far in ((link.source, link.target), (link.target, link.source)):
                if near in frontier and far in self._facts and near != far:
                    strongest = by_kind[link.kind]
                    strongest[far] = max(strongest.get(far, 0.0), frontier[near] * link.weight)
        received = {}
        for fact_id, fact in self._facts.items():
            shared = math.fsum(
                max((value for value, origin in excited[entity] if origin != fact_id), default=0.0)
                for entity in set(fact.entity_ids)
                if entity in excited and fact_id in members[entity]
            )
            score = (
                math.tanh(0.5 * shared)
                + by_kind[LinkKind.SEMANTIC].get(fact_id, 0.0)
                + by_kind[LinkKind.CAUSAL].get(fact_id, 0.0)
            )
            if score > 0:
                received[fact_id] = score
        return received

    def _pagerank(self, probe: PageRankProbe) -> dict[str, float]:
        """Mass walks entity -> fact -> entity, split equally at each step, and returns to the seeds.

        An entity hands its mass to the admitted facts it joins (of a hub the best-connected), a fact to all its entities.
        Seeds without an admitted fact are left out.
        """
        members = self._members(probe.hub_cap)
        entities = {fact.id: sorted(set(fact.entity_ids)) for fact in self._facts.values()}
        seeds = {entity: weight for entity, weight in probe.entities.items() if entity in members}
        total = math.fsum(weight for weight in seeds.values() if weight > 0)
        if total <= 0:
            return {}
        home = {entity: weight / total for entity, weight in seeds.items() if weight > 0}
        mass = dict(home)
        for _ in range(probe.sweeps):
            arriving: dict[str, float] = defaultdict(float)
            for entity, value in mass.items():
                for fact_id in members[entity]:
                    for neighbour in entities[fact_id]:
                        arriving[neighbour] += value / len(members[entity]) / len(entities[fact_id])
            mass = {
                entity: (1 - probe.damping) * home.get(entity, 0.0)
                + probe.damping * arriving.get(entity, 0.0)
                for entity in home.keys() | arriving.keys()
            }
        scores = {
            fact_id: math.fsum(mass.get(entity, 0.0) for entity in own) for fact_id, own in entities.items()
        }
        return {fact_id: score for fact_id, score in scores.items() if score > 0}


def _happened_in(fact: Fact, window: Window) -> bool:
    """Whether it happened (undated: was said) in the window, by a guess where the date is unsure."""
    if fact.occurred is None:
        return window.overlaps(fact.mentioned_at, fact.mentioned_at)
    return window.overlaps(fact.occurred_start, fact.occurred_end)


def trigrams(word: str) -> set[str]:
    """Trigrams of the word padded by two blanks before and one after."""
    padded = f"  {word} "
    return {padded[index : index + 3] for index in range(len(padded) - 2)}


def similarity(word: str, other: str) -> float:
    """How alike a query's word and a vocabulary word are."""
    ours, theirs = trigrams(word), trigrams(other)
    jaccard = len(ours & theirs) / len(ours | theirs)
    if len(word) >= 3 and word in other:
        return max(jaccard, 0.5 + 0.5 * len(word) / len(other))
    return jaccard


def nearness(date: datetime, probe: TemporalProbe, start: datetime, end: datetime) -> float:
    """1 at the centre of the window, 0 at its ends; with one open side, 1 at the side that is given."""
    one_sided = probe.window.is_open and probe.window.centre is not None
    centre = probe.window.centre or start + (end - start) / 2
    reach = (end - start) if one_sided else (end - start) / 2
    return 1.0 - min(abs(date - centre) / reach, 1.0) if reach > timedelta(0) else 1.0
