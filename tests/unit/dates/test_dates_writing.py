"""Absolute rewriting, occurred windows, descriptions and anchors; said on Monday 8 May 2023 at noon."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.dates import DateWindow, describe_window, make_absolute, occurred_window, read_anchors

SAID = datetime(2023, 5, 8, 12, tzinfo=UTC)

ABSOLUTE = {
    "I went there yesterday": "I went there on 7 May 2023",
    "Yesterday I went home.": "On 7 May 2023 I went home.",
    "We met last week and talked.": "We met in the week of 1 May 2023 and talked.",
    "Last week was great": "The week of 1 May 2023 was great",
    "I saw her on Friday": "I saw her on 5 May 2023",
    "I will see her on Friday": "I will see her on 12 May 2023",
    "I moved here two years ago": "I moved here in 2021",
    "She left in March.": "She left in March 2023.",
    "I was born on May 3": "I was born on 3 May 2023",
    "We danced last night": "We danced on the night of 7 May 2023",
    "We spoke yesterday at 5": "We spoke on 7 May 2023 at 5",
    "since last March I run": "since March 2023 I run",
    "last year's trip": "2022's trip",
    "over the past 3 months I slept badly": "between 8 February and 8 May 2023 I slept badly",
    "Q3 last year was good": "The third quarter of 2022 was good",
    "He left on 3 May 2021": "He left on 3 May 2021",
    "I recently bought a car": "I recently bought a car",
    "The next day we left": "The next day we left",
    "It took two weeks": "It took two weeks",
    "We run every Monday": "We run every Monday",
    "I am tired now": "I am tired now",
    "It took place Friday": "It took place on 5 May 2023",
    "No. Friday it was": "No. On 5 May 2023 it was",
    'She said "During May we slept"': 'She said "In May 2023 we slept"',
    "The talk was moved from Monday to Wednesday": "The talk was moved from Monday to Wednesday",
    "We were away from Tuesday to Thursday": "We were away between 2 and 4 May 2023",
    "My birthday is on 4 May": "My birthday is on 4 May",
    "My birthday was on 4 May": "My birthday was on 4 May 2023",
    "My birthday is next Monday": "My birthday is on 15 May 2023",
    "billing | Ann | Tue": "billing | Ann | Tue",
    "I ran 10k in 55 minutes": "I ran 10k in 55 minutes",
    "He told me the exam is in two weeks": "He told me the exam is in the week of 22 May 2023",
    "I go there twice a year, usually in August": "I go there twice a year, usually in August",
    "I booked a table for Friday": "I booked a table for 12 May 2023",
    "Timeout (attempt 3/5)": "Timeout (attempt 3/5)",
    "We met on 3/5": "We met on 5 March 2023",
    "Thanksgiving's always special": "Thanksgiving's always special",
    "I got a bike for Christmas": "I got a bike for Christmas",
    "We met last Christmas": "We met last Christmas (25 December 2022)",
    "We met last Valentine’s Day": "We met last Valentine’s Day (14 February 2023)",
}


@pytest.mark.parametrize("text", sorted(ABSOLUTE))
def test_make_absolute(text: str) -> None:
    assert make_absolute(text, SAID) == ABSOLUTE[text]


def test_other_languages_stay_as_they_are() -> None:
    assert make_absolute("Ayer fui al cine con mi hermana", SAID) == "Ayer fui al cine con mi hermana"


OCCURRED = {
    "I went there yesterday": "on 7 May 2023",
    "I will go tomorrow but last May I stayed": "in May 2022",
    "We lived there from 2016 to 2018": "between 2016 and 2018",
    "It took two weeks": None,
    "We run every Monday": None,
    "I leave next week": None,
    "The next day we left": None,
    "My birthday is on 4 May": None,
    "The talk was moved from Monday to Wednesday": None,
    "Ayer fui al cine con mi hermana": "on 7 May 2023",
}


@pytest.mark.parametrize("text", sorted(OCCURRED))
def test_occurred_window(text: str) -> None:
    window = occurred_window(text, SAID)
    assert (None if window is None else describe_window(window)) == OCCURRED[text]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((2024, 6, 1), (2024, 7, 1), "in June 2024"),
        ((2023, 5, 7), (2023, 5, 8), "on 7 May 2023"),
        ((2023, 5, 3), (2023, 5, 10), "between 3 and 9 May 2023"),
        ((2023, 4, 28), (2023, 5, 4), "between 28 April and 3 May 2023"),
        ((2022, 12, 30), (2023, 1, 2), "between 30 December 2022 and 1 January 2023"),
        ((2022, 1, 1), (2023, 1, 1), "in 2022"),
        ((1990, 1, 1), (2000, 1, 1), "in the 1990s"),
        ((2022, 7, 1), (2022, 10, 1), "between July and September 2022"),
        ((2023, 5, 7, 17), (2023, 5, 7, 18), "on 7 May 2023 at 17:00"),
        ((2023, 5, 7, 15), (2023, 5, 7, 20), "on 7 May 2023 between 15:00 and 20:00"),
        ((2019, 1, 1), None, "since 2019"),
        (None, (2018, 3, 1), "before March 2018"),
        (None, None, "at some time"),
    ],
)
def test_describe_window(start: tuple[int, ...] | None, end: tuple[int, ...] | None, expected: str) -> None:
    edges = [None if edge is None else datetime(*edge, tzinfo=UTC) for edge in (start, end)]  # type: ignore[misc]
    assert describe_window(DateWindow(*edges)) == expected


ANCHORS = {
    "What did she do before Alice joined Google?": [("before", "Alice joined Google")],
    "Where did he live after the wedding?": [("after", "the wedding")],
    "Since the accident I can't run": [("since", "the accident")],
    "He was happy when he met Anna, and left": [("when", "he met Anna")],
    "While I was in Paris, I ate well.": [("during", "I was in Paris")],
    "During her trip to Rome, they fought": [("during", "her trip to Rome")],
    "He stayed until the bell rang": [("until", "the bell rang")],
    "When did he go?": [],
    "before 2018 he left": [],
    "since last Monday I run": [],
    "after Easter": [],
    "after that we left": [],
    "before the second week of May": [],
}


@pytest.mark.parametrize("text", sorted(ANCHORS))
def test_anchors(text: str) -> None:
    found = read_anchors(text)
    assert [(anchor.relation, anchor.text) for anchor in found] == ANCHORS[text]
    assert all(text[anchor.start : anchor.end] == anchor.text for anchor in found)
