"""Instants given by callers."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput


@pytest.mark.parametrize("value", [b"2024-05-01", 5, "yesterday", "", ["2024"], "0001-01-01T00:00:00+25:00"])
def test_what_is_no_instant_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_instant(value, "timestamp")
    assert refused.value.field == "timestamp"
