"""Clearing the traces of erased content in the background, on a store that keeps them for a while."""

from __future__ import annotations

import time

import pytest

from perdure import Perdure
from perdure.jobs import background
from perdure.ports.store import Traces
from tests.support.memory_store import MemoryStore


class HinderedStore(MemoryStore):
    """A store whose traces a reader keeps until it is told otherwise."""

    hindered = True

    def clears_traces_at_once(self) -> bool:
        return False

    def clear_traces(self) -> Traces:
        return Traces.PENDING if self.hindered else super().clear_traces()


@pytest.fixture(autouse=True)
def _short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PAUSE", 0.01)


def opened(store: MemoryStore) -> Perdure:
    return Perdure.open(store=store, embedder="none", reranker="none", tagger="rules", tokens="approximate")


def cleared(memory: Perdure) -> bool:
    while memory.database.erasure_pending():
        time.sleep(0.01)
    return True


def test_traces_that_a_reader_keeps_are_cleared_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "LOOK_AGAIN", 0.01)
    store = HinderedStore()
    with opened(store) as memory:
        memory.retain("b", "Ann lives in Oslo.", document_id="d")
        memory.forget("b", document_id="d")
        assert memory.database.erasure_pending()
        store.hindered = False
        assert cleared(memory)


def test_traces_that_an_earlier_process_left_are_cleared_at_the_next_opening() -> None:
    store = HinderedStore()
    with opened(store) as memory:
        memory.retain("b", "Ann lives in Oslo.", document_id="d")
        memory.forget("b", document_id="d")
    store.hindered = False
    with opened(store) as memory:
        assert cleared(memory)


def test_what_waits_for_a_pause_between_erasures_is_cleared_at_closing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "PAUSE", 3600.0)
    store = HinderedStore()
    store.hindered = False
    with opened(store) as memory:
        for document in ("d", "e"):
            memory.retain("b", "Ann lives in Oslo.", document_id=document)
            memory.forget("b", document_id=document)
        assert memory.database.erasure_pending()
    assert store.traces() is Traces.CLEARED
