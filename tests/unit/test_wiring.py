"""Wiring: what the settings choose."""

from __future__ import annotations

import pytest

from perdure.compose import cores
from perdure.settings import Settings


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_all_models_share_one_budget_of_cores(threads: int) -> None:
    settings = Settings(threads=threads)
    assert cores(settings) is cores(settings)
    assert threads in (0, cores(settings).limit)
