"""What is still to come is read toward the future, bounds included."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.text.dates import make_absolute


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("I start on Monday.", datetime(2024, 9, 14, tzinfo=UTC), "I start on 16 September 2024."),
        ("We will ship by Thursday.", datetime(2025, 6, 3, tzinfo=UTC), "We will ship by 5 June 2025."),
        ("We shipped on Thursday.", datetime(2025, 6, 3, tzinfo=UTC), "We shipped on 29 May 2025."),
    ],
)
def test_tense_decides(text: str, said: datetime, expected: str) -> None:
    assert make_absolute(text, said) == expected
