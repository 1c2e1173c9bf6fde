"""What the port promises about the channels; figures are worked out by hand."""

from __future__ import annotations

import math

import pytest

from perdure.domain.fact import Entity, Link, LinkKind
from perdure.domain.filter import Filter
from perdure.domain.time import Window
from perdure.ports.probe import (
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import KeyedEntity, Store
from perdure.testing.making import (
    BANK,
    CURRENT,
    EVERYTHING,
    NOW,
    day,
    ids,
    make_fact,
    new,
    put,
    scores,
    search,
    unit,
)


class SearchContract:
    """Channels."""

    def test_semantic_ranks_by_cosine_and_equal_ones_as_recorded(self, store: Store) -> None:
        put(
            store,
            new(make_fact("b"), vectors={"fact": unit(1, 1)}),
            new(make_fact("a"), vectors={"fact": unit(1, 1)}),
            new(make_fact("c"), vectors={"fact": unit(1)}),
            new(make_fact("d"), vectors={"fact": unit(-1)}),
            make_fact("e"),
        )
        hits = search(store, SemanticProbe(unit(1)), CURRENT, 10)
        assert ids(hits) == ["c", "b", "a", "d"]
        assert [hit.score for hit in hits] == pytest.approx([1, math.sqrt(0.5), math.sqrt(0.5), -1], abs=2e-3)
        assert ids(search(store, SemanticProbe(unit(1)), CURRENT, 2)) == ["c", "b"]
        assert ids(search(store, SemanticProbe(unit(1), min_score=0.9), CURRENT, 10)) == ["c"]
        assert search(store, SemanticProbe(unit(1)), CURRENT, 0) == []

    def test_views_are_searched_apart(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a"), vectors={"fact": unit(1), "context": unit(0, 1)}),
            new(make_fact("b"), vectors={"fact": unit(0, 1)}),
        )
        assert ids(search(store, SemanticProbe(unit(0, 1), view="context"), CURRENT, 5)) == ["a"]
        assert ids(search(store, SemanticProbe(unit(0, 1)), CURRENT, 5)) == ["b", "a"]
        assert search(store, SemanticProbe(unit(1), view="none"), CURRENT, 5) == []

    def test_a_new_fact_is_found_at_once(self, store: Store) -> None:
        for number in range(5):
            vector = unit(*([0.0] * number), 1)
            put(store, new(make_fact(f"f{number}"), words=f"w{number}", vectors={"fact": vector}))
            assert search(store, SemanticProbe(vector), CURRENT, 1)[0].fact_id == f"f{number}"
            assert ids(search(store, KeywordProbe({f"w{number}": 1.0}), CURRENT, 1)) == [f"f{number}"]

    def test_keyword_is_bm25_over_the_facts_that_are_not_closed(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a"), terms={"x": 2.0, "y": 1.0}),
            new(make_fact("b"), terms={"x": 1.0}),
            new(make_fact("c"), terms={"z": 2.0}),
            new(make_fact("old", retired_at=day(1)), terms={"x": 5.0}),
            new(make_fact("over", valid_to=day(1), end_recorded_at=day(1)), terms={"x": 4.0}),
        )
        hits = search(store, KeywordProbe({"x": 1.0, "y": 0.5}), CURRENT, 10)
        idf_x = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        idf_y = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
        average = (3 + 1 + 2) / 3
        norm_a = 1.2 * (0.25 + 0.75 * 3 / average)
        norm_b = 1.2 * (0.25 + 0.75 * 1 / average)
        score_a = idf_x * 2 * 2.2 / (2 + norm_a) + 0.5 * idf_y * 1 * 2.2 / (1 + norm_a)
        assert scores(hits) == pytest.approx({"a": score_a, "b": idf_x * 2.2 / (1 + norm_b)})
        assert ids(search(store, KeywordProbe({"x": 1.0}, min_score=99), CURRENT, 10)) == []
        closed = search(store, KeywordProbe({"x": 1.0}), EVERYTHING, 10)
        assert closed[0].fact_id == "old"

    def test_graph_adds_entities_semantic_and_causal_links(self, store: Store) -> None:
        put(
            store,
            make_fact("seed", entity_ids=("e1", "e2", "e9")),
            make_fact("two", entity_ids=("e1", "e2")),
            make_fact("one", entity_ids=("e1",)),
            make_fact("linked"),
            make_fact("far"),
            make_fact("timely"),
            links=[
                Link("seed", "linked", LinkKind.SEMANTIC, 0.75),
                Link("linked", "seed", LinkKind.CAUSAL, 0.5),
                Link("linked", "far", LinkKind.SEMANTIC, 0.5),
                Link("seed", "timely", LinkKind.TEMPORAL, 1.0),
            ],
        )
        one_hop = search(store, GraphProbe({"seed": 1.0}), CURRENT, 10)
        expected = {"seed": 1.0, "linked": 1.25, "two": math.tanh(1.0), "one": math.tanh(0.5)}
        assert scores(one_hop) == pytest.approx(expected, abs=1e-5)
        weaker = search(store, GraphProbe({"seed": 0.5}, include_seeds=False), CURRENT, 10)
        assert scores(weaker) == pytest.approx(
            {"linked": 0.625, "two": math.tanh(0.5), "one": math.tanh(0.25)}, abs=1e-5
        )
        two_hops = scores(search(store, GraphProbe({"seed": 1.0}, hops=2), CURRENT, 10))
        assert two_hops["far"] == pytest.approx(0.5 * min(1.0, 1.25) * 0.5, abs=1e-5)
        assert two_hops["linked"] == pytest.approx(1.25, abs=1e-5)
        narrow = search(store, GraphProbe({"seed": 1.0}, hops=2, breadth=1), CURRENT, 10)
        assert "far" in scores(narrow)

    def test_graph_starts_from_entities_and_caps_hubs(self, store: Store) -> None:
        facts = [make_fact(f"f{number}", entity_ids=("hub",)) for number in range(4)]
        put(store, *facts, links=[Link("f3", "f2", LinkKind.TEMPORAL, 1.0)])
        probe = GraphProbe({}, {"hub": 1.0, "unknown": 1.0})
        assert scores(search(store, probe, CURRENT, 10)) == pytest.approx(
            {f"f{number}": math.tanh(0.5) for number in range(4)}
        )
        capped = GraphProbe({}, {"hub": 1.0}, hub_cap=3)
        assert ids(search(store, capped, CURRENT, 10)) == ["f0", "f2", "f3"]

    def test_graph_does_not_pass_through_facts_that_the_filter_leaves_out(self, store: Store) -> None:
        put(
            store,
            make_fact("seed"),
            make_fact("secret", classification=3),
            make_fact("behind"),
            links=[
                Link("seed", "secret", LinkKind.CAUSAL, 1.0),
                Link("secret", "behind", LinkKind.CAUSAL, 1.0),
            ],
        )
        probe = GraphProbe({"seed": 1.0}, hops=3)
        assert set(ids(search(store, probe, CURRENT, 9))) == {"seed", "secret", "behind"}
        assert ids(search(store, probe, Filter(now=NOW, max_classification=2), 9)) == ["seed"]

    def test_temporal_finds_the_window_then_what_is_linked(self, store: Store) -> None:
        put(
            store,
            make_fact("inside", occurred_start=day(10), occurred_end=day(11)),
            make_fact("across", occurred_start=day(1), occurred_end=day(12)),
            make_fact("said", mentioned_at=day(15)),
            make_fact("undated"),
            make_fact("before", occurred_start=day(1), mentioned_at=day(12)),
            make_fact("cause", occurred_start=day(50)),
            links=[
                Link("cause", "inside", LinkKind.CAUSAL, 0.5),
                Link("undated", "said", LinkKind.SEMANTIC, 1.0),
            ],
        )
        hits = search(store, TemporalProbe(Window(day(10), day(20))), CURRENT, 10)
        assert set(ids(hits)) == {"inside", "across", "said", "cause"}
        assert hits[-1].fact_id == "cause"
        assert scores(hits)["said"] == pytest.approx(1.0)
        assert ids(search(store, TemporalProbe(Window(day(10), day(20))), CURRENT, 1)) == ["said"]
        until = search(store, TemporalProbe(Window(None, day(2)), spread=()), CURRENT, 10)
        assert set(ids(until)) == {"across", "before"}

    def test_slices_of_the_window_take_turns(self, store: Store) -> None:
        early = [
            new(make_fact(f"early{n}", occurred_start=day(n)), vectors={"fact": unit(1, n / 100)})
            for n in range(3)
        ]
        late = new(make_fact("late", occurred_start=day(9)), vectors={"fact": unit(1, 5)})
        put(store, *early, late)
        probe = TemporalProbe(Window(day(0), day(10)), vector=unit(1), slices=2)
        assert ids(search(store, probe, CURRENT, 10)) == ["early0", "late", "early1", "early2"]
        whole = TemporalProbe(Window(day(0), day(10)), vector=unit(1), slices=1)
        assert ids(search(store, whole, CURRENT, 10)) == ["early0", "early1", "early2", "late"]

    def test_fuzzy_forgives_typos_and_finds_parts(self, store: Store) -> None:
        put(
            store,
            new(make_fact("a"), words="gardening tools"),
            new(make_fact("b"), words="garden"),
            new(make_fact("c"), words="violin"),
        )
        hits = search(store, FuzzyProbe(("gardn",)), CURRENT, 10)
        assert ids(hits) == ["b"]
        assert hits[0].score == pytest.approx(4 / 9)
        inside = scores(search(store, FuzzyProbe(("garden", "garden")), CURRENT, 10))
        assert inside == pytest.approx({"b": 1.0, "a": 0.5 + 0.5 * 6 / 9})
        mean = scores(search(store, FuzzyProbe(("garden", "tools")), CURRENT, 10))
        assert mean["b"] == pytest.approx(0.5)
        assert search(store, FuzzyProbe(("garden", "xyz"), min_score=0.9), CURRENT, 10) == []

    def test_signature_counts_equal_bits(self, store: Store) -> None:
        put(
            store,
            new(make_fact("same"), signature=bytes(32)),
            new(make_fact("half"), signature=b"\xff" * 16 + bytes(16)),
            make_fact("none"),
        )
        hits = search(store, SignatureProbe(bytes(32)), CURRENT, 10)
        assert [(hit.fact_id, hit.score) for hit in hits] == [("same", 1.0), ("half", 0.5)]
        assert ids(search(store, SignatureProbe(bytes(32), min_score=0.65), CURRENT, 10)) == ["same"]

    def test_relation_matches_names_and_aliases_of_entities(self, store: Store) -> None:
        alice = Entity(id="e1", bank=BANK, name="Alice", aliases=("Ally",))
        put(
            store,
            make_fact("a", subject="alice", relation="knows", object="Bob"),
            make_fact("b", subject="Bob", relation="Likes", object="ALLY"),
            make_fact("c", subject="Bob", relation="likes", object="tea"),
            make_fact("d", subject="alice", relation="knows"),
            entities=[KeyedEntity(alice, ())],
        )
        assert ids(search(store, RelationProbe({"e1": 1.0}), CURRENT, 10)) == ["a", "b"]
        assert ids(search(store, RelationProbe({"e1": 1.0}, relation="likes"), CURRENT, 10)) == ["b"]
        both = search(store, RelationProbe({"e1": 1.0, "bob": 0.5}), CURRENT, 10)
        assert scores(both) == pytest.approx({"a": 1.5, "b": 1.5, "c": 0.5})

    def test_pagerank_spreads_mass_from_the_seed_entities(self, store: Store) -> None:
        put(
            store,
            make_fact("ab", entity_ids=("a", "b")),
            make_fact("bc", entity_ids=("b", "c")),
            make_fact("z", entity_ids=("z",)),
        )
        hits = search(store, PageRankProbe({"a": 1.0}, damping=0.5, sweeps=1), CURRENT, 10)
        assert scores(hits) == pytest.approx({"ab": 0.5 + 0.25 + 0.25, "bc": 0.25})
        assert search(store, PageRankProbe({"unknown": 1.0}), CURRENT, 10) == []

    def test_links_with_a_fact_that_is_written_later_are_followed(self, store: Store) -> None:
        put(store, make_fact("a"), make_fact("b"))
        assert ids(search(store, GraphProbe({"a": 1.0}), CURRENT, 9)) == ["a"]
        put(store, links=[Link("b", "a", LinkKind.CAUSAL, 0.5)])
        assert scores(search(store, GraphProbe({"a": 1.0}), CURRENT, 9)) == pytest.approx({"a": 1, "b": 0.5})
