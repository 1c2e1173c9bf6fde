"""What is still to come is read toward the future, bounds included."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.dates import make_absolute


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("I start on Monday.", datetime(2024, 9, 14, tzinfo=UTC), "I start on 16 September 2024."),
        ("We will ship by Thursday.", datetime(2025, 6, 3, tzinfo=UTC), "We will ship by 5 June 2025."),
        ("The show is on 5 May.", datetime(2025, 6, 3, tzinfo=UTC), "The show is on 5 May 2026."),
        ("The show was on 5 May.", datetime(2025, 6, 3, tzinfo=UTC), "The show was on 5 May 2025."),
        ("It is moved to Thursday.", datetime(2025, 6, 3, tzinfo=UTC), "It is moved to 5 June 2025."),
        ("The visa expires in March.", datetime(2025, 6, 3, tzinfo=UTC), "The visa expires in March 2026."),
        ("I'm not coming on Monday.", datetime(2025, 6, 3, tzinfo=UTC), "I'm not coming on 9 June 2025."),
        (
            "We have a meeting on Monday.",
            datetime(2025, 6, 3, tzinfo=UTC),
            "We have a meeting on 9 June 2025.",
        ),
        ("Rotate the keys by Thursday.", datetime(2025, 6, 3, tzinfo=UTC), "Rotate the keys by 5 June 2025."),
        ("We stayed until Thursday.", datetime(2025, 6, 3, tzinfo=UTC), "We stayed until 29 May 2025."),
        ("We shipped on Thursday.", datetime(2025, 6, 3, tzinfo=UTC), "We shipped on 29 May 2025."),
    ],
)
def test_tense_decides(text: str, said: datetime, expected: str) -> None:
    assert make_absolute(text, said) == expected
