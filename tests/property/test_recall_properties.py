"""Properties that recall keeps whatever it is given."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, Hit
from perdure.recall.diversify import diversify
from perdure.recall.fit import fit
from perdure.recall.fuse import fuse
from perdure.text.chunk import chunk_text, group_pieces

ids = st.text(alphabet="abcdefgh", min_size=1, max_size=2)
hit_lists = st.lists(ids, unique=True, max_size=12).map(
    lambda names: [Hit(name, 1.0 / (i + 1)) for i, name in enumerate(names)]
)


class WordCount:
    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def count_all(self, texts: list[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def cut(self, text: str, limit: int) -> str:
        return " ".join(text.split()[:limit])


@given(
    st.dictionaries(st.sampled_from(["semantic", "keyword", "graph", "temporal"]), hit_lists), st.randoms()
)
def test_fusion_does_not_depend_on_the_order_of_channels(
    hits: dict[str, list[Hit]], chance: random.Random
) -> None:
    names = list(hits)
    chance.shuffle(names)
    assert fuse(hits) == fuse({name: hits[name] for name in names})


@given(st.dictionaries(st.sampled_from(["semantic", "keyword"]), hit_lists))
def test_fusion_keeps_every_hit_once(hits: dict[str, list[Hit]]) -> None:
    fused = [candidate.fact_id for candidate in fuse(hits)]
    assert sorted(fused) == sorted({hit.fact_id for found in hits.values() for hit in found})


@given(st.dictionaries(st.sampled_from(["semantic", "keyword"]), hit_lists), st.integers(0, 12))
def test_a_limited_fusion_is_the_head_of_the_whole(hits: dict[str, list[Hit]], limit: int) -> None:
    assert fuse(hits, limit=limit) == fuse(hits)[:limit]


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
    pool = [Candidate(fact_id=i) for i in facts]
    fitted = fit(pool, facts, WordCount(), budget, considered, limit)
    taken = [c.fact_id for c, _ in fitted.taken]
    assert fitted.tokens == sum(len(facts[i].text.split()) for i in taken) <= budget
    assert taken + [c.fact_id for c in fitted.cut] == list(facts)
    assert all(c.cut for c in fitted.cut)
    assert len(taken) <= min(considered, limit or considered)


@given(
    st.lists(st.tuples(ids, st.floats(0, 1)), max_size=15, unique_by=lambda pair: pair[0]), st.floats(0, 1)
)
def test_diversity_only_reorders(pairs: list[tuple[str, float]], trade: float) -> None:
    facts = {name: Fact(id=name, bank="b", text=f"{name} likes tea") for name, _ in pairs}
    pool = [Candidate(fact_id=name, score=value) for name, value in pairs]
    assert sorted(c.fact_id for c in diversify(pool, facts, trade)) == sorted(facts)


@given(st.text(max_size=400), st.integers(1, 60))
def test_chunks_add_up_to_the_text(text: str, limit: int) -> None:
    chunks = chunk_text(text, limit)
    assert "".join(chunks) == text
    assert all(0 < len(chunk) <= limit for chunk in chunks)


@given(st.lists(st.text(min_size=1, max_size=20), max_size=30))
def test_groups_are_neighbours_in_order(pieces: list[str]) -> None:
    groups = group_pieces(pieces, 50, joint=1)
    assert [index for group in groups for index in group] == list(range(len(pieces)))
