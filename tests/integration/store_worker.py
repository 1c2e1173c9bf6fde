"""A process that writes to or reads from a store until it is told, or killed, to stop.

write PATH NAME FIRST COUNT: acknowledges on stdout what is done.
change PATH NAME FIRST COUNT: the same, and erases some documents again.
read PATH: until stdin closes; says what it saw.
"""

from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Chunk, Document, Fact, Link, LinkKind
from perdure.domain.filter import Filter, TagLeaf
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import Closure, Features, NewFact, Selection, Target, WriteBatch
from perdure.stores.sqlite.store import SqliteStore

BANK = "shared"
MODEL = EmbeddingModel("small", 32)
NOW = datetime(2024, 1, 1, tzinfo=UTC)
ALL = Filter(now=NOW, any_time=True)
FACTS = 5
FORGET_EVERY = 9
FORGET_BACK = 4


def vector(seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=MODEL.dimensions).astype(np.float32)
    return drawn / np.float32(np.linalg.norm(drawn))


def batch_of(name: str, number: int) -> WriteBatch:
    """A document with five facts; it closes a fact of the batch before."""
    key = f"{name}-{number}"
    facts = []
    for place in range(FACTS):
        fact = Fact(
            id=f"{key}-{place}",
            bank=BANK,
            text=f"{key} fact {place} " + "text " * (number % 40),
            document_id=key,
            chunk_id=key,
            source_text=f"{key} fact {place}",
            recorded_at=NOW,
            tags=frozenset({key}),
            entity_ids=(f"e{number % 7}", name),
        )
        features = Features(
            vectors={"fact": vector(number * FACTS + place)},
            terms={key: 1.0, name: 1.0, f"w{place}": 1.0},
            words=(key, name),
        )
        facts.append(NewFact(fact, features))
    return WriteBatch(
        bank=BANK,
        model=MODEL,
        documents=[Document(id=key, bank=BANK, title=key)],
        chunks=[Chunk(id=key, bank=BANK, document_id=key, ordinal=0, text=f"all of {key}", content_hash=key)],
        facts=facts,
        links=[Link(f"{key}-{place}", f"{key}-0", LinkKind.TEMPORAL, 0.5) for place in range(1, FACTS)],
        closures=[Closure(fact_id=f"{name}-{number - 1}-0", retired_at=NOW, superseded_by=f"{key}-0")],
    )


def say(*words: object) -> None:
    print(*words, flush=True)


def write(path: str, name: str, first: int, count: int, erase: bool) -> None:
    store = SqliteStore.open(path, busy_timeout_ms=60_000)
    say("ready")
    for number in range(first, first + count):
        store.write(batch_of(name, number))
        say("wrote", number)
        if erase and number % FORGET_EVERY == 0 and number >= FORGET_BACK:
            say("forgetting", number - FORGET_BACK)
            store.forget(BANK, Target(document_id=f"{name}-{number - FORGET_BACK}"))
            say("forgot", number - FORGET_BACK)
    store.close()


def read(path: str) -> None:
    """Look at the newest batch again and again: it must be whole, in the listing and in the channels."""
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    store = SqliteStore.open(path, busy_timeout_ms=60_000)
    say("ready")
    looks = largest = 0
    done = False
    while not done:
        done = stop.is_set()
        looks += 1
        total = store.stats(BANK).facts
        assert total % FACTS == 0, f"{total} facts: half a batch is visible"
        assert total >= largest, f"{total} facts after {largest}"
        largest = total
        page = store.browse(BANK, Selection(wanted=ALL, limit=1))
        for fact in page.facts:
            (tag,) = fact.tags
            tagged = Filter(now=NOW, any_time=True, tags=(TagLeaf(frozenset({tag})),))
            assert len(store.search(BANK, KeywordProbe({tag: 1.0}), tagged, 50)) == FACTS
            assert len(store.search(BANK, SemanticProbe(vector(1)), tagged, 50)) == FACTS
            assert len(store.facts(BANK, [f"{tag}-{place}" for place in range(FACTS)])) == FACTS
    store.close()
    say("saw", looks, largest)


if __name__ == "__main__":
    if sys.argv[1] == "read":
        read(sys.argv[2])
    else:
        write(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[1] == "change")
