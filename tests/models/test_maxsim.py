from __future__ import annotations

import numpy as np
import pytest

from perdure.errors import ModelError
from perdure.models.maxsim import AXES, TokenPacking, packing_of


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


def test_long_passages_keep_a_bounded_number_of_tokens(packing: TokenPacking) -> None:
    assert len(packing.pack(states(2, 500))) == 48 * AXES // 2 <= 3 * 1024
    assert len(packing.pack(states(2, 48))) == 48 * AXES // 2


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


def test_the_same_tokens_are_the_best_match(packing: TokenPacking) -> None:
    made = states(10, 6)
    scores = packing.score(packing.project(made), [packing.pack(states(11, 6)), packing.pack(made)])
    assert scores[1] > 0.97 > 0.5 > scores[0]
