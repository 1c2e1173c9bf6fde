"""Properties that recall keeps whatever it is given."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, Hit
from perdure.recall.budget import fit
from perdure.recall.diversify import diversify
from perdure.recall.fuse import fuse_by_first_channel, fuse_by_reciprocal_rank
from perdure.text.chunk import chunk_text, group_pieces

ids = st.text(alphabet="abcdefgh", min_size=1, max_size=2)
hit_lists = st.lists(ids, unique=True, max_size=12).map(
    lambda names: [Hit(name, 1.0 / (i + 1)) for i, name in enumerate(names)]
)


channel_hits = st.dictionaries(st.sampled_from(["semantic", "keyword", "graph", "temporal"]), hit_lists)


def fields(pool: Sequence[Candidate]) -> list[tuple[object, ...]]:
    return [(c.fact_id, c.ranks, c.fused) for c in pool]


def already_read(candidates: Sequence[Candidate]) -> None:
    assert all(candidate.fact is not None for candidate in candidates)


class WordCount:
    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def cut(self, text: str, limit: int) -> str:
        return " ".join(text.split()[:limit])


@given(channel_hits, st.randoms())
def test_fusion_does_not_depend_on_the_order_of_channels(
    hits: dict[str, list[Hit]], chance: random.Random
) -> None:
    names = list(hits)
    chance.shuffle(names)
    shuffled = {name: hits[name] for name in names}
    assert fields(fuse_by_reciprocal_rank(hits, 100)) == fields(fuse_by_reciprocal_rank(shuffled, 100))


@given(channel_hits)
def test_fusion_keeps_every_hit_once(hits: dict[str, list[Hit]]) -> None:
    expected = sorted({hit.fact_id for own in hits.values() for hit in own})
    for fuse in (fuse_by_reciprocal_rank, fuse_by_first_channel):
        assert sorted(candidate.fact_id for candidate in fuse(hits, 100)) == expected


@given(channel_hits, st.integers(0, 12))
def test_a_limited_fusion_is_the_head_of_the_whole(hits: dict[str, list[Hit]], limit: int) -> None:
    for fuse in (fuse_by_reciprocal_rank, fuse_by_first_channel):
        assert fields(fuse(hits, limit)) == fields(fuse(hits, 100)[:limit])


@given(channel_hits)
def test_fusion_is_the_sum_of_reciprocal_ranks_ties_by_id(hits: dict[str, list[Hit]]) -> None:
    shares: dict[str, float] = {}
    for own in hits.values():
        for rank, hit in enumerate(own, start=1):
            shares[hit.fact_id] = shares.get(hit.fact_id, 0.0) + 1.0 / (60 + rank)
    fused = fuse_by_reciprocal_rank(hits, 100)
    assert fused == sorted(fused, key=lambda candidate: (-candidate.fused, candidate.fact_id))
    for candidate in fused:
        assert abs(candidate.fused - shares[candidate.fact_id]) < 1e-15
        assert [rank.channel for rank in candidate.ranks] == sorted(
            name for name, own in hits.items() if candidate.fact_id in {hit.fact_id for hit in own}
        )


@given(
    st.lists(st.text(alphabet="ab ", min_size=1).filter(str.strip), max_size=20),
    st.integers(0, 30),
    st.integers(0, 25),
    st.none() | st.integers(1, 10),
)
def test_fit_never_exceeds_the_budget_and_accounts_for_all(
    texts: list[str], budget: int, considered: int, limit: int | None
) -> None:
    facts = {str(i): Fact(id=str(i), bank="b", text=text) for i, text in enumerate(texts)}
    pool = [Candidate(fact_id=i, fact=fact) for i, fact in facts.items()]
    cut = fit(pool, already_read, WordCount(), max_tokens=budget, considered=considered, limit=limit)
    taken = [c.fact_id for c, _ in cut.taken]
    assert cut.tokens == sum(len(facts[i].text.split()) for i in taken) <= budget
    assert taken + [c.fact_id for c in cut.left] == list(facts)
    assert all(c.cut for c in cut.left)
    assert not any(c.cut for c, _ in cut.taken)
    assert len(taken) <= min(considered, limit or considered)


@given(
    st.lists(st.tuples(ids, st.floats(0, 1)), max_size=15, unique_by=lambda pair: pair[0]), st.floats(0, 1)
)
def test_diversity_only_reorders(pairs: list[tuple[str, float]], trade: float) -> None:
    facts = {name: Fact(id=name, bank="b", text=f"{name} likes tea") for name, _ in pairs}
    pool = [Candidate(fact_id=name, score=value, fact=facts[name]) for name, value in pairs]
    assert sorted(c.fact_id for c in diversify(pool, trade, already_read)) == sorted(facts)


@given(st.text(max_size=400), st.integers(1, 60))
def test_chunks_add_up_to_the_text(text: str, limit: int) -> None:
    chunks = chunk_text(text, limit)
    assert "".join(chunks) == text
    assert all(0 < len(chunk) <= limit for chunk in chunks)


@given(st.lists(st.text(min_size=1, max_size=20), max_size=30))
def test_groups_are_neighbours_in_order(pieces: list[str]) -> None:
    groups = group_pieces(pieces, 50, joint=1)
    assert [index for group in groups for index in group] == list(range(len(pieces)))
