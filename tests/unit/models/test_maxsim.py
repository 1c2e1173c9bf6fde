from __future__ import annotations

import numpy as np
import pytest

from perdure.errors import ModelError
from perdure.models.maxsim import AXES, TokenPacking, merge_alike, packing_of


@pytest.fixture
def packing() -> TokenPacking:
    return packing_of("no-such-model", 384)


def states(seed: int, tokens: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((tokens, 384)).astype(np.float32)


def test_a_token_takes_64_bytes_and_survives_the_packing(packing: TokenPacking) -> None:
    made = states(1, 30)
    packed = packing.pack(made)
    assert len(packed) == 30 * AXES // 2
    cosines = (packing.unpack(packed) * packing.project(made)).sum(axis=1)
    assert cosines.min() > 0.97


def test_models_of_any_width_are_packed() -> None:
    narrow = packing_of("no-such-model", 6)
    made = np.random.default_rng(12).standard_normal((5, 6)).astype(np.float32)
    packed = narrow.pack(made)
    assert len(packed) == 5 * 3
    assert (narrow.unpack(packed) * narrow.project(made)).sum(axis=1).min() > 0.97
    assert narrow.score(narrow.project(made), [packed])[0] > 0.97


def test_long_passages_keep_a_bounded_number_of_tokens(packing: TokenPacking) -> None:
    assert len(packing.pack(states(2, 500))) == 48 * AXES // 2 <= 3 * 1024
    assert len(packing.pack(states(2, 48))) == 48 * AXES // 2


def test_the_most_alike_tokens_are_put_together(packing: TokenPacking) -> None:
    apart = packing.project(states(20, 40))
    nearly = np.concatenate([apart, apart + 0.01 * packing.project(states(21, 40))]).astype(np.float32)
    merged = merge_alike(nearly / np.linalg.norm(nearly, axis=1, keepdims=True), 40)
    assert merged.shape == apart.shape
    assert (merged * apart).sum(axis=1).min() > 0.999
    assert np.allclose(np.linalg.norm(merged, axis=1), 1.0, atol=1e-5)


def test_long_and_short_packings_of_the_same_tokens_find_each_other(packing: TokenPacking) -> None:
    made = states(22, 60)
    other = packing.pack(states(23, 60))
    scores = packing.score(packing.project(made[:8]), [packing.pack(made), other])
    assert scores[0] > scores[1] + 0.3


def test_bytes_of_another_packing_are_refused(packing: TokenPacking) -> None:
    with pytest.raises(ModelError, match="re-embed"):
        packing.score(packing.project(states(24, 3)), [packing.pack(states(25, 4))[:-3]])


def test_scores_are_the_mean_of_the_best_cosines(packing: TokenPacking) -> None:
    query = packing.project(states(3, 7))
    packed = [packing.pack(states(seed, tokens)) for seed, tokens in ((4, 1), (5, 40), (6, 90))]
    expected = [float((query @ packing.unpack(one).T).max(axis=1).mean()) for one in packed]
    assert packing.score(query, packed) == pytest.approx(expected, abs=1e-5)


def test_passages_without_tokens_score_zero_wherever_they_stand(packing: TokenPacking) -> None:
    query, filled = packing.project(states(7, 3)), packing.pack(states(8, 5))
    scores = packing.score(query, [b"", filled, b"", b"", filled, b""])
    assert scores[[0, 2, 3, 5]].tolist() == [0.0] * 4
    assert scores[1] == scores[4] != 0.0
    assert packing.score(query, [b"", b""]).tolist() == [0.0, 0.0]
    assert packing.score(query, []).shape == (0,)
    assert packing.score(query[:0], [filled]).tolist() == [0.0]
    assert packing.pack(states(9, 0)) == b""


def test_the_same_tokens_are_the_best_match(packing: TokenPacking) -> None:
    made = states(10, 6)
    scores = packing.score(packing.project(made), [packing.pack(states(11, 6)), packing.pack(made)])
    assert scores[1] > 0.97 > 0.5 > scores[0]


@pytest.mark.parametrize("model", ["e5-small-v2", "answerai-colbert-small-v1"])
def test_fitted_packings_have_orthogonal_axes_and_another_name(model: str) -> None:
    fitted = packing_of(model, 384)
    assert fitted.name != packing_of("no-such-model", 384).name
    assert fitted.mean.shape == (384,)
    assert np.allclose(fitted.axes.T @ fitted.axes, np.eye(AXES), atol=5e-3)
