"""Composition: what the settings choose, and what the caller passes in instead."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perdure import EmbeddingModel, InvalidInput, Perdure, Settings, Unavailable
from perdure.adapters import make_embedder, make_reader
from perdure.compose import OwnComponents, compose
from perdure.databases import open_store
from perdure.models.hashing import HashingEmbedder
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.models.run_limiter import shared_run_limiter
from perdure.ports.clock import present
from tests.support.memory_store import MemoryStore

LIGHT = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_all_models_share_one_limit_of_runs(threads: int) -> None:
    limiter = shared_run_limiter(threads)
    assert limiter is shared_run_limiter(threads)
    assert threads in (0, limiter.limit)


def test_models_are_chosen_by_name(tmp_path: Path) -> None:
    assert make_embedder(Settings(embedder="none")) is None
    assert isinstance(make_embedder(Settings(embedder="hashing")), HashingEmbedder)
    assert isinstance(make_embedder(Settings()), OnnxEmbedder)
    assert make_reader(Settings(reranker="none")) is None


def test_objects_that_are_passed_in_are_used_as_they_are() -> None:
    store, embedder = MemoryStore(), HashingEmbedder()
    settings = Settings.model_validate(LIGHT)
    components = compose(settings, present, OwnComponents(store=store, embedder=embedder))
    assert components.retain.store is components.recall.store is store
    assert components.retain.embedder is components.recall.embedder is embedder


def test_a_memory_on_a_store_of_ones_own_remembers() -> None:
    with Perdure.open(store=MemoryStore(), **LIGHT) as memory:
        memory.retain("ann", "I am allergic to walnuts.", speaker="Ann")
        assert "walnuts" in memory.recall("ann", "What is Ann allergic to?").recollections[0].text
        assert memory.banks.get("ann").model == EmbeddingModel("hashing", HashingEmbedder().model.dimensions)


@pytest.mark.parametrize(
    ("database", "error"),
    [
        ("mysql://localhost/x", Unavailable),
        ("sqlite:///", InvalidInput),
        ("postgresql://ann:hush@localhost:hu/sh/x", InvalidInput),
    ],
)
def test_a_database_that_cannot_be_opened_is_refused(database: str, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        open_store(Settings(database=database))
    assert "hush" not in str(caught.value)


def test_postgresql_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "perdure.stores.postgres.store", None)
    with pytest.raises(Unavailable, match=r"perdure\[postgres\]"):
        open_store(Settings(database="postgresql://localhost/x"))


def test_a_misspelt_setting_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="recipie"):
        Perdure.open(tmp_path / "m.db", recipie="fast")  # type: ignore[call-arg]
