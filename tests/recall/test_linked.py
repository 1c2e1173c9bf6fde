"""Linked strength, coverage and blending, by small examples."""

from __future__ import annotations

import pytest

from perdure.domain.fact import Fact, ranking_fields
from perdure.domain.recall import Candidate, ChannelRank
from perdure.recall.blend import blend_relevance, cheap_strengths
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
