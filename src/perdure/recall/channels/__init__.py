"""The channels: one file, one retrieval method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from perdure.domain.recall import Hit
from perdure.recall.channels.context import ChannelContext
from perdure.recall.channels.fuzzy import fuzzy
from perdure.recall.channels.graph import graph
from perdure.recall.channels.keyword import keyword
from perdure.recall.channels.notes import notes
from perdure.recall.channels.pagerank import pagerank
from perdure.recall.channels.relation import relation
from perdure.recall.channels.semantic import neighbourhood, semantic, semantic_floor
from perdure.recall.channels.signature import signature
from perdure.recall.channels.temporal import temporal

Channel = Callable[[ChannelContext], Sequence[Hit]]

CHANNELS: Mapping[str, Channel] = {
    "semantic": semantic,
    "semantic_floor": semantic_floor,
    "neighbourhood": neighbourhood,
    "keyword": keyword,
    "graph": graph,
    "temporal": temporal,
    "fuzzy": fuzzy,
    "signature": signature,
    "relation": relation,
    "pagerank": pagerank,
    "notes": notes,
}

__all__ = ["CHANNELS", "Channel", "ChannelContext"]
