"""Schedules: what five fields mean, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import InvalidInput
from perdure.domain.cron import Cron

NOW = datetime(2026, 11, 18, 9, 30, 15, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * *", "2026-11-18T09:31"),
        ("0 3 * * *", "2026-11-19T03:00"),
        ("*/20 * * * *", "2026-11-18T09:40"),
        ("5/20 9 * * *", "2026-11-18T09:45"),
        ("30 9 * * *", "2026-11-19T09:30"),
        ("0 0 1 * *", "2026-12-01T00:00"),
        ("0 12 * * 1-5", "2026-11-18T12:00"),
        ("0 12 * * sun", "2026-11-22T12:00"),
        ("0 12 * * 7", "2026-11-22T12:00"),
        ("0 12 * * 0", "2026-11-22T12:00"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
        ("0 0 13 * fri", "2026-11-20T00:00"),  # day of month or day of week, where both are restricted
        ("0 0 1,15 JAN,jul *", "2027-01-01T00:00"),
        ("0 0 */10 * *", "2026-11-21T00:00"),
    ],
)
def test_the_next_moment(expression: str, expected: str) -> None:
    assert Cron.read(expression).next_after(NOW) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "expression",
    [
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *",
        "* * * * 8", "-1 * * * *", "5-1 * * * *", "*/0 * * * *", "a * * * *", "1,, * * * *", "* * 31 feb *",
        "1.5 * * * *", "@daily", "* * * * mon-",
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(expression: str) -> None:
    with pytest.raises(InvalidInput, match="cron"):
        Cron.read(expression)


def test_a_moment_of_another_zone_counts_as_the_instant_it_is() -> None:
    lisbon_winter = NOW.astimezone(timezone(timedelta(hours=5)))
    assert Cron.read("0 3 * * *").next_after(lisbon_winter) == Cron.read("0 3 * * *").next_after(NOW)


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),
    st.integers(0, 59),
    st.integers(0, 23),
)
def test_the_next_moment_is_the_first_one_after(moment: datetime, minute: int, hour: int) -> None:
    cron = Cron.read(f"{minute} {hour} * * *")
    then = cron.next_after(moment)
    assert (then.minute, then.hour, then.second) == (minute, hour, 0)
    assert timedelta(0) < then - moment <= timedelta(days=1)
    assert cron.next_after(then) == then + timedelta(days=1)
