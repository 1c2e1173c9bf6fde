"""`default`: what the benchmarks show to help, from every source; and `fast`, in which the reader reads a third as many.

Five channels choose the pool by reciprocal rank fusion. The channels' raw scores order it, the reader reads the best, and
everything is added up on the scale of log-odds (docs/ablation.md, docs/decisions/).
"""

from __future__ import annotations

from dataclasses import replace

from perdure.recall.recipe import Blend, Recipe, channel_specs
from perdure.recall.score import BoostScoring

DEFAULT = Recipe(
    name="default",
    channels=channel_specs("semantic", "neighbourhood", "keyword", "graph", "temporal"),
    cross_pool=0,
    blend=Blend(
        channels={"keyword": 3.0, "neighbourhood": 3.0, "semantic": 0.5, "temporal": 0.5},
        titles=3.0,
        links=1.0,
        speaker=0.5,
        role=3.0,
        cover=3.0,
        answers=1.0,
        relevance=0.2,
    ),
    read=24,
    compare=6,
    ended=0.1,
    doubt=0.5,
    scoring=BoostScoring(on_odds=True),
)

FAST = replace(DEFAULT, name="fast", read=8, compare=3)
