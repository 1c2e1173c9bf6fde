"""`default`: what the benchmarks show to help, from every source; and `fast`, the same without its cross-encoder.

Five channels choose the pool by reciprocal rank fusion. Late interaction and the channels' raw scores order it, the
cross-encoder reads the best, and everything is added up on the scale of its logit (docs/ablation.md, docs/decisions/).
"""

from __future__ import annotations

from dataclasses import replace

from perdure.recall.answers import AnswerPreference
from perdure.recall.recipe import Blend, ChannelSpec, Recipe, View, ViewSpec, channel_specs
from perdure.recall.score import BoostScoring

SLOT_HITS = 10
"""Statements of the slot that is asked for, the newest first."""

DEFAULT = Recipe(
    name="default",
    channels=(
        *channel_specs("semantic", "neighbourhood", "keyword", "graph", "temporal"),
        ChannelSpec(name="slot", limit=SLOT_HITS),
    ),
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
        role=3.0,
        slot=6.0,
        cover=3.0,
    ),
    answers=AnswerPreference(
        stated=8.0,
        told=60.0,
        named=8.0,
        of_another=0.25,
        elsewhere=0.7,
        no_value=0.1,
        supposed=0.3,
        too_late=0.001,
    ),
    doubt=0.5,
    scoring=BoostScoring(on_odds=True),
)

FAST = replace(
    DEFAULT,
    name="fast",
    cross_pool=0,
    blend=replace(DEFAULT.blend, late=3.0, channels={**DEFAULT.blend.channels, "keyword": 3.0}),
)
"""Without the cross-encoder the words and the token vectors weigh more: facts are short, and few words tell them apart."""
