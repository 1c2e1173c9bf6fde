"""An index answers every probe as the oracle does, whatever happened to the bank before."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from random import Random
from threading import Event

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from perdure.domain.fact import Fact, Link
from perdure.domain.filter import Filter, admits
from perdure.domain.time import Window
from perdure.ports.probe import GraphProbe, Probe, SemanticProbe, TemporalProbe
from perdure.ports.store import Features, NewFact, Order, Selection
from perdure.stores.index import postings, vectors
from perdure.stores.index.bank_index import BankIndex
from tests.property.index_feed import ListFeed, expected_hits, expected_page, snapshot
from tests.support.agreement import assert_same_hits
from tests.support.sampler import ENTITIES, START, Sampler

CODED = 0.02
"""Largest difference between a cosine and that of int8 codes."""
SEEDS = st.integers(0, 2**32 - 1)
EVERYTHING = Filter(now=START, include_closed=True, include_expired=True)


def assert_answers(feed: ListFeed, index: BankIndex, probe: Probe, where: Filter, limit: int) -> None:
    """As the oracle, and ties in recorded order."""
    hits = snapshot(index, feed).search(probe, where, limit, feed.entity_names(ENTITIES))
    coded = isinstance(probe, SemanticProbe) and vectors.EXACT_UP_TO < 20_000
    expected = expected_hits(feed, probe, where, limit)
    if coded and probe.min_score is not None:
        # The rounding of codes may carry a fact over the lowest score, in either direction.
        sure = sum(hit.score >= probe.min_score + CODED for hit in expected)
        nearest = expected_hits(feed, replace(probe, min_score=probe.min_score - CODED), where, limit)
        assert sure <= len(hits)
        assert all(hit.score >= probe.min_score for hit in hits)
        expected = nearest[: len(hits)]
    try:
        assert_same_hits(expected, hits, CODED if coded else 1e-5)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{probe}\n{where}\nexpected {expected}\nfound    {hits}") from error
    if not isinstance(probe, TemporalProbe):
        for first, second in pairwise(hits):
            numbers = feed.number(first.fact_id), feed.number(second.fact_id)
            assert (-first.score, numbers[0]) < (-second.score, numbers[1])


def selections(sampler: Sampler, where: Filter) -> Iterator[Selection]:
    random = sampler.random
    for order in Order:
        yield Selection(where=where, order=order, offset=random.randrange(9))
        yield Selection(
            where=where,
            entity_id=random.choice((None, *ENTITIES)),
            speaker=random.choice((None, "ALICE", "")),
            subject=random.choice((None, "alice")),
            dated=random.choice((None, Window(), Window(*sampler.span()))),
            order=order,
            offset=random.randrange(4),
            limit=random.choice((1, 5, 100)),
        )


def another(sampler: Sampler) -> NewFact:
    """A fact whose id is not linked with."""
    new = sampler.new_fact()
    sampler.drawn_ids.remove(new.fact.id)
    return new


class IndexMachine(RuleBasedStateMachine):
    """One index looks after every step, one now and then; a third is loaded for every question."""

    @initialize(seed=SEEDS, tail=st.sampled_from((5, 40, 8192)), exact=st.sampled_from((12, 20_000)))
    def start(self, seed: int, tail: int, exact: int) -> None:
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(postings, "TAIL", tail)
        self.patched.setattr(vectors, "EXACT_UP_TO", exact)
        self.sampler = Sampler(Random(seed))
        self.feed = ListFeed([keyed.entity for keyed in self.sampler.entities()])
        self.index, self.seldom = BankIndex("sample"), BankIndex("sample")

    def teardown(self) -> None:
        self.patched.undo()

    def pick(self) -> str:
        return self.sampler.random.choice(self.sampler.drawn_ids)

    @rule(count=st.integers(1, 12), links=st.integers(0, 10))
    def insert(self, count: int, links: int) -> None:
        facts = [self.sampler.new_fact() for _ in range(count)]
        self.feed.insert(facts, self.sampler.links(links))

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule()
    def close(self) -> None:
        fact_id = self.pick()
        fact = self.feed.facts[self.feed.number(fact_id)].fact
        retired = max(self.sampler.moment(), fact.recorded_at or START)
        other = self.sampler.random.choice((None, "another"))
        self.feed.close(fact_id, retired_at=retired, superseded_by=other, topic="closed", ordinal=7)

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(count=st.integers(1, 3))
    def rewrite(self, count: int) -> None:
        for fact_id in {self.pick() for _ in range(count)}:
            self.feed.rewrite(fact_id, another(self.sampler))

    @precondition(lambda self: len(self.sampler.drawn_ids) > 2)
    @rule(links=st.integers(1, 5))
    def link(self, links: int) -> None:
        self.feed.insert([], self.sampler.links(links))

    @precondition(lambda self: self.feed.links)
    @rule(weight=st.sampled_from((0.25, 0.75)))
    def reweigh(self, weight: float) -> None:
        source, target, kind = self.sampler.random.choice(sorted(self.feed.links))
        ids = [self.feed.facts[number].fact.id for number in (source, target)]
        self.feed.insert([], [Link(*ids, kind, weight)])

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(count=st.integers(1, 3), again=st.booleans())
    def delete(self, count: int, again: bool) -> None:
        for fact_id in {self.pick() for _ in range(count)}:
            self.feed.delete(fact_id)
            self.sampler.drawn_ids.remove(fact_id)
            if again:
                new = another(self.sampler)
                self.feed.insert([replace(new, fact=replace(new.fact, id=fact_id))])
                self.sampler.drawn_ids.append(fact_id)

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule()
    def replace_vectors(self) -> None:
        self.feed.put_vectors(
            {
                new.fact.id: replace(new.features, vectors=self.sampler.features(new.fact).vectors)
                for new in self.feed.facts.values()
            }
        )

    @rule()
    def drop_changes(self) -> None:
        self.feed.drop_changes()

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(limit=st.sampled_from((1, 7, 1000)))
    def ask(self, limit: int) -> None:
        where = self.sampler.filter()
        for probe in self.sampler.probes():
            # Codes round cosines: which of two facts stands in a window's hits, and what is linked with it, may differ.
            coded = isinstance(probe, TemporalProbe) and vectors.EXACT_UP_TO < 20_000
            if not coded or probe.vector is None:
                for index in (self.index, self.seldom, BankIndex("sample")):
                    assert_answers(self.feed, index, probe, where, limit)
        among = {number for number in self.feed.facts if number % 2}
        for selection in selections(self.sampler, where):
            page = snapshot(self.seldom, self.feed).listing(selection)
            assert page == expected_page(self.feed, selection)
            page = snapshot(self.index, self.feed).listing(selection, among)
            assert page == expected_page(self.feed, selection, among)

    @invariant()
    def the_index_has_all_facts(self) -> None:
        if hasattr(self, "index"):
            assert snapshot(self.index, self.feed).size == len(self.feed.facts)


TestIndex = IndexMachine.TestCase
TestIndex.settings = settings(
    max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


def small_fact(name: str, **fields: object) -> NewFact:
    fact = Fact(id=name, bank="sample", text=name, **fields)  # type: ignore[arg-type]
    return NewFact(fact, Features())


def found_ids(feed: ListFeed, index: BankIndex, probe: Probe) -> list[str]:
    return [hit.fact_id for hit in snapshot(index, feed).search(probe, EVERYTHING, 50)]


def test_an_index_that_missed_changes_is_built_anew() -> None:
    feed, index = ListFeed(), BankIndex("sample")
    feed.insert([small_fact(name, entity_ids=("hub",)) for name in "abc"])
    probe = GraphProbe({}, {"hub": 1.0})
    assert found_ids(feed, index, probe) == ["a", "b", "c"]
    feed.delete("b")
    feed.drop_changes()
    assert found_ids(feed, index, probe) == ["a", "c"]


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_masks_admit_what_filters_admit(seed: int) -> None:
    sampler = Sampler(Random(seed))
    feed = ListFeed()
    for number in range(1, 41):
        new = sampler.new_fact()
        if number % 2:
            retired = max(sampler.moment(), new.fact.recorded_at or START)
            other = sampler.random.choice((None, "another"))
            new = replace(new, fact=replace(new.fact, retired_at=retired, superseded_by=other))
        feed.insert([new])
    taken = snapshot(BankIndex("sample"), feed)
    for _ in range(10):
        where = sampler.filter()
        numbers, _ = taken.listing(Selection(where=where, order=Order.OLDEST_RECORDED))
        assert numbers == [number for number, new in feed.facts.items() if admits(where, new.fact)]


def test_an_older_snapshot_keeps_its_answers() -> None:
    sampler = Sampler(Random(3))
    feed, index = ListFeed(), BankIndex("sample")
    feed.insert([sampler.new_fact() for _ in range(30)], sampler.links(40))
    probes = [probe for probe in sampler.probes() if not isinstance(probe, TemporalProbe)]
    older = snapshot(index, feed)
    before = [older.search(probe, EVERYTHING, 50) for probe in probes]
    removed = sampler.drawn_ids[:3]
    for _ in range(5):
        feed.insert([sampler.new_fact() for _ in range(9)], sampler.links(20))
        feed.rewrite(sampler.drawn_ids[10], another(sampler))
        snapshot(index, feed).search(probes[0], EVERYTHING, 5)
    for fact_id in removed:
        feed.delete(fact_id)
    snapshot(index, feed)
    assert [older.search(probe, EVERYTHING, 50) for probe in probes] == before


def test_threads_search_while_the_bank_grows() -> None:
    sampler = Sampler(Random(5))
    feed, index = ListFeed([keyed.entity for keyed in sampler.entities()]), BankIndex("sample")
    feed.insert([sampler.new_fact() for _ in range(20)], sampler.links(20))
    probes = sampler.probes()
    done = Event()

    def ask() -> None:
        while not done.is_set():
            taken = snapshot(index, feed)
            answers = [taken.search(probe, EVERYTHING, 20) for probe in probes]
            assert answers == [taken.search(probe, EVERYTHING, 20) for probe in probes]

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        try:
            for step in range(40):
                feed.insert([sampler.new_fact() for _ in range(3)], sampler.links(6))
                if step % 5 == 4:
                    feed.rewrite(sampler.drawn_ids[step], another(sampler))
                    feed.delete(sampler.drawn_ids.pop(0))
        finally:
            done.set()
        for one in asking:
            one.result()
    for probe in probes:
        assert_answers(feed, index, probe, EVERYTHING, 100)


@pytest.fixture(scope="module")
def large() -> Iterator[tuple[ListFeed, BankIndex, np.ndarray]]:
    """A view above the size up to which search is exact, which grew past it."""
    random = np.random.default_rng(1)
    count, dimensions = 6_000, 64
    drawn = random.normal(size=(40, dimensions))[random.integers(0, 40, count)]
    drawn += random.normal(size=(count, dimensions)) + 0.5
    matrix = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    facts = [
        replace(
            small_fact(f"{number:05d}", occurred_start=START.replace(day=1 + number % 28)),
            features=Features(vectors={"fact": vector}),
        )
        for number, vector in enumerate(matrix)
    ]
    feed, index = ListFeed(), BankIndex("sample")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vectors, "EXACT_UP_TO", 1_000)
        patched.setattr("tests.property.index_feed.BLOCK", 512)
        for start, end in pairwise((0, 900, 1_500, 1_501, count)):
            feed.insert(facts[start:end])
            snapshot(index, feed).search(SemanticProbe(matrix[0]), EVERYTHING, 1)
        yield feed, index, matrix


def test_a_large_view_finds_nearly_all_of_the_nearest(large: tuple[ListFeed, BankIndex, np.ndarray]) -> None:
    feed, index, matrix = large
    shares = []
    for query in matrix[::600]:
        hits = snapshot(index, feed).search(SemanticProbe(query), EVERYTHING, 20)
        cosines = matrix @ query
        shares.append(len({int(hit.fact_id) for hit in hits} & set(np.argsort(-cosines)[:20].tolist())) / 20)
        for hit in hits:
            assert hit.score == pytest.approx(float(cosines[int(hit.fact_id)]), abs=5e-3)
    assert np.mean(shares) > 0.97
