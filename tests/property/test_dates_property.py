"""Whatever the text, the reader stays inside its contract."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.dates import (
    DateOptions,
    DateSpan,
    annotate,
    describe_window,
    read_anchors,
    read_dates,
    stated_time,
)
from perdure.dates.lexicon import english, known_languages, word_set

_LEX = english()
_WORDS = [
    *sorted(
        {
            *_LEX.months,
            *_LEX.weekdays,
            *_LEX.plural_weekdays,
            *_LEX.units,
            *_LEX.seasons,
            *_LEX.cardinals,
            *_LEX.ordinals,
            *_LEX.decades,
            *_LEX.shifts,
            *_LEX.parts_of_day,
            *_LEX.meals,
            *_LEX.holidays,
        }
    ),
    *sorted(
        word_set(
            "the of in on at from to between and until before after since by around ago later now am pm a.m. p.m. every each a an"
        )
    ),
    *sorted(
        word_set(
            "yesterday today tomorrow tonight week's 's , . : - / ( ) ' ~ > = first last half quarter past q1 h2 fy18 w10 90s 1990s"
        )
    ),
    *sorted(
        word_set(
            "0 1 2 3 5 7 9 11 12 13 24 29 30 31 32 99 0730 1140 1900 2016 2024 9999 0001 10000 99999999 20180923 1/2 3/4/2016"
        )
    ),
    *sorted(
        word_set(
            "2016-02-30 2016-13-01 24:00 25:61 12:30 12:30:59 T10:00 Z 3pm 21st 22nd ½ rest end early late mid more less than within"
        )
    ),
]
_ZONES = [
    UTC,
    ZoneInfo("Europe/Berlin"),
    ZoneInfo("America/New_York"),
    ZoneInfo("Pacific/Apia"),
    timezone(timedelta(hours=-11)),
]
_TENSES = word_set(
    "was will is did had have been going booked due see since we they met flies flying call until said not"
)
_REFERENCES = st.datetimes(
    min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59), timezones=st.sampled_from(_ZONES)
)
_PHRASES = st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join)
_TEXTS = st.one_of(
    st.text(max_size=80),
    _PHRASES,
    st.lists(st.sampled_from(_WORDS), max_size=6).map("".join),
    st.text(alphabet="0123456789/-:.,apm thTZ年月日前後昨今", max_size=25),
)
_SENTENCES = st.one_of(
    _TEXTS,
    st.lists(st.sampled_from([*_WORDS, *sorted(_TENSES), '"', "'s", "n't"]), max_size=12).map(" ".join),
)


def _check(text: str, spans: list[DateSpan]) -> None:
    position = 0
    for span in spans:
        assert position <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == span.text
        position = span.end
        windows = [value.window for value in span.values] + ([span.window] if span.window is not None else [])
        for window in windows:
            for moment in (window.start, window.end):
                assert moment is None or moment.tzinfo is not None
            if window.start is not None and window.end is not None:
                assert window.start <= window.end
        for value in span.values:
            assert value.start is None or value.start.tzinfo is not None
            assert value.end is None or value.end.tzinfo is not None


@settings(max_examples=60, deadline=None)
@given(
    text=_TEXTS,
    reference=_REFERENCES,
    prefer=st.sampled_from(["past", "future", "sentence"]),
    day_first=st.sampled_from([None, True, False]),
)
def test_spans_lie_in_order_and_windows_are_aware(
    text: str, reference: datetime, prefer: str, day_first: bool | None
) -> None:
    options = DateOptions(
        day_first=day_first, southern_hemisphere=bool(day_first), fiscal_year_start=10 if day_first else 1
    )
    _check(text, read_dates(text, reference, prefer=prefer, options=options))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(text=_TEXTS, reference=_REFERENCES, language=st.sampled_from(sorted(known_languages())))
def test_every_language_keeps_the_contract(text: str, reference: datetime, language: str) -> None:
    _check(text, read_dates(text, reference, language=language))


@settings(max_examples=60, deadline=None)
@given(text=_SENTENCES, reference=_REFERENCES)
def test_a_statement_has_at_most_one_time_that_can_be_described(text: str, reference: datetime) -> None:
    stated = stated_time(text, reference)
    if stated is not None:
        assert describe_window(stated.window)
        assert text[stated.span.start : stated.span.end] == stated.span.text
        assert not (stated.planned and stated.window.end is not None and stated.window.end <= reference)


@settings(max_examples=60, deadline=None)
@given(text=_SENTENCES, reference=_REFERENCES)
def test_without_its_brackets_an_annotated_text_is_the_text(text: str, reference: datetime) -> None:
    annotated = annotate(text, reference)
    if "[" not in text:
        assert re.sub(r" \[[^\]]*\]", "", annotated) == text
    for quotation in re.findall(r'"[^"\n]{1,600}"', text):
        assert quotation in annotated


@settings(max_examples=60, deadline=None)
@given(text=st.one_of(st.text(max_size=80), _PHRASES.map(lambda phrase: "before " + phrase)))
def test_anchors_lie_in_the_text(text: str) -> None:
    for anchor in read_anchors(text):
        assert text[anchor.start : anchor.end] == anchor.text
        assert anchor.text.strip()


@pytest.mark.parametrize(
    "piece",
    [
        "1/",
        "1-1-",
        "the first of ",
        "last ",
        "3 days before ",
        "from ",
        "may ",
        "twenty ",
        "'",
        "12:",
        "between 1 and ",
    ],
)
def test_repetitions_end(piece: str) -> None:
    text = piece * 3000
    _check(text, read_dates(text, datetime(2020, 1, 1)))
