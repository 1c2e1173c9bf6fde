"""English expressions against windows worked out by hand; said on Wednesday 14 June 2023 at 15:30."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.dates import DateOptions, DateSpan, read_dates

NOW = datetime(2023, 6, 14, 15, 30, tzinfo=UTC)


def only(text: str, **kwargs: object) -> DateSpan:
    spans = read_dates(text, NOW, **kwargs)  # type: ignore[arg-type]
    assert len(spans) == 1, [span.text for span in spans]
    return spans[0]


def shown(span: DateSpan) -> str:
    assert span.window is not None
    return " ".join("open" if edge is None else _short(edge) for edge in (span.window.start, span.window.end))


def _short(moment: datetime) -> str:
    return (
        f"{moment:%Y-%m-%d}"
        if (moment.hour, moment.minute, moment.second) == (0, 0, 0)
        else f"{moment:%Y-%m-%dT%H:%M}"
    )


DAYS = {
    "We met yesterday.": ("yesterday", "2023-06-13 2023-06-14"),
    "The day before yesterday it rained": ("The day before yesterday", "2023-06-12 2023-06-13"),
    "She called on Friday": ("Friday", "2023-06-09 2023-06-10"),
    "She called last Friday": ("last Friday", "2023-06-09 2023-06-10"),
    "He was here this past Monday": ("this past Monday", "2023-06-12 2023-06-13"),
    "Born on the 3rd of March 1987": ("the 3rd of March 1987", "1987-03-03 1987-03-04"),
    "Born March 3, 1987": ("March 3, 1987", "1987-03-03 1987-03-04"),
    "on twenty five January nineteen eighty six": (
        "twenty five January nineteen eighty six",
        "1986-01-25 1986-01-26",
    ),
    "logged 2021-11-30 here": ("2021-11-30", "2021-11-30 2021-12-01"),
    "logged 30.11.2021 here": ("30.11.2021", "2021-11-30 2021-12-01"),
    "a couple of Fridays ago we danced": ("a couple of Fridays ago", "2023-06-02 2023-06-03"),
    "three days before last Christmas": ("three days before last Christmas", "2022-12-22 2022-12-23"),
    "the second Tuesday of May": ("the second Tuesday of May", "2023-05-09 2023-05-10"),
    "on Easter 2024": ("Easter 2024", "2024-03-31 2024-04-01"),
    "last Thanksgiving": ("last Thanksgiving", "2022-11-24 2022-11-25"),
    "on Chinese New Year 2024": ("Chinese New Year 2024", "2024-02-10 2024-02-11"),
    "on the 12th": ("the 12th", "2023-06-12 2023-06-13"),
    "two weeks from tomorrow": ("two weeks from tomorrow", "2023-06-29 2023-06-30"),
    "the Sunday after Thanksgiving 2022": ("the Sunday after Thanksgiving 2022", "2022-11-27 2022-11-28"),
}

RANGES = {
    "last spring": ("last spring", "2023-03-01 2023-06-01"),
    "last summer": ("last summer", "2022-06-01 2022-09-01"),
    "in March": ("March", "2023-03-01 2023-04-01"),
    "in November": ("November", "2022-11-01 2022-12-01"),
    "in November 2019": ("November 2019", "2019-11-01 2019-12-01"),
    "Q3 last year": ("Q3 last year", "2022-07-01 2022-10-01"),
    "the second half of 2020": ("the second half of 2020", "2020-07-01 2021-01-01"),
    "in the 1990s": ("the 1990s", "1990-01-01 2000-01-01"),
    "in the nineties": ("the nineties", "1990-01-01 2000-01-01"),
    "the 19th century": ("19th century", "1800-01-01 1900-01-01"),
    "last week": ("last week", "2023-06-05 2023-06-12"),
    "last weekend": ("last weekend", "2023-06-10 2023-06-12"),
    "two weekends ago": ("two weekends ago", "2023-06-03 2023-06-05"),
    "the week before Easter 2023": ("the week before Easter 2023", "2023-04-02 2023-04-09"),
    "the second week of May": ("the second week of May", "2023-05-08 2023-05-15"),
    "since March": ("since March", "2023-03-01 open"),
    "after 2018": ("after 2018", "2019-01-01 open"),
    "before 2018": ("before 2018", "open 2018-01-01"),
    "until 3 May 2021": ("until 3 May 2021", "open 2021-05-04"),
    "from Monday to Wednesday": ("from Monday to Wednesday", "2023-06-12 2023-06-15"),
    "between 3 and 9 May": ("between 3 and 9 May", "2023-05-03 2023-05-10"),
    "from 2016 to 2018": ("from 2016 to 2018", "2016-01-01 2019-01-01"),
    "from November to March": ("from November to March", "2022-11-01 2023-04-01"),
    "the past three months": ("past three months", "2023-03-14 2023-06-15"),
    "early this month": ("early this month", "2023-06-01 2023-06-16"),
    "mid-November": ("mid-November", "2022-11-10 2022-11-21"),
    "in 2008": ("2008", "2008-01-01 2009-01-01"),
    "rest of the year": ("rest of the year", "2023-06-14 2024-01-01"),
    "more than two weeks ago": ("more than two weeks ago", "open 2023-05-31"),
}


VAGUE = {
    "two years ago": ("two years ago", "2021-01-01 2022-01-01", "year"),
    "3 months ago": ("3 months ago", "2023-03-01 2023-04-01", "month"),
    "a week ago": ("a week ago", "2023-06-05 2023-06-12", "week"),
    "four days ago": ("four days ago", "2023-06-10 2023-06-11", "day"),
}

TIMES = {
    "between 3 and 8 yesterday": ("between 3 and 8 yesterday", "2023-06-13T15:00 2023-06-13T20:00"),
    "yesterday at 5pm": ("yesterday at 5pm", "2023-06-13T17:00 2023-06-13T18:00"),
    "last night": ("last night", "2023-06-13T20:00 2023-06-14"),
    "this morning at half past nine": ("this morning at half past nine", "2023-06-14T09:30 2023-06-14T09:31"),
    "3 hours ago": ("3 hours ago", "2023-06-14T12:30 2023-06-14T13:30"),
    "on 3 May 2021 from 9:30 to 11am": ("3 May 2021 from 9:30 to 11am", "2021-05-03T09:30 2021-05-03T11:00"),
    "2021-05-03T10:15:00+02:00": ("2021-05-03T10:15:00+02:00", "2021-05-03T08:15 2021-05-03T08:15"),
    "today before 4pm": ("today before 4pm", "open 2023-06-14T16:00"),
}


@pytest.mark.parametrize("text", sorted(DAYS))
def test_days(text: str) -> None:
    span = only(text)
    assert (span.text, shown(span)) == DAYS[text]
    assert span.kind == "date"
    assert span.precision == "day"


@pytest.mark.parametrize("text", sorted(RANGES))
def test_ranges(text: str) -> None:
    span = only(text)
    assert (span.text, shown(span)) == RANGES[text]
    assert span.kind == "range"


@pytest.mark.parametrize("text", sorted(VAGUE))
def test_distances_are_as_precise_as_their_unit(text: str) -> None:
    span = only(text)
    assert (span.text, shown(span), span.precision) == VAGUE[text]


@pytest.mark.parametrize("text", sorted(TIMES))
def test_times(text: str) -> None:
    span = only(text)
    assert (span.text, shown(span)) == TIMES[text]
    assert span.kind in ("datetime", "datetimerange")


@pytest.mark.parametrize(
    "text",
    [
        "You may not go.",
        "This may or may not be right.",
        "They march on.",
        "April Jones sings.",
        "I sat down in the sun.",
        "Do not fall.",
        "It costs 2000 dollars.",
        "Call +1 206-555-1212 now-ish? No: 138-2010-2015.",
        "a 4:3 screen, a 1:1 talk",
        "version 3.2.1 of 10.0.0.1",
        "There are two to four people.",
        "Good morning, have a nice day!",
        "second to none",
        "Add 1/2 cup of milk; we are open 24/7.",
        "The 9:16 aspect ratio of the P65QX-H1 and the T2P448",
        "vases from the 5th century BCE",
        "at 2.49% APR for you",
        "a sun-bleached chair",
        "Blade Runner 2049",
        "shift to 2nd or 3rd gear",
        "",
    ],
)
def test_no_date(text: str) -> None:
    assert [span.text for span in read_dates(text, NOW) if span.text != "now"] == []


def test_modifiers() -> None:
    found = {
        text: only(text).modifier
        for text in ("since 2019", "around 5 May 2020", "by June", "less than 3 days ago", "late 2019")
    }
    assert found == {
        "since 2019": "since",
        "around 5 May 2020": "around",
        "by June": "before",
        "less than 3 days ago": "less_than",
        "late 2019": "end",
    }


def test_durations_and_recurring_have_no_window() -> None:
    span = only("it took 3 hours 30 minutes")
    assert (span.kind, span.seconds, span.window) == ("duration", 12600, None)
    span = only("we run every other Friday")
    assert (span.kind, span.text, span.window) == ("recurring", "every other Friday", None)


def test_the_preference_can_be_turned_round() -> None:
    assert shown(only("in November", prefer="future")) == "2023-11-01 2023-12-01"
    assert shown(only("on Friday", prefer="future")) == "2023-06-16 2023-06-17"
    assert [value.start and value.start.day for value in only("on Friday").values] == [9, 16]


def test_options() -> None:
    assert shown(only("on 3/4/2021")) == "2021-03-04 2021-03-05"
    assert shown(only("on 3/4/2021", options=DateOptions(day_first=True))) == "2021-04-03 2021-04-04"
    assert shown(only("on 13/4/2021")) == "2021-04-13 2021-04-14"
    assert (
        shown(only("last summer", options=DateOptions(southern_hemisphere=True))) == "2022-12-01 2023-03-01"
    )
    october = DateOptions(fiscal_year_start=10)
    assert shown(only("FY2023", options=october)) == "2022-10-01 2023-10-01"
    assert shown(only("Q1 FY23", options=october)) == "2022-10-01 2023-01-01"
    assert shown(only("FY23 Q2", options=october)) == "2023-01-01 2023-04-01"
    assert shown(only("fiscal Q3 2022", options=october)) == "2022-04-01 2022-07-01"
    assert shown(only("Q3 2022", options=october)) == "2022-07-01 2022-10-01"


def test_a_day_that_does_not_exist_has_no_window() -> None:
    span = only("on February 30")
    assert span.window is None
    assert span.values == ()


def test_several_expressions_in_order() -> None:
    spans = read_dates(
        "From 2016 I lived in Rome, and last May I moved, two weeks after my 30th birthday.", NOW
    )
    assert [span.text for span in spans] == ["2016", "last May", "two weeks"]
