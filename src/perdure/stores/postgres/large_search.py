"""The channels of a large bank in SQL, by the formulas of `perdure.stores.index`.

Semantic search goes by pgvector's HNSW (Malkov and Yashunin 2018), scanned on until enough admitted facts
came; keyword search by MaxScore (Turtle and Flood 1995) over blocks of postings; the others by indexed rows.
All but semantic search and PageRank around hubs are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from perdure.domain.fact import LinkKind
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
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
from perdure.ports.store import Order, Selection
from perdure.stores.index.arrays import Scores
from perdure.stores.index.feed import FactNos
from perdure.stores.index.fuzzy import inner_trigrams, similarities, trigram_keys
from perdure.stores.index.graph import StrongestActivation, pagerank, saturated, summed
from perdure.stores.index.keyword import inverse_document_frequency, saturated_frequency
from perdure.stores.index.packing import digest, micros, name_hash, term_hash
from perdure.stores.index.rank import best, hits
from perdure.stores.index.signature import SIGNATURE_BYTES
from perdure.stores.index.temporal import centre_and_reach, nearness, slice_width, take_turns, time_slices
from perdure.stores.postgres.connections import SCHEMA_NAME
from perdure.stores.postgres.large_filter import (
    DATED,
    Condition,
    admitted,
    every,
    happened_during,
    selected,
    signed,
)
from perdure.stores.postgres.large_postings import Postings, postings_at, postings_of
from perdure.stores.postgres.large_rows import VECTORS, LargeBank
from perdure.stores.sql.columns import Values

MIN_EF, MAX_EF = 200, 1000
"""Candidates that HNSW keeps while it searches: twice the limit, within pgvector's bounds."""
MAX_SCANNED = 20_000
"""Most vectors that HNSW visits for a strict filter; then the admitted ones are compared."""
RARE_TERM = 2_000
"""Terms in at most this many facts are read first and together."""
_FIRST_CHECK = 4
"""The filter checks this many times the wanted facts, then four times as many, and so on."""
_PAGERANK_FACTS = 20_000
"""Facts that PageRank reaches, at most."""
_PLAIN_VIEW = re.compile(r"\w+")
_BY_NUMBER = " ORDER BY no"
_EPSILON = 1e-9

SelectAll = Callable[[Sequence[tuple[str, Sequence[object]]]], list[list[Values]]]
"""Runs queries with their values in one transaction and one round trip."""


def vector_index(bank: int, view: str) -> str:
    """Return the name of the HNSW index over a bank's vectors of a view."""
    return f"large_vector_{bank}_{crc32(view.encode()):08x}"


