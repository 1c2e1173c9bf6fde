"""Matrix products without BLAS threads, and the limit that a process may set."""

from __future__ import annotations

import numpy as np
import pytest

from perdure.models.blas import Factor, product


@pytest.mark.parametrize(
    "shape", [(0, 384, 128), (1, 384, 128), (9, 384, 128), (200, 384, 128), (61, 288, 288)]
)
def test_a_product_in_blocks_is_the_product(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    draw = np.random.default_rng(0)
    left = draw.standard_normal((rows, inner), np.float32)
    right = draw.standard_normal((columns, inner), np.float32)
    assert product(left, right.T).dtype == np.float32
    np.testing.assert_allclose(product(left, right.T), left @ right.T, atol=1e-3)
    np.testing.assert_allclose(product(left[::2], right.T), left[::2] @ right.T, atol=1e-3)


def test_a_matrix_of_any_size_can_be_the_right_one() -> None:
    left, right = np.ones((9, 2), np.float32), np.ones((2, 1 << 19), np.float32)
    assert (product(left, right) == 2).all()
    assert product(left, np.ones((2, 0), np.float32)).shape == (9, 0)


@pytest.mark.parametrize("shape", [(0, 512, 256), (1, 512, 768), (8, 1280, 256), (21, 1280, 256), (3, 7, 5)])
def test_a_large_factor_in_blocks_gives_the_product(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    draw = np.random.default_rng(0)
    left, right = (
        draw.standard_normal((rows, inner), np.float32),
        draw.standard_normal((inner, columns), np.float32),
    )
    result = Factor(right).after(left)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, left @ right, atol=1e-3)
