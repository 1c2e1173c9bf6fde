from __future__ import annotations

import io
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from perdure.models.use_encoder import UseEncoder, neighbourhoods

EMBEDDING, CHANNELS, HIDDEN, OUT = 6, 4, 5, 8
BLOCKS = 17
EPSILON = 1e-6
Array = NDArray[np.float32]


@pytest.fixture
def archive() -> dict[str, Array]:
    draw = np.random.default_rng(3)

    def normal(*shape: int) -> Array:
        return draw.standard_normal(shape).astype(np.float32)

    weights = {f"q{n}": draw.integers(0, 64, (2, EMBEDDING)).astype(np.uint8) for n in range(1, BLOCKS + 1)}
    weights |= {"scale": np.abs(normal(BLOCKS)) / 16, "lo": normal(BLOCKS), "eps": np.array(EPSILON)}
    for n in (2, 3, 5):
        weights |= {f"proj{n}": normal(EMBEDDING, CHANNELS), f"proj_b{n}": normal(CHANNELS)}
        weights |= {f"ln_g{n}": normal(CHANNELS), f"ln_b{n}": normal(CHANNELS)}
        for layer in (1, 2):
            weights |= {f"w{layer}_{n}": normal(n * CHANNELS, CHANNELS), f"b{layer}_{n}": normal(CHANNELS)}
    wide = EMBEDDING + 3 * CHANNELS
    weights |= {
        "ln_g": normal(wide),
        "ln_b": normal(wide),
        "cnn_W": normal(wide, EMBEDDING) / 4,
        "cnn_b": normal(EMBEDDING),
    }
    weights |= {
        "d0": normal(EMBEDDING, HIDDEN),
        "d1": normal(HIDDEN, HIDDEN),
        "p1": normal(EMBEDDING, HIDDEN),
    }
    weights |= {"d2": normal(HIDDEN, OUT), "d3": normal(OUT, OUT) / 4, "p3": normal(HIDDEN, OUT) / 4}
    return weights


def saved(weights: dict[str, Array]) -> bytes:
    target = io.BytesIO()
    np.savez(target, **weights)
    return target.getvalue()


def literal(w: dict[str, Array], ids: list[int]) -> Array:
    """The same encoder, token by token."""

    def norm(row: Array, gain: Array, shift: Array) -> Array:
        return (row - row.mean()) / math.sqrt(row.var() + EPSILON) * gain + shift

    tokens = [
        w[f"q{i % BLOCKS + 1}"][i // BLOCKS] * w["scale"][i % BLOCKS] + w["lo"][i % BLOCKS] for i in ids
    ]
    views = [list(tokens)]
    for n, left in ((2, 0), (3, 1), (5, 2)):
        rows = [norm(t @ w[f"proj{n}"] + w[f"proj_b{n}"], w[f"ln_g{n}"], w[f"ln_b{n}"]) for t in tokens]
        for layer in (1, 2):
            around = [
                [
                    rows[at] if 0 <= at < len(rows) else np.zeros(CHANNELS)
                    for at in range(i - left, i - left + n)
                ]
                for i in range(len(rows))
            ]
            raised = [np.concatenate(row) @ w[f"w{layer}_{n}"] + w[f"b{layer}_{n}"] for row in around]
            rows = [row + np.maximum(up, 0) for row, up in zip(rows, raised, strict=True)]
        views.append(rows)
    total = np.zeros(EMBEDDING)
    for parts in zip(*views, strict=True):
        total += norm(np.concatenate(parts), w["ln_g"], w["ln_b"]) @ w["cnn_W"] + w["cnn_b"]
    pooled = total / math.sqrt(len(ids))
    middle = np.maximum(pooled @ w["p1"] + np.maximum(pooled @ w["d0"], 0) @ w["d1"], 0)
    last = np.tanh(middle @ w["p3"] + np.maximum(middle @ w["d2"], 0) @ w["d3"])
    return last / np.linalg.norm(last)


@pytest.mark.parametrize("ids", [[1, 2], [1, 33, 18, 0, 2], list(range(30))])
def test_the_vector_is_that_of_the_formula_written_out(archive: dict[str, Array], ids: list[int]) -> None:
    encoder = UseEncoder(saved(archive))
    vector = encoder.encode(np.array(ids))
    assert vector.dtype == np.float32
    assert np.allclose(vector, literal(archive, ids), atol=1e-5)
    assert (encoder.dimensions, encoder.vocabulary) == (OUT, 2 * BLOCKS)


def test_beyond_the_ends_of_a_text_there_is_nothing() -> None:
    rows = np.array([[1.0], [2.0], [3.0]], np.float32)
    assert neighbourhoods(rows, 2).tolist() == [[1, 2], [2, 3], [3, 0]]
    assert neighbourhoods(rows, 3).tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 0]]
    assert neighbourhoods(rows[:1], 5).tolist() == [[0, 0, 1, 0, 0]]


def test_other_files_are_refused(archive: dict[str, Array]) -> None:
    del archive["cnn_W"]
    for content in (b"nothing", saved(archive), saved(archive)[:-40]):
        with pytest.raises(ValueError, match=r"not the weights|pickle"):
            UseEncoder(content)