def vector_literal(vector: Vector) -> str:
    """Return a vector as pgvector reads it."""
    return "[" + ",".join(map(repr, vector.astype(np.float32).tolist())) + "]"


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Facts that were read; row n has numbers[n] and ids[n]."""

    numbers: FactNos
    ids: NDArray[np.object_]

    @classmethod
    def of(cls, numbers: Sequence[int], ids: Sequence[str]) -> _Rows:
        return cls(np.array(numbers, np.int64), np.array([*ids, None], np.object_)[:-1])


class LargeSearch:
    """Searches one bank."""

    def __init__(self, select_all: SelectAll, bank: int, state: LargeBank, extension_schema: str) -> None:
        self._all = select_all
        self._bank = bank
        self._state = state
        self._float32 = f"{extension_schema}.vector"
        """pgvector's type; the name alone means our table."""
        path = f"{SCHEMA_NAME}, {extension_schema}"
        # A generic plan would know neither the bank's share nor the filter's.
        self._settings: tuple[str, Sequence[object]] = (
            "SELECT set_config('search_path', ?, true), set_config('plan_cache_mode', 'force_custom_plan', true)",
            (path,),
        )

    def search(
        self, probe: Probe, where: Filter, limit: int, names: Mapping[str, Sequence[str]]
    ) -> list[Hit]:
        """Search as `perdure.stores.index.snapshot.Snapshot.search` does."""
        condition = admitted(where)
        match probe:
            case SemanticProbe():
                return self._semantic(probe, condition, limit)
            case KeywordProbe():
                return self._keyword(probe, condition, limit)
            case GraphProbe():
                return self._graph(probe, condition, limit)
            case TemporalProbe():
                return self._temporal(probe, condition, limit)
            case FuzzyProbe():
                return self._fuzzy(probe, condition, limit)
            case SignatureProbe():
                return self._signature(probe, condition, limit)
            case RelationProbe():
                return self._relation(probe, condition, limit, names)
            case PageRankProbe():
                return self._pagerank(probe, condition, limit)

    def listing(self, selection: Selection, among: Collection[int] | None) -> tuple[list[int], int]:
        """List as `perdure.stores.index.snapshot.Snapshot.listing` does."""
        conditions = [selected(selection)]
        if among is not None:
            conditions.append(Condition("f.no = ANY(?::int8[])", (list(among),)))
        condition = every(conditions)
        descending = " DESC" if selection.order in (Order.LATEST_DATED, Order.NEWEST_RECORDED) else ""
        order = ("dated", "ordinal", "no") if selection.order in DATED else ("no",)
        ordered = ", ".join(f"f.{name}{descending}" for name in order)
        source = f"FROM large_fact AS f WHERE f.bank = ? AND {condition.sql}"
        values = (self._bank, *condition.values)
        totals, page = self._select_all(
            (f"SELECT count(*) {source}", values),
            (
                f"SELECT f.no {source} ORDER BY {ordered} LIMIT ? OFFSET ?",
                (*values, selection.limit, selection.offset),
            ),
        )
        return [no for (no,) in page], int(totals[0][0])

    # Semantic

    def _semantic(self, probe: SemanticProbe, condition: Condition, limit: int) -> list[Hit]:
        query = vector_literal(probe.vector)
        rows: list[Values] = []
        if _PLAIN_VIEW.fullmatch(probe.view):
            rows = self._nearest(probe, query, condition, limit, by_index=True)
        if len(rows) < limit:
            rows = self._nearest(probe, query, condition, limit, by_index=False)
        facts = _Rows.of([no for no, _, _ in rows], [fact_id for _, fact_id, _ in rows])
        scores = np.array([score for _, _, score in rows], np.float64)
        return hits(
            facts, best(facts, np.arange(len(rows)), scores, limit, min_score=probe.min_score, digits=6)
        )

    def _nearest(
        self, probe: SemanticProbe, query: str, condition: Condition, limit: int, *, by_index: bool
    ) -> list[Values]:
        """Return (number, id, cosine) of the nearest admitted facts: by HNSW, or compared one by one."""
        dimensions = len(probe.vector)
        values: tuple[object, ...] = ()
        if by_index:
            # The bank and the view stand as they are in the index's own condition, which values would not match.
            chosen = f"v.bank = {self._bank} AND v.view = '{probe.view}'"
            distance = f"(v.value::halfvec({dimensions})) <#> ?::halfvec({dimensions})"
        else:
            chosen, values = "v.bank = ? AND v.view = ?", (self._bank, probe.view)
            distance = "v.value <#> ?::halfvec"
        settings = (
            "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
            " set_config('hnsw.ef_search', ?, true), set_config('hnsw.max_scan_tuples', ?, true)",
            (str(min(MAX_EF, max(MIN_EF, 2 * limit))), str(MAX_SCANNED)),
        )
        nearest = (
            f"SELECT v.fact, f.id, v.value FROM {VECTORS} AS v"
            " JOIN large_fact AS f ON f.bank = v.bank AND f.no = v.fact"
            f" WHERE {chosen} AND f.bank = ? AND {condition.sql} ORDER BY {distance} LIMIT ?"
        )
        exact = f"SELECT near.fact, near.id, -(near.value::{self._float32} <#> ?::{self._float32}) FROM ({nearest}) AS near"
        return self._select_all(
            settings, (exact, (query, *values, self._bank, *condition.values, query, limit))
        )[1]

    # Keyword

    def _keyword(self, probe: KeywordProbe, condition: Condition, limit: int) -> list[Hit]:
        """Rank by BM25 with MaxScore: look up weak terms only for facts that may still rank."""
        weights: dict[int, list[float]] = {}
        for term in sorted(probe.terms):
            weights.setdefault(term_hash(term), []).append(probe.terms[term])
        terms = self._terms(probe, weights)
        candidates = _Candidates()
        admits = _Admission(self, condition)
        rare = [term for term in terms if term.facts <= RARE_TERM]
        waiting = [term for term in terms if term.facts > RARE_TERM]
        candidates.add(self._scored(probe, rare, postings_of(self._select, self._bank, _keys(rare))))
        while waiting:
            rest = sum(term.bound for term in waiting)
            threshold = self._lowest_of_best(candidates, admits, limit)
            if threshold is not None and threshold > rest + _EPSILON:
                likely = candidates.at_least(threshold - rest - _EPSILON)
                blocks = postings_at(self._select, self._bank, _keys(waiting), likely.numbers.tolist())
                likely.add(self._scored(probe, waiting, blocks), only_present=True)
                candidates = likely
                break
            following = [waiting.pop(0)]
            blocks = postings_of(self._select, self._bank, _keys(following))
            candidates.add(self._scored(probe, following, blocks))
        return self._best(candidates, admits, limit, min_score=probe.min_score)

    def _terms(self, probe: KeywordProbe, weights: Mapping[int, Sequence[float]]) -> list[_Term]:
        """Return the terms of a question that the bank has, the highest bound first."""
        query = (
            "SELECT key, open_facts, max_frequency FROM large_term WHERE bank = ? AND key = ANY(?::int8[])"
        )
        terms = []
        rows = sorted(self._select(query, self._bank, list(weights)), key=lambda row: (row[1], row[0]))
        for key, containing, highest in rows[:MOST_TERMS]:
            weight = sum(weights[key]) * inverse_document_frequency(self._state.open_facts, containing)
            # A length of 0 bounds those of all facts.
            bound = weight * float(
                saturated_frequency(np.array([highest]), np.zeros(1), probe.k1, probe.b)[0]
            )
            terms.append(_Term(key, containing, weight, max(bound, 0.0)))
        return sorted(terms, key=lambda term: -term.bound)

    def _scored(
        self, probe: KeywordProbe, terms: Sequence[_Term], blocks: Mapping[int, Postings]
    ) -> tuple[FactNos, Scores]:
        """Return (numbers, scores) of postings of terms, one line per posting."""
        numbers, scores = [np.empty(0, np.int64)], [np.empty(0)]
        average = self._state.open_length / self._state.open_facts if self._state.open_facts else 0.0
        for term in terms:
            postings = blocks.get(term.key)
            if postings is None:
                continue
            length = postings["length"].astype(np.float64)
            relative = length / average if average else np.ones(len(postings))
            frequency = postings["frequency"].astype(np.float64)
            numbers.append(postings["fact"].astype(np.int64))
            scores.append(term.weight * saturated_frequency(frequency, relative, probe.k1, probe.b))
        return np.concatenate(numbers), np.concatenate(scores)

    def _lowest_of_best(self, candidates: _Candidates, admits: _Admission, limit: int) -> float | None:
        """Return the score of the last of the best `limit` admitted candidates, None for fewer."""
        _, scores = admits.best(candidates, limit)
        return float(scores[-1]) if len(scores) == limit else None

    def _best(
        self, candidates: _Candidates, admits: _Admission, limit: int, *, min_score: float | None
    ) -> list[Hit]:
        numbers, scores = admits.best(candidates, limit)
        return self._hits(numbers, scores, limit, min_score=min_score)

    # Fuzzy

    def _fuzzy(self, probe: FuzzyProbe, condition: Condition, limit: int) -> list[Hit]:
        words = tuple(dict.fromkeys(probe.words))
        total = _Candidates()
        for word in words:
            similar = self._similar(word, probe.threshold)
            postings = postings_of(self._select, self._bank, [-no for no in similar])
            nearest = _Candidates()
            for key, some in postings.items():
                nearest.raise_to(some["fact"].astype(np.int64), similar[-key])
            total.add((nearest.numbers, nearest.scores))
        total.scores = total.scores / max(len(words), 1)
        return self._best(total, _Admission(self, condition), limit, min_score=probe.min_score)

    def _similar(self, word: str, threshold: float) -> dict[int, float]:
        """Return the number of a word of the bank -> how similar it is, of those that are similar enough."""
        trigrams = trigram_keys(word)
        query = (
            "SELECT w.no, w.word, w.trigrams, t.shared FROM (SELECT word, count(*) AS shared FROM large_trigram"
            " WHERE bank = ? AND trigram = ANY(?::int8[]) GROUP BY word) AS t"
            " JOIN large_word AS w ON w.bank = ? AND w.no = t.word"
            " WHERE t.shared >= ?::float8 * (?::int8 + w.trigrams - t.shared) OR t.shared >= ?"
        )
        inner = inner_trigrams(word) if len(word) >= 3 else 2**31
        rows = self._select(
            query, self._bank, trigrams, self._bank, max(threshold - _EPSILON, 0.0), len(trigrams), inner
        )
        shared = np.array([row[3] for row in rows], np.int64)
        theirs = np.array([row[2] for row in rows], np.int32)
        scores = similarities(word, shared, theirs, lambda at: str(rows[at][1])).tolist()
        return {
            row[0]: score for row, score in zip(rows, scores, strict=True) if score >= threshold and score > 0
        }

    # Signature and relation

    def _signature(self, probe: SignatureProbe, condition: Condition, limit: int) -> list[Hit]:
        if len(probe.signature) != SIGNATURE_BYTES:
            return []
        words = np.frombuffer(probe.signature, "<i8").tolist()
        differing = " + ".join(
            f"bit_count((f.signature[{at}] # ?::int8)::bit(64))" for at in range(1, len(words) + 1)
        )
        query = (
            f"SELECT f.no, f.id, {differing} AS differing FROM large_fact AS f"
            f" WHERE f.bank = ? AND cardinality(f.signature) = 4 AND {condition.sql}"
            " ORDER BY differing, f.no LIMIT ?"
        )
        rows = self._select(query, *words, self._bank, *condition.values, limit)
        shares = [1.0 - differing / (8.0 * SIGNATURE_BYTES) for _, _, differing in rows]
        return [
            Hit(row[1], share)
            for row, share in zip(rows, shares, strict=True)
            if probe.min_score is None or share >= probe.min_score
        ]

    def _relation(
        self, probe: RelationProbe, condition: Condition, limit: int, names: Mapping[str, Sequence[str]]
    ) -> list[Hit]:
        weights: dict[int, float] = {}
        for entity, weight in probe.entities.items():
            for name in (entity, *names.get(entity, ())):
                hashed = signed(name_hash(name))
                weights[hashed] = max(weight, weights.get(hashed, 0.0))
        conditions = [condition, Condition("f.subject <> 0 AND f.relation <> 0 AND f.object <> 0")]
        if probe.relation is not None:
            conditions.append(Condition("f.relation = ?", (signed(name_hash(probe.relation)),)))
        stated = every(conditions)
        hashes, values = list(weights), list(weights.values())
        query = (
            "WITH named AS (SELECT * FROM unnest(?::int8[], ?::float8[]) AS named (name, weight)),"
            " found AS (SELECT no FROM large_fact WHERE bank = ? AND subject <> 0 AND subject = ANY(?::int8[])"
            " UNION SELECT no FROM large_fact WHERE bank = ? AND object <> 0 AND object = ANY(?::int8[]))"
            " SELECT f.id, coalesce(s.weight, 0) + coalesce(o.weight, 0) AS score FROM found"
            " JOIN large_fact AS f ON f.bank = ? AND f.no = found.no"
            " LEFT JOIN named AS s ON s.name = f.subject LEFT JOIN named AS o ON o.name = f.object"
            f" WHERE coalesce(s.weight, 0) + coalesce(o.weight, 0) > 0 AND {stated.sql}"
            " ORDER BY score DESC, f.no LIMIT ?"
        )
        bank = self._bank
        rows = self._select(query, hashes, values, bank, hashes, bank, hashes, bank, *stated.values, limit)
        return [Hit(fact_id, score) for fact_id, score in rows]

    # Temporal

    def _temporal(self, probe: TemporalProbe, condition: Condition, limit: int) -> list[Hit]:
        """Let slices of the window take turns, and fill the rest with linked facts outside it."""
        window = happened_during(probe.window)
        inside = every([condition, window])
        bounds = self._window(probe, inside)
        if bounds is None:
            return []
        start, end = bounds
        rows = self._in_window(probe, inside, start, end, limit)
        if not rows:
            return []
        facts = _Rows.of([row[0] for row in rows], [row[1] for row in rows])
        dates = np.array([row[2] for row in rows], np.int64)
        slices = time_slices(dates, start, end, probe.slices)
        if probe.vector is None:
            scores = nearness(dates, probe, start, end)
        else:
            scores = np.array([row[3] for row in rows], np.float64).round(6)
        positions, scores = take_turns(facts, np.arange(len(rows)), scores, slices, limit)
        ranked = hits(facts, (positions, scores))
        if len(ranked) < limit and probe.spread:
            outside = every([condition, Condition(f"NOT ({window.sql})", window.values)])
            far, strength = self._neighbours(
                facts.numbers.take(positions), np.maximum(scores, 0.0), probe.spread, outside
            )
            reached = _Candidates()
            order = np.argsort(far, kind="stable")
            reached.raise_each(far.take(order), strength.take(order))
            ranked += self._hits(reached.numbers, reached.scores, limit - len(ranked))
        return ranked

    def _window(self, probe: TemporalProbe, inside: Condition) -> tuple[int, int] | None:
        """Return first and last microsecond of the window; an open side ends where the facts do."""
        if probe.window.start is not None and probe.window.end is not None:
            return micros(probe.window.start), micros(probe.window.end)
        query = f"SELECT min(f.first), max(f.first) FROM large_fact AS f WHERE f.bank = ? AND {inside.sql}"
        ((first, last),) = self._select(query, self._bank, *inside.values)
        if first is None:
            return None
        start = first if probe.window.start is None else micros(probe.window.start)
        return start, last if probe.window.end is None else micros(probe.window.end)

    def _in_window(
        self, probe: TemporalProbe, inside: Condition, start: int, end: int, limit: int
    ) -> list[Values]:
        """Return (number, id, date, cosine) of the best `limit` facts of each slice."""
        width = slice_width(start, end, probe.slices)
        last = probe.slices - 1
        one = "least(greatest((f.first - ?::int8) / ?::int8, 0), ?::int8)" if width > 0 else "0"
        sliced: tuple[object, ...] = (start, width, last) if width > 0 else ()
        cosine = "0.0::float8"
        query_vector: tuple[object, ...] = ()
        joined: tuple[object, ...] = ()
        order_values: tuple[object, ...]
        source = "large_fact AS f"
        if probe.vector is None:
            centre, reach = centre_and_reach(probe, start, end)
            ordered, order_values = "least(abs(f.first - ?::int8), ?::int8)", (centre, max(reach, 0))
        else:
            source += f" LEFT JOIN {VECTORS} AS v ON v.bank = ? AND v.view = ? AND v.fact = f.no"
            joined = (self._bank, probe.view)
            cosine = f"coalesce(-(v.value::{self._float32} <#> ?::{self._float32}), 0)"
            query_vector = order_values = (vector_literal(probe.vector),)
            ordered = f"{cosine} DESC"
        query = (
            "SELECT no, id, first, cosine FROM (SELECT f.no, f.id, f.first,"
            f" {cosine} AS cosine, row_number() OVER (PARTITION BY {one} ORDER BY {ordered}, f.no) AS place"
            f" FROM {source} WHERE f.bank = ? AND {inside.sql}) AS placed WHERE place <= ?"
        )
        return self._select(
            query, *query_vector, *sliced, *order_values, *joined, self._bank, *inside.values, limit
        )

    # Graph

    def _graph(self, probe: GraphProbe, condition: Condition, limit: int) -> list[Hit]:
        """Spread activation from seeds, as GraphProbe states it."""
        query = f"SELECT f.id, f.no FROM large_fact AS f WHERE f.bank = ? AND f.id = ANY(?::text[]) AND {condition.sql}"
        numbers: dict[str, int] = dict(self._select(query, self._bank, list(probe.facts), *condition.values))
        seeds = {numbers[one]: value for one, value in probe.facts.items() if one in numbers and value > 0}
        totals: dict[int, float] = dict(seeds)
        frontier, expanded, entities = dict(seeds), set[int](), probe.entities
        for _ in range(probe.hops):
            ranked = sorted(frontier.items(), key=lambda item: (-round(item[1], 12), item[0]))
            frontier = dict(ranked[: probe.breadth])
            expanded |= frontier.keys()
            received = self._spread(frontier, entities, probe.hub_cap, condition)
            for no, value in received.items():
                totals[no] = totals.get(no, 0.0) + value
            frontier = {
                no: probe.decay * min(1.0, value) for no, value in received.items() if no not in expanded
            }
            entities = {}
        if not probe.include_seeds:
            totals = {no: value for no, value in totals.items() if no not in seeds}
        reached = np.fromiter(totals, np.int64, len(totals))
        scores = np.fromiter(totals.values(), np.float64, len(totals))
        return self._hits(reached[scores > 0], scores[scores > 0], limit)

    def _spread(
        self, frontier: Mapping[int, float], entities: Mapping[str, float], hub_cap: int, condition: Condition
    ) -> dict[int, float]:
        """Return what one step brings to each fact."""
        near = np.fromiter(frontier, np.int64, len(frontier))
        activation = np.fromiter(frontier.values(), np.float64, len(frontier))
        mentions = self._select(
            "SELECT fact, entity FROM large_member WHERE bank = ? AND fact = ANY(?::int8[])",
            self._bank,
            near.tolist(),
        )
        named = [(signed(digest(entity)), weight) for entity, weight in entities.items() if weight > 0]
        strongest = StrongestActivation.of(
            np.array([entity for _, entity in mentions] + [entity for entity, _ in named], np.int64).view(
                np.uint64
            ),
            np.array([frontier[fact] for fact, _ in mentions] + [weight for _, weight in named], np.float64),
            np.array([fact for fact, _ in mentions] + [-1] * len(named), np.int64),
        )
        received: dict[int, float] = {}
        position, member = self._members(strongest.entities.view(np.int64).tolist(), hub_cap, condition)
        if len(member):
            facts, places = np.unique(member, return_inverse=True)
            shared = saturated(summed(places, strongest.brought(position, member), len(facts)))
            received = dict(zip(facts.tolist(), shared.tolist(), strict=True))
        for kind in (LinkKind.SEMANTIC, LinkKind.CAUSAL):
            best_link: dict[int, float] = {}
            far, strength = self._neighbours(near, activation, (kind,), condition)
            for no, value in zip(far.tolist(), strength.tolist(), strict=True):
                best_link[no] = max(value, best_link.get(no, 0.0))
            for no, value in best_link.items():
                received[no] = received.get(no, 0.0) + value
        return {no: value for no, value in received.items() if value > 0}

    def _members(
        self, entities: Sequence[int], cap: int, condition: Condition
    ) -> tuple[NDArray[np.int64], FactNos]:
        """Return pairs of an entity's position and an admitted fact, of a hub the best-connected."""
        if not entities:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        query = (
            "SELECT e.place - 1, m.fact FROM unnest(?::int8[]) WITH ORDINALITY AS e (entity, place), LATERAL"
            " (SELECT member.fact FROM large_member AS member"
            " JOIN large_fact AS f ON f.bank = ? AND f.no = member.fact"
            f" WHERE member.bank = ? AND member.entity = e.entity AND {condition.sql}"
            " ORDER BY member.degree DESC, member.fact LIMIT ?) AS m"
        )
        rows = self._select(query, list(entities), self._bank, self._bank, *condition.values, cap)
        pairs = np.array(rows, np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def _neighbours(
        self, near: FactNos, activation: Scores, kinds: Sequence[LinkKind], condition: Condition
    ) -> tuple[FactNos, Scores]:
        """Return the admitted facts that links join with `near`, and weight times activation of each link."""
        bank, numbers, names = self._bank, near.tolist(), [kind.value for kind in kinds]
        ends = " UNION ALL ".join(
            f"SELECT {one} AS near, {other} AS far, weight FROM link WHERE bank = ? AND {one} = ANY(?::int8[])"
            " AND kind = ANY(?::text[])"
            for one, other in (("source", "target"), ("target", "source"))
        )
        query = (
            f"SELECT l.near, l.far, l.weight FROM ({ends}) AS l"
            f" JOIN large_fact AS f ON f.bank = ? AND f.no = l.far WHERE {condition.sql}"
        )
        rows = self._select(query, bank, numbers, names, bank, numbers, names, bank, *condition.values)
        active = dict(zip(numbers, activation.tolist(), strict=True))
        far = np.array([row[1] for row in rows], np.int64)
        weights = np.array([row[2] for row in rows], np.float32)
        return far, np.array([active[row[0]] for row in rows], np.float64) * weights

    def _pagerank(self, probe: PageRankProbe, condition: Condition, limit: int) -> list[Hit]:
        """Rank over the facts and entities around the seeds; beyond _PAGERANK_FACTS mass goes no further."""
        seeds = {signed(digest(entity)): weight for entity, weight in probe.entities.items() if weight > 0}
        places: dict[int, int] = {}
        """Entity -> its position."""
        edges: list[tuple[NDArray[np.int64], FactNos]] = []
        memberships: dict[int, list[int]] = {}
        """Fact -> its entities."""
        fresh = list(seeds)
        for _ in range(probe.sweeps):
            for entity in fresh:
                places.setdefault(entity, len(places))
            position, facts = self._members(fresh, probe.hub_cap, condition)
            at = np.array([places[entity] for entity in fresh], np.int64)
            edges.append((at.take(position), facts))
            reached = self._entities_of(facts, memberships)
            fresh = [entity for entity in reached if entity not in places]
            if len(memberships) > _PAGERANK_FACTS:
                break
        for entity in fresh:
            places.setdefault(entity, len(places))
        _, facts = self._members(list(places), _PAGERANK_FACTS, condition)
        for entity in self._entities_of(facts, memberships):
            places.setdefault(entity, len(places))
        numbers = np.array(sorted(memberships), np.int64)
        counts = [len(memberships[no]) for no in numbers.tolist()]
        row = np.repeat(np.arange(len(numbers)), counts)
        position = np.array([places[e] for no in numbers.tolist() for e in memberships[no]], np.int64)
        home = np.zeros(len(places))
        for entity, weight in seeds.items():
            home[places[entity]] += weight
        out_position = np.concatenate([at for at, _ in edges])
        out_row = np.searchsorted(numbers, np.concatenate([facts for _, facts in edges]))
        scores = pagerank(probe, home, (position, row), (out_position, out_row), len(numbers))
        return self._hits(numbers[scores > 0], scores[scores > 0], limit, digits=12)

    def _entities_of(self, facts: FactNos, memberships: dict[int, list[int]]) -> list[int]:
        """Return the entities of facts that were not read before, which are added to `memberships`."""
        anew = sorted(set(facts.tolist()) - memberships.keys())
        query = "SELECT fact, entity FROM large_member WHERE bank = ? AND fact = ANY(?::int8[])"
        rows = self._select(query, self._bank, anew)
        memberships.update({no: [] for no in anew})
        for no, entity in rows:
            memberships[no].append(entity)
        return list(dict.fromkeys(entity for _, entity in rows))

    # What they share

    def _hits(
        self,
        numbers: FactNos,
        scores: Scores,
        limit: int,
        *,
        min_score: float | None = None,
        digits: int = 9,
    ) -> list[Hit]:
        """Return hits by falling score, ties by number."""
        rows = _Rows(numbers, np.empty(0, np.object_))
        order, scores = best(rows, np.arange(len(numbers)), scores, limit, min_score=min_score, digits=digits)
        chosen = numbers.take(order).tolist()
        query = "SELECT no, id FROM large_fact WHERE bank = ? AND no = ANY(?::int8[])"
        ids: dict[int, str] = dict(self._select(query, self._bank, chosen)) if chosen else {}
        return [Hit(ids[no], score) for no, score in zip(chosen, scores.tolist(), strict=True) if no in ids]

    def admitted_of(self, numbers: Sequence[int], condition: Condition) -> list[int]:
        """Return those facts that the filter admits."""
        query = (
            "SELECT f.no FROM unnest(?::int8[]) AS asked (no)"
            f" JOIN large_fact AS f ON f.bank = ? AND f.no = asked.no WHERE {condition.sql}"
        )
        return [no for (no,) in self._select(query, list(numbers), self._bank, *condition.values)]

    def _select(self, query: str, *values: object) -> list[Values]:
        return self._all([self._settings, (query, values)])[1]

    def _select_all(self, *queries: tuple[str, Sequence[object]]) -> list[list[Values]]:
        return self._all([self._settings, *queries])[1:]


@dataclass(frozen=True, slots=True)
class _Term:
    key: int
    facts: int
    """Open facts that contain it."""
    weight: float
    """Of the question, times IDF."""
    bound: float
    """The most that it adds to a fact's score."""


def _keys(terms: Sequence[_Term]) -> list[int]:
    return [term.key for term in terms]


class _Candidates:
    """Facts with scores: `numbers` rise, `scores` stand at the same places."""

    def __init__(self) -> None:
        self.numbers: FactNos = np.empty(0, np.int64)
        self.scores: Scores = np.empty(0)

    def add(self, postings: tuple[FactNos, Scores], *, only_present: bool = False) -> None:
        """Add scores of facts; a fact may stand there more than once."""
        numbers, scores = postings
        if only_present:
            kept = np.isin(numbers, self.numbers)
            numbers, scores = numbers[kept], scores[kept]
        every_number, places = np.unique(np.concatenate([self.numbers, numbers]), return_inverse=True)
        self.scores = summed(places, np.concatenate([self.scores, scores]), len(every_number))
        self.numbers = every_number

    def raise_to(self, numbers: FactNos, score: float) -> None:
        """Give facts at least this score."""
        self.raise_each(np.unique(numbers), np.full(len(np.unique(numbers)), score))

    def raise_each(self, numbers: FactNos, scores: Scores) -> None:
        """Give each fact at least its score."""
        every_number, places = np.unique(np.concatenate([self.numbers, numbers]), return_inverse=True)
        highest = np.full(len(every_number), -np.inf)
        np.maximum.at(highest, places, np.concatenate([self.scores, scores]))
        self.numbers, self.scores = every_number, highest

    def at_least(self, score: float) -> _Candidates:
        """Return those with at least this score."""
        kept = self.scores >= score
        some = _Candidates()
        some.numbers, some.scores = self.numbers[kept], self.scores[kept]
        return some


class _Admission:
    """Asks the filter about candidates, best first, as many as it takes; what it answered is remembered."""

    def __init__(self, search: LargeSearch, condition: Condition) -> None:
        self._search = search
        self._condition = condition
        self._answers: dict[int, bool] = {}

    def best(self, candidates: _Candidates, limit: int) -> tuple[FactNos, Scores]:
        """Return the best `limit` admitted candidates by falling score, ties by number, and their scores."""
        scores = np.round(candidates.scores, 9)
        asked = 0
        size = max(_FIRST_CHECK * limit, 500)
        order = self._leading(candidates.numbers, scores, size)
        while True:
            some = candidates.numbers.take(order[asked:]).tolist()
            unknown = [no for no in some if no not in self._answers]
            if unknown:
                admitted = set(self._search.admitted_of(unknown, self._condition))
                self._answers.update({no: no in admitted for no in unknown})
            kept = [at for at in order.tolist() if self._answers[int(candidates.numbers[at])]]
            if len(kept) >= limit or len(order) == len(candidates.numbers):
                chosen = np.array(kept[:limit], np.int64)
                return candidates.numbers.take(chosen), scores.take(chosen)
            asked, size = len(order), 4 * size
            order = self._leading(candidates.numbers, scores, size)

    def _leading(self, numbers: FactNos, scores: Scores, size: int) -> NDArray[np.int64]:
        """Return positions of the `size` best by score, ties by number."""
        if len(scores) > size:
            border = np.partition(scores, len(scores) - size)[len(scores) - size]
            above, tied = np.flatnonzero(scores > border), np.flatnonzero(scores == border)
            chosen = np.concatenate([above, tied[: size - len(above)]])
        else:
            chosen = np.arange(len(scores))
        return chosen.take(np.lexsort((chosen, -scores.take(chosen))))
