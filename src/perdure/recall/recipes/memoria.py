"""`memoria`: Memoria's way. Dense, BM25 and personalised PageRank, the reranker on 30, ten facts, no boosts.

Memoria's `asOf` asks both axes of time at once. Here a date alone means the same in every recipe, what was true then as far as
is known now; `AsOf.both(date)` asks as Memoria does.
"""

from __future__ import annotations

from perdure.recall.recipe import Recipe, channel_specs
from perdure.recall.score import BoostScoring

MEMORIA = Recipe(
    name="memoria",
    channels=channel_specs("semantic", "keyword", "pagerank"),
    pool=30,
    cross_pool=30,
    scoring=BoostScoring(recency=0.0, temporal=0.0, proof=0.0),
    limit=10,
    edges=True,
)
