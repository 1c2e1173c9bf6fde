"""The models themselves: what they give does not depend on company, and long texts are cut sensibly."""

from __future__ import annotations

import shutil
import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from perdure.errors import ModelTampered
from perdure.models import onnx_runtime
from perdure.models.manifest import find_model
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.models.reader import OnnxReader, ReaderReranker
from perdure.models.spacy_tagger import choose_tagger
from perdure.models.tokens import token_counter
from perdure.models.weights import Places, find_weights

BATCH_TOLERANCE = 1e-6
"""How far a vector may be from the one the same text has alone: texts are run one by one, so only rounding is left."""

TEXTS = [
    "Ann works at the observatory in Porto.",
    "Carla repairs violins.",
    "The garden needs water twice a week in summer, says Bob, who has looked after it for years.",
    "Rain. " * 60,
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


def copy_model(folder: Path, name: str = "e5-small-v2") -> Path:
    folder.mkdir(parents=True)
    for file, path in find_weights(find_model(name)).files.items():
        shutil.copy(path, folder / file)
    return folder


def test_vectors_do_not_drift_with_the_batch(embedder: OnnxEmbedder) -> None:
    alone = np.stack([embedder.embed_passages([text])[0] for text in TEXTS])
    together = embedder.embed_passages(TEXTS * 3)
    assert np.abs(together - np.concatenate([alone] * 3)).max() <= BATCH_TOLERANCE


def test_meaning_is_nearer_than_other_meaning(embedder: OnnxEmbedder) -> None:
    question = "Who fixes string instruments?"
    assert int((embedder.embed_passages(TEXTS) @ embedder.embed_query(question)).argmax()) == 1


def test_only_the_beginning_of_a_text_beyond_the_window_counts(embedder: OnnxEmbedder) -> None:
    long = "Ann works in Porto. " * 200
    first, second = embedder.embed_passages([long, long + "Carla repairs violins."])
    assert np.array_equal(first, second)


def test_threads_share_one_session_and_agree(embedder: OnnxEmbedder) -> None:
    expected = embedder.embed_passages(TEXTS)
    results: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: results.append(OnnxEmbedder().embed_passages(TEXTS)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert all(np.array_equal(found, expected) for found in results)
    loaded = [key for key in onnx_runtime._loaded if key[1] == "e5-small-v2"]
    assert len(loaded) == 1


def test_a_changed_model_file_is_refused(tmp_path: Path) -> None:
    folder = copy_model(tmp_path / "e5-small-v2")
    with (folder / "model.onnx").open("r+b") as file:
        file.seek(20_000_000)
        file.write(b"\x01\x02\x03")
    embedder = OnnxEmbedder(places=Places(store=tmp_path))
    for _ in range(2):
        with pytest.raises(ModelTampered, match="changed or damaged"):
            embedder.embed_query("x")


def test_everything_works_with_the_network_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def only_loopback(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):  # type: ignore[index]
            raise AssertionError(f"a connection to {address} was tried")
        connect(self, address)  # type: ignore[arg-type]

    def no_lookup(*_: object, **__: object) -> None:
        raise AssertionError("a name was looked up")

    monkeypatch.setattr(socket.socket, "connect", only_loopback)
    monkeypatch.setattr(socket, "getaddrinfo", no_lookup)
    monkeypatch.setattr(onnx_runtime, "_loaded", {})
    embedder = OnnxEmbedder()
    assert embedder.embed_passages(TEXTS).shape == (4, 384)
    assert ReaderReranker(OnnxReader()).score("violins", TEXTS).shape == (4,)
    for name in ("spacy", "rules"):
        assert choose_tagger(name).tag(TEXTS)[0]
    assert [token_counter(name).count("violins in Porto") for name in ("cl100k", "o200k", "approximate")]
