"""The time a statement gives, worked out by hand; said on Wednesday 13 May 2026 at 10.

An expected time is "first day/first day after it" or a moment, open sides left out; "ahead" where it is still to come.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from perdure.dates import DateWindow, stated_time

SAID = datetime(2026, 5, 13, 10, tzinfo=UTC)

TIMES: dict[str, str | None] = {
    "We're done by the end of the month.": "/2026-06-01 ahead",
    "I'll be back at the end of June.": "2026-06-30/2026-07-01 ahead",
    "So I asked for days, and from July on I work in the ward.": "2026-07-01/ ahead",
    "From March on I lived in Rome.": "2026-03-01/",
    "We moved in early April.": "2026-04-01/2026-04-16",
    "The trip is in late June.": "2026-06-16/2026-07-01 ahead",
    "It opens in mid-June.": "2026-06-15/2026-06-16 ahead",
    "I start at the beginning of July.": "2026-07-01/2026-07-02 ahead",
    "We went camping last weekend.": "2026-05-09/2026-05-11",
    "I painted the fence over the weekend.": "2026-05-09/2026-05-11",
    "We're hiking over the weekend.": "2026-05-16/2026-05-18 ahead",
    "Next weekend we're in Graz.": "2026-05-23/2026-05-25 ahead",
    "The interview is a week from Friday.": "2026-05-22/2026-05-23 ahead",
    "The party is two weeks from Saturday.": "2026-05-30/2026-05-31 ahead",
    "I fly home in a fortnight.": "2026-05-27/2026-05-28 ahead",
    "We leave in a couple of weeks.": "2026-05-27/2026-05-28 ahead",
    "We leave in two weeks.": "2026-05-27/2026-05-28 ahead",
    "She's coming in three days.": "2026-05-16/2026-05-17 ahead",
    "The exam is in a week.": "2026-05-20/2026-05-21 ahead",
    "I'll be done in a month.": "2026-06-01/2026-07-01 ahead",
    "He retires in two years.": "2028-01-01/2029-01-01 ahead",
    "A week ago I fell off a ladder.": "2026-05-06/2026-05-07",
    "I quit five months ago.": "2025-12-01/2026-01-01",
    "We met three years ago.": "2023-01-01/2024-01-01",
    "The day before yesterday it snowed.": "2026-05-11/2026-05-12",
    "Dinner tonight at 8?": "2026-05-13T20:00 ahead",
    "Dinner at 8 tonight.": "2026-05-13T20:00 ahead",
    "I'm seeing her tomorrow at noon.": "2026-05-14T12:00 ahead",
    "Call me tomorrow at half past seven.": "2026-05-14T07:30 ahead",
    "The call is at 3 pm on Friday.": "2026-05-15T15:00 ahead",
    "The call is on Friday at 15:00.": "2026-05-15T15:00 ahead",
    "We met at 7:25 yesterday.": "2026-05-12T07:25",
    "Yesterday evening at 7 the power went out.": "2026-05-12T19:00",
    "I woke up at 5:10 this morning.": "2026-05-13T05:10",
    "The train leaves at 6:05 am on June 2.": "2026-06-02T06:05 ahead",
    "Tomorrow morning at 9 we sign.": "2026-05-14T09:00 ahead",
    "I'll call you this afternoon.": "2026-05-13/2026-05-14 ahead",
    "I fell asleep last night on the sofa.": "2026-05-12/2026-05-13",
    "He called me this morning.": "2026-05-13/2026-05-14",
    "See you tomorrow morning.": "2026-05-14/2026-05-15 ahead",
    "We're in Rome from June 3 to June 9.": "2026-06-03/2026-06-10 ahead",
    "We were in Rome from April 3 to April 9.": "2026-04-03/2026-04-10",
    "I was there between March 2 and March 5.": "2026-03-02/2026-03-06",
    "I'm on leave June 8-19.": "2026-06-08/2026-06-20 ahead",
    "I've lived here since 2018.": "2018-01-01/",
    "I've been sick since Sunday.": "2026-05-10/",
    "Since last week my knee hurts.": "2026-05-04/",
    "The offer is valid through May 31.": "/2026-06-01 ahead",
    "Registration is open until June 30.": "/2026-07-01 ahead",
    "Return it before June 1.": "/2026-06-01 ahead",
    "I was in Japan in 2019.": "2019-01-01/2020-01-01",
    "Spring of 2021 was tough.": "2021-03-01/2021-06-01",
    "Last winter I broke my leg.": "2025-12-01/2026-03-01",
    "This summer I'm going to Greece.": "2026-06-01/2026-09-01 ahead",
    "I graduated in June 2015.": "2015-06-01/2015-07-01",
    "The invoice is from 3.4.2026.": "2026-04-03/2026-04-04",
    "Delivery on 12.06.2026 confirmed.": "2026-06-12/2026-06-13 ahead",
    "Meeting on 5/20.": "2026-05-20/2026-05-21 ahead",
    "We met on 4/20.": "2026-04-20/2026-04-21",
    "I bought it on 03/28/2026.": "2026-03-28/2026-03-29",
    "Due 2026-06-30.": "2026-06-30/2026-07-01 ahead",
    "On the 5th I finally finished it.": "2026-05-05/2026-05-06",
    "On the 25th I'm off.": "2026-05-25/2026-05-26 ahead",
    "The last week of April was awful.": "2026-04-27/2026-05-04",
    "We'll know in the first week of June.": "2026-06-01/2026-06-08 ahead",
    "It happened on the first Monday of May.": "2026-05-04/2026-05-05",
    "I'm off the week of June 8.": "2026-06-08/2026-06-15 ahead",
    "She was born in the 1990s.": "1990-01-01/2000-01-01",
    "We got the keys three weeks ago today.": "2026-04-22/2026-04-23",
    "Christmas is at my parents' this year.": "2026-12-25/2026-12-26 ahead",
    "We spent Easter in Rome.": "2026-04-05/2026-04-06",
    "We met on New Year's Eve.": "2025-12-31/2026-01-01",
    "I'm hosting Thanksgiving.": "2026-11-26/2026-11-27 ahead",
    "The concert is on Saturday, June 6.": "2026-06-06/2026-06-07 ahead",
    "He turned 80 on Sunday, May 3rd.": "2026-05-03/2026-05-04",
    "I'll see you Friday morning.": "2026-05-15/2026-05-16 ahead",
    "The storm hit Sunday night.": "2026-05-10/2026-05-11",
    "This Friday we play the finals.": "2026-05-15/2026-05-16 ahead",
    "I'm seeing my therapist next Thursday.": "2026-05-21/2026-05-22 ahead",
    "Last Monday my bike was stolen.": "2026-05-04/2026-05-05",
    "This Monday my bike was stolen.": "2026-05-11/2026-05-12",
    "On Wednesday I signed the lease.": "2026-05-06/2026-05-07",
    "On Wednesday I'm signing the lease.": "2026-05-20/2026-05-21 ahead",
    "Earlier this week I saw a deer.": "2026-05-11/2026-05-13",
    "Later today I have a call.": "2026-05-13/2026-05-14 ahead",
    "I ate sushi today.": "2026-05-13/2026-05-14",
    "We're launching this week.": "2026-05-11/2026-05-18 ahead",
    "This week was hard.": "2026-05-11/2026-05-18",
    "I've read ten books this year.": "2026-01-01/2027-01-01",
    "I want to read ten books this year.": "2026-01-01/2027-01-01 ahead",
    "The deadline was yesterday.": "2026-05-12/2026-05-13",
    "Ten minutes ago he hung up.": "2026-05-13/2026-05-14",
    "I'll be there in ten minutes.": "2026-05-13/2026-05-14 ahead",
    "Doors open at 7 on Saturday.": "2026-05-16T07:00 ahead",
    "The movie starts Friday at 9:30pm.": "2026-05-15T21:30 ahead",
    "By tomorrow I need an answer.": "/2026-05-15 ahead",
    "By then it was over.": None,
    "I was home by midnight.": None,
    "It started raining around noon yesterday.": "2026-05-12T12:00",
}


def shown(window: DateWindow, moment: bool) -> str:
    start, end = window.start, window.end
    if moment:
        return f"{start:%Y-%m-%dT%H:%M}"
    after = None if end is None else (end - timedelta(microseconds=1)).date() + timedelta(days=1)
    return f"{'' if start is None else start.date()}/{after or ''}"


@pytest.mark.parametrize("text", sorted(TIMES))
def test_the_time_of_a_statement(text: str) -> None:
    stated, expected = stated_time(text, SAID), TIMES[text]
    if stated is None or expected is None:
        assert stated is None
        assert expected is None
        return
    written = shown(stated.window, "T" in expected)
    assert (f"{written} ahead" if stated.planned else written) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('The note says "plumber tomorrow at 9", just so you know.', "tomorrow at 9"),
        ('Her words were: "I moved out on Sunday."', "Sunday"),
        ('He said "see you on June 4" and hung up.', "June 4"),
        ('He said "see you on Friday" and hung up.', None),
        ('She always says "tomorrow" when I ask.', None),
        ('How do you say "on Friday" in Finnish?', None),
        ("Run `git log --since='last week'` to see it.", None),
        ("https://example.org/2024/05/01/notes is worth reading.", None),
        ("The file is backups/2024-05-01/db.sql on the old disk.", None),
        ("# Notes of 3 May 2026", None),
    ],
)
def test_quotations_count_where_they_are_reported_and_code_never(text: str, words: str | None) -> None:
    stated = stated_time(text, SAID)
    assert (None if stated is None else stated.span.text) == words
