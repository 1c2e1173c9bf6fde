"""Linked strength, coverage and blending, by small examples."""

from __future__ import annotations

import pytest

from perdure.domain.fact import Fact, ranking_fields
from perdure.domain.recall import Candidate, ChannelRank
from perdure.recall.blend import SMALL_POOL, blend_relevance, cheap_strengths, to_unit
from perdure.recall.coverage import rerank_for_coverage
from perdure.recall.linked import add_linked_strength, read_titles, title_matches
from perdure.recall.recipe import Blend
from perdure.text.titles import title_aliases

FACTS = {
    "band": Fact(id="band", bank="b", text="Blue Lake is a band led by Nora Quist.", document_id="d1"),
    "singer": Fact(id="singer", bank="b", text="She was born in Tromsø.", document_id="d2"),
    "other": Fact(id="other", bank="b", text="A tall tower.", document_id="d3"),
}
TITLES = {"d1": "Blue Lake (band)", "d2": "Nora Quist", "d3": "Old Tower"}


def blended(pool: list[Candidate], blend: Blend) -> list[Candidate]:
    return blend_relevance(pool, blend, cheap_strengths(pool, blend))


def pool(facts: dict[str, Fact], **strengths: float) -> list[Candidate]:
    candidates = [
        Candidate(fact_id=name, fact=facts[name], fields=ranking_fields(facts[name])) for name in strengths
    ]
    for candidate in candidates:
        candidate.set_strength(strengths[candidate.fact_id])
    return candidates


def test_a_mentioned_subject_gains_from_what_mentions_it() -> None:
    linked = add_linked_strength(pool(FACTS, band=6.0, other=2.0, singer=1.0), read_titles(TITLES), 1.0)
    strengths = {c.fact_id: c.strength for c in linked}
    assert strengths["singer"] == pytest.approx(1.0 + 5.0)
    assert strengths["other"] == 2.0
    assert [c.fact_id for c in linked][:2] == ["band", "singer"]


def test_no_titles_no_change() -> None:
    candidates = pool(FACTS, band=6.0, singer=1.0)
    assert add_linked_strength(candidates, read_titles({}), 1.0) == candidates
    assert [c.strength for c in candidates] == [6.0, 1.0]


def test_titles_named_in_the_question() -> None:
    assert title_matches(read_titles(TITLES), "Who leads Blue Lake?") == {"d1": 1.0}
    assert title_matches(read_titles(TITLES), "a blue lake near an old tower") == {}


def test_aliases_of_a_title() -> None:
    aliases = title_aliases("The Hague Court (building), Hague")
    assert aliases["the hague court building hague"] == 1.0
    assert "hague" not in aliases
    assert title_aliases("Ada King Lovelace")["ada lovelace"] == 0.5


def test_coverage_prefers_what_is_still_open() -> None:
    facts = {
        "a": Fact(id="a", bank="b", text="The director made Harbour."),
        "b": Fact(id="b", bank="b", text="The director made Harbour again."),
        "c": Fact(id="c", bank="b", text="Harbour actress studied botany."),
    }
    candidates = pool(facts, a=5.0, b=4.0, c=3.5)
    terms = {"director": 1.0, "harbour": 1.0, "botani": 1.0, "actress": 1.0}
    ordered = rerank_for_coverage(candidates, {}, terms, 3.0)
    assert [c.fact_id for c in ordered] == ["a", "c", "b"]
    strengths = [c.strength or 0.0 for c in ordered]
    assert strengths == sorted(strengths, reverse=True)


def test_signals_are_brought_to_one_scale() -> None:
    assert to_unit([2.0, None, 4.0, 3.0]) == [0.0, 0.0, 1.0, 0.5]
    assert to_unit([1.0, 1.0]) == [1.0, 1.0]
    assert to_unit([7.0, None]) == [1.0, 0.0]
    assert to_unit([None, None]) == [0.0, 0.0]


def test_what_hardly_differs_is_not_spread_over_the_whole_width() -> None:
    assert to_unit([0.80, 0.79], min_spread=0.04) == pytest.approx([1.0, 0.75])
    assert to_unit([0.80, 0.70], min_spread=0.04) == pytest.approx([1.0, 0.0])
    assert to_unit([1.0, None], min_spread=4.0) == pytest.approx([1.0, 0.75])
    assert to_unit([0.8], min_spread=0.04) == [1.0]
    assert to_unit([-0.8, -0.79, None], min_spread=0.04) == pytest.approx([0.75, 1.0, 0.75])


def test_in_a_pool_of_two_a_small_difference_is_worth_little() -> None:
    def few(*scores: float) -> list[Candidate]:
        return [
            Candidate(fact_id=str(i), ranks=(ChannelRank(channel="keyword", rank=i + 1, score=score),))
            for i, score in enumerate(scores)
        ]

    blend = Blend(channels={"keyword": 2.0})
    assert cheap_strengths(few(1.2), blend) == [0.0]
    first, second = cheap_strengths(few(1.2, 1.0), blend)
    assert first == 0.0
    assert -0.05 < second < 0.0
    hundreds = cheap_strengths(few(*(1.2 - 0.001 * i for i in range(SMALL_POOL))), blend)
    assert hundreds[-1] == pytest.approx(-2.0)


def test_signals_take_away_what_lacks_to_the_best_and_names_add() -> None:
    ranks = [ChannelRank(channel="keyword", rank=1, score=20.0)]
    named = Candidate(fact_id="x", ranks=tuple(ranks), title=0.5, by_named=True)
    blend = Blend(channels={"keyword": 3.0}, titles=2.0, speaker=0.5)
    weaker = Candidate(fact_id="y", ranks=(ChannelRank(channel="keyword", rank=2, score=2.0),))
    assert cheap_strengths([named, weaker], blend) == pytest.approx([0.0 + 1.0 + 0.5, -3.0])


def test_unread_candidates_count_as_the_weakest_read() -> None:
    def ranks(score: float) -> tuple[ChannelRank, ...]:
        return (ChannelRank(channel="keyword", rank=1, score=score),)

    read = Candidate(fact_id="a", ranks=ranks(1.0), logits=(-2.0, 3.0))
    weak = Candidate(fact_id="b", ranks=ranks(21.0), logits=(-6.0,))
    unread = Candidate(fact_id="c", ranks=ranks(41.0))
    strengths = {
        c.fact_id: c.strength for c in blended([read, weak, unread], Blend(channels={"keyword": 4.0}))
    }
    assert strengths["a"] == pytest.approx(3.0 - 4.0)
    assert strengths["b"] == pytest.approx(-6.0 - 2.0)
    assert strengths["c"] == pytest.approx(-6.0)


def test_whose_words_count_adds_its_weight() -> None:
    plain, marked = Candidate(fact_id="a"), Candidate(fact_id="b", by_role=True)
    assert cheap_strengths([plain, marked], Blend(role=3.0)) == [0.0, 3.0]
    assert [c.fact_id for c in blended([plain, marked], Blend(role=3.0))] == ["b", "a"]


def test_without_a_blend_what_was_read_goes_before_what_was_not() -> None:
    unread, weak, strong, last = (
        Candidate(fact_id="a"), Candidate(fact_id="b", logits=(-1.0,)), Candidate(fact_id="c", logits=(2.0,)),
        Candidate(fact_id="d"),
    )  # fmt: skip
    ordered = blended([unread, weak, strong, last], Blend())
    assert [c.fact_id for c in ordered] == ["c", "b", "a", "d"]
    assert [c.relevance for c in ordered] == sorted((c.relevance for c in ordered), reverse=True)
