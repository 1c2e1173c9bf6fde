"""Moments as programs write them into their data."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from perdure.domain.time import aware

LONGEST_NUMBER_OF_SECONDS = 1e11
"""Larger numbers are milliseconds since 1970."""
_NUMBER = re.compile(r"\d{9,13}(?:\.\d+)?")


def read_moment(value: object) -> datetime | None:
    """ISO 8601 text, a datetime, or seconds or milliseconds since 1970 (as Slack writes them too); None for anything else."""
    if isinstance(value, datetime):
        return aware(value)
    try:
        if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
            return aware(datetime.fromisoformat(value.strip()))
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        number = float(value)
        return datetime.fromtimestamp(number / 1000 if number > LONGEST_NUMBER_OF_SECONDS else number, UTC)
    except (ValueError, OverflowError, OSError):
        return None
