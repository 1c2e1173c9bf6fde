"""A bank changes over to another embedder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perdure.domain.bank import EmbeddingModel
from perdure.errors import InvalidInput
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.manage import reembed as module
from perdure.manage.curation import update_fact
from perdure.manage.reembed import embed_facts, reembed
from perdure.models.hashing import HashingEmbedder
from perdure.ports.store import StagedVectors
from perdure.text.smoothing import smooth, stands_alone
from tests.manage.memory import Memory

TURNS = [
    {
        "content": f"Turn {n} speaks of subject {n * 7}.",
        "document_id": f"d{n // 4}",
        "timestamp": "2024-04-01",
    }
    for n in range(10)
]


class OtherEmbedder(HashingEmbedder):
    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel("other", super().model.dimensions)


def test_every_fact_is_embedded_anew_and_the_bank_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 3)
    memory = Memory()
    said = memory.retain(TURNS)
    edited = update_fact(memory.components, "b", said[5], {"text": "Turn five was edited."})
    before = memory.features([*said, edited.id])
    told: list[float] = []
    other = replace(memory.components, embedder=OtherEmbedder())
    assert reembed(other, "b", progress=told.append) == 11
    assert memory.store.banks()[0].model == OtherEmbedder().model
    assert told == sorted(told)
    assert told[-1] == 1.0
    after = memory.features([*said, edited.id])
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new.vectors["fact"], old.vectors["fact"], atol=1e-6)
        np.testing.assert_allclose(new.vectors["context"], old.vectors["context"], atol=1e-6)
    assert stands_alone(after[-1].vectors)


def test_what_an_interrupted_run_staged_is_kept() -> None:
    memory = Memory()
    said = memory.retain(TURNS[:4] + TURNS[8:])
    other = OtherEmbedder()
    views = dict.fromkeys(("fact", "context"), other.embed_query("kept"))
    with memory.store.transaction("b") as tx:
        tx.stage_vectors(other.model, [StagedVectors(fact_id, views) for fact_id in said[4:]])
    assert reembed(replace(memory.components, embedder=other), "b") == 4
    np.testing.assert_array_equal(memory.features(said)[5].vectors["fact"], views["fact"])


def test_without_an_embedder_it_is_refused() -> None:
    memory = Memory()
    with pytest.raises(InvalidInput, match="embedder"):
        reembed(replace(memory.components, embedder=None), "b")


def test_facts_that_an_erasure_left_without_vectors_get_them_again() -> None:
    memory = Memory()
    title = "The passport is X4471"
    turns = ["The passport is X4471", "It rains on Sunday.", "We bought seven lemons."]
    said = memory.retain([{"content": turn, "document_id": "d", "title": title} for turn in turns])
    gone = forget(memory.store, "b", Target(fact_id=said[0]))
    assert gone.unembedded == said[1:]
    assert [own.vectors for own in memory.features(said[1:])] == [{}, {}]
    assert embed_facts(memory.components, "b", gone.unembedded) == 2
    first, second = (own.vectors for own in memory.features(said[1:]))
    lengths = [len(turn) for turn in turns[1:]]
    expected = smooth(np.stack([first["fact"], second["fact"]]), lengths)
    np.testing.assert_allclose(first["context"], expected[0], atol=1e-6)
    np.testing.assert_allclose(second["context"], expected[1], atol=1e-6)
    unfitting = replace(memory.components, embedder=OtherEmbedder())
    assert embed_facts(unfitting, "b", gone.unembedded) == 0
