"""`default`: what the benchmarks show to help, from every source; and `fast`, the same without its cross-encoder.

Five channels choose the pool by reciprocal rank fusion. Late interaction and the channels' raw scores order it, the
cross-encoder reads the best, and everything is added up on the scale of its logit (docs/ablation.md, docs/decisions/).
"""

from __future__ import annotations

from dataclasses import replace

from perdure.recall.recipe import Blend, Recipe, View, ViewSpec, channel_specs
from perdure.recall.score import BoostScoring

DEFAULT = Recipe(
    name="default",
    channels=channel_specs("semantic", "neighbourhood", "keyword", "graph", "temporal"),
    late=True,
    cross_pool=12,
    views=(ViewSpec(View.FULL), ViewSpec(View.OWN, first=4)),
    blend=Blend(
        logit=0.7,
        late=2.0,
        channels={"keyword": 2.0, "neighbourhood": 3.0, "semantic": 0.5, "temporal": 0.5},
        titles=3.0,
        links=1.0,
        speaker=0.5,
        role=4.0,
        cover=3.0,
        answers=2.0,
    ),
    read=12,
    ended=0.1,
    doubt=0.5,
    scoring=BoostScoring(on_odds=True),
)

FAST = replace(
    DEFAULT,
    name="fast",
    cross_pool=0,
    read=0,
    blend=replace(DEFAULT.blend, late=3.0, channels={**DEFAULT.blend.channels, "keyword": 3.0}),
)
"""Without the cross-encoder the words and the token vectors weigh more: facts are short, and few words tell them apart."""
