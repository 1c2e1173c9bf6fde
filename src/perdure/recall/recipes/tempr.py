"""`tempr`: Hindsight's way. Four channels, reciprocal rank fusion, the reranker on 300, relevance times boosts."""

from __future__ import annotations

from perdure.recall.recipe import Recipe, channel_specs

TEMPR = Recipe(name="tempr", channels=channel_specs("semantic", "keyword", "graph", "temporal"))
