"""A process that works on a store until it is told, or killed, to stop.

write PATH NAME FIRST COUNT: acknowledges on stdout what is done.
change PATH NAME FIRST COUNT: the same, and erases some documents again.
erase PATH: erases one document after the other, and clears the traces of each.
read PATH: until stdin closes; says what it saw.
open: opens the file that each line of stdin names.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Chunk, Document, Fact, Link, LinkKind
from perdure.domain.filter import Filter, TagLeaf
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.ports.store import FactPage, FactsWhere, Features, NewFact, Selection, Store
from perdure.stores.sqlite.store import SqliteStore

BANK = "shared"
MODEL = EmbeddingModel("small", 32)
NOW = datetime(2024, 1, 1, tzinfo=UTC)
ALL = Filter(now=NOW, include_closed=True)
FACTS = 5
ERASE_EVERY = 9
ERASE_BACK = 4


def vector(seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=MODEL.dimensions).astype(np.float32)
    return drawn / np.float32(np.linalg.norm(drawn))


def new_fact(key: str, name: str, number: int, place: int) -> NewFact:
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
    return NewFact(fact, features)


def write_document(store: Store, name: str, number: int) -> None:
    """A document with five facts; it closes a fact of the document before."""
    key = f"{name}-{number}"
    with store.transaction(BANK) as tx:
        tx.set_model(MODEL)
        tx.put_documents([Document(id=key, bank=BANK, title=key)])
        tx.put_chunks(
            [Chunk(id=key, bank=BANK, document_id=key, ordinal=0, text=f"all of {key}", content_hash=key)]
        )
        tx.insert_facts([new_fact(key, name, number, place) for place in range(FACTS)])
        tx.put_links(
            [Link(f"{key}-{place}", f"{key}-0", LinkKind.TEMPORAL, 0.5) for place in range(1, FACTS)]
        )
        before = tx.facts([f"{name}-{number - 1}-0"])
        tx.update_facts([replace(fact, retired_at=NOW, superseded_by=f"{key}-0") for fact in before])


def erase_document(store: Store, key: str) -> None:
    with store.transaction(BANK) as tx:
        tx.delete_facts([fact.id for fact in tx.find_facts(FactsWhere(document_ids=[key]))])
        tx.delete_documents([key])
        tx.delete_chunks([chunk.id for chunk in tx.chunks(document_id=key)])
        tx.erased_content()
    store.clear_traces()


def browse(store: Store, limit: int) -> FactPage:
    with store.reading(BANK) as reading:
        return reading.browse(Selection(where=ALL, limit=limit))


def say(*words: object) -> None:
    print(*words, flush=True)


def write(path: str, name: str, first: int, count: int, erase: bool) -> None:
    store = SqliteStore.open(path, busy_timeout_ms=60_000)
    say("ready")
    for number in range(first, first + count):
        write_document(store, name, number)
        say("wrote", number)
        if erase and number % ERASE_EVERY == 0 and number >= ERASE_BACK:
            say("forgetting", number - ERASE_BACK)
            erase_document(store, f"{name}-{number - ERASE_BACK}")
            say("forgot", number - ERASE_BACK)
    store.close()


def erase(path: str) -> None:
    store = SqliteStore.open(path)
    say("ready")
    store.clear_traces()
    with store.reading(BANK) as reading:
        documents = [document.id for document in reading.documents()]
    for document_id in documents:
        say("erasing", document_id)
        erase_document(store, document_id)
        say("erased", document_id)
    store.close()


def read(path: str) -> None:
    """Look at the newest document again and again: it must be whole, in the listing and in the channels."""
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    store = SqliteStore.open(path, busy_timeout_ms=60_000)
    say("ready")
    looks = largest = 0
    done = False
    while not done:
        done = stop.is_set()
        looks += 1
        with store.reading(BANK) as reading:
            total = reading.stats().facts
            assert total % FACTS == 0, f"{total} facts: half a document is visible"
            assert total >= largest, f"{total} facts after {largest}"
            largest = total
            for fact in reading.browse(Selection(where=ALL, limit=1)).facts:
                (tag,) = fact.tags
                tagged = replace(ALL, tags=(TagLeaf(frozenset({tag})),))
                assert len(reading.search(KeywordProbe({tag: 1.0}), tagged, 50)) == FACTS
                assert len(reading.search(SemanticProbe(vector(1)), tagged, 50)) == FACTS
                assert len(reading.facts([f"{tag}-{place}" for place in range(FACTS)])) == FACTS
    store.close()
    say("saw", looks, largest)


def open_files() -> None:
    for line in sys.stdin:
        SqliteStore.open(line.strip()).close()
        say("opened")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["open"]:
            open_files()
        case ["read", path]:
            read(path)
        case ["erase", path]:
            erase(path)
        case [kind, path, name, first, count]:
            write(path, name, int(first), int(count), kind == "change")
