"""Which channel answers a probe, and what it needs loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.probe import (
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    Probe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.stores.index import graph, keyword, plain, temporal
from perdure.stores.index.bank_index import BankIndex
from perdure.stores.index.masks import admitted
from perdure.stores.index.snapshot import Snapshot
from perdure.stores.sqlite.connections import Reader


def prepare(index: BankIndex, reader: Reader, snapshot: Snapshot, probe: Probe) -> Snapshot:
    """The snapshot with the parts that the probe asks."""
    match probe:
        case SemanticProbe(view=view) if view not in snapshot.views:
            return index.with_part(reader, lambda parts, db, rows: parts.load_view(db, view, rows))
        case TemporalProbe(view=view, vector=vector) if vector is not None and view not in snapshot.views:
            return index.with_part(reader, lambda parts, db, rows: parts.load_view(db, view, rows))
        case FuzzyProbe() if snapshot.vocabulary is None:
            return index.with_part(reader, lambda parts, db, rows: parts.load_vocabulary(db, rows))
        case SignatureProbe() if snapshot.signatures is None:
            return index.with_part(reader, lambda parts, db, rows: parts.load_signatures(db, rows))
    return snapshot


def answer(
    snapshot: Snapshot, probe: Probe, wanted: Filter, limit: int, names: Mapping[str, float]
) -> Sequence[Hit]:
    """The hits of a probe; `names` are the names of a RelationProbe's entities."""
    admission = admitted(snapshot, wanted)
    mask = admission.mask
    match probe:
        case SemanticProbe():
            return plain.semantic(snapshot, probe, mask, limit)
        case KeywordProbe():
            return keyword.keyword(snapshot, probe, admission, limit)
        case GraphProbe():
            return graph.graph(snapshot, probe, admission, limit)
        case TemporalProbe():
            return temporal.temporal(snapshot, probe, mask, limit)
        case FuzzyProbe():
            return plain.fuzzy(snapshot, probe, mask, limit)
        case SignatureProbe():
            return plain.signature(snapshot, probe, mask, limit)
        case RelationProbe():
            return plain.relation(snapshot, probe, names, mask, limit)
        case PageRankProbe():
            return graph.pagerank(snapshot, probe, admission, limit)
