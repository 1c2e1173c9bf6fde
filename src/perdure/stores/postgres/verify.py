"""A check of everything in the database that has a checksum; pages and indexes are the server's own concern."""

from __future__ import annotations

from collections import Counter

from perdure.domain.damage import Damage, Verification
from perdure.stores.index import packing
from perdure.stores.postgres.connections import Connections
from perdure.stores.postgres.rows import PostgresFeed, select
from perdure.stores.sql.columns import batches
from perdure.stores.sql.damage import ALTERED
from perdure.stores.sql.feed import cached_facts


def verify(connections: Connections, *, quick: bool) -> Verification:
    """Compare facts, documents, chunks and packed facts with their checksums; `quick` only that the tables answer."""
    checked: Counter[str] = Counter()
    damage: list[Damage] = []
    with connections.reading() as db:
        for (bank,) in select(db, "SELECT id FROM bank ORDER BY id"):
            if quick:
                continue
            feed = PostgresFeed(db, bank)
            for block in batches(no for (no,) in feed._of_bank("SELECT no FROM fact WHERE bank = ?")):
                checked["fact"] += len(block)
                feed.facts_by_number(block)
                cached = cached_facts(feed, block).values()
                checked["cache"] += len(cached)
                damage += [
                    Damage(kind="cache", name=fact.id, problem=ALTERED, bank=bank)
                    for fact in cached
                    if not packing.is_sound(fact.id, fact.body)
                ]
            checked["document"] += len(feed.documents())
            for block in batches(one for (one,) in feed._of_bank("SELECT id FROM chunk WHERE bank = ?")):
                checked["chunk"] += len(block)
                feed.chunks(ids=block)
            damage += feed.damaged()
    return Verification(checked=dict(checked), damage=tuple(damage), quick=quick)
