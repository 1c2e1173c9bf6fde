"""Annotated texts, descriptions of windows and anchors; said on Monday 8 May 2023 at noon."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.dates import DateWindow, annotate, describe_window, read_anchors

SAID = datetime(2023, 5, 8, 12, tzinfo=UTC)

ANNOTATED = {
    "I went there yesterday": "I went there yesterday [7 May 2023]",
    "We met last week and talked.": "We met last week [the week of 1 May 2023] and talked.",
    "I saw her on Friday": "I saw her on Friday [5 May 2023]",
    "I will see her on Friday": "I will see her on Friday [12 May 2023]",
    "I moved here two years ago": "I moved here two years ago [2021]",
    "She left in March.": "She left in March [March 2023].",
    "We danced last night": "We danced last night [the night of 7 May 2023]",
    "We spoke yesterday at 5pm": "We spoke yesterday at 5pm [7 May 2023 at 17:00]",
    "since last March I run": "since last March [March 2023] I run",
    "We will ship by Thursday.": "We will ship by Thursday [11 May 2023].",
    "We had fun last summer": "We had fun last summer [summer 2022]",
    "We were away last weekend": "We were away last weekend [the weekend of 6 May 2023]",
    "Q3 last year was good": "Q3 last year [the third quarter of 2022] was good",
    "He left on 3 May 2021": "He left on 3 May 2021",
    "I recently bought a car": "I recently bought a car",
    "The next day we left": "The next day we left",
    "It took two weeks": "It took two weeks",
    "We run every Monday": "We run every Monday",
    "I am tired now": "I am tired now",
    'She said "During May we slept" last week': 'She said "During May we slept" last week [the week of 1 May 2023]',
    "The talk was moved from Monday to Wednesday": "The talk was moved from Monday to Wednesday",
    "My birthday is on 4 May": "My birthday is on 4 May",
    "My birthday was on 4 May": "My birthday was on 4 May [4 May 2023]",
    "billing | Ann | Tue": "billing | Ann | Tue",
    "I ran 10k in 55 minutes": "I ran 10k in 55 minutes",
    "Timeout (attempt 3/5)": "Timeout (attempt 3/5)",
    "We met on 3/5": "We met on 3/5 [5 March 2023]",
    "We met last Christmas": "We met last Christmas [25 December 2022]",
    "See `cal yesterday` in /var/log/yesterday/x": "See `cal yesterday` in /var/log/yesterday/x",
    "Ayer fui al cine con mi hermana": "Ayer fui al cine con mi hermana",
}


@pytest.mark.parametrize("text", sorted(ANNOTATED))
def test_resolved_dates_stand_in_brackets_behind_the_words(text: str) -> None:
    assert annotate(text, SAID) == ANNOTATED[text]


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
