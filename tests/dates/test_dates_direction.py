"""Which way a sentence looks decides which of several dates is meant; said on Wednesday 13 May 2026 at 10."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.dates import StatedTime, read_dates, stated_time

SAID = datetime(2026, 5, 13, 10, tzinfo=UTC)
SENTENCES = tomllib.loads((Path(__file__).parent / "direction.toml").read_text(encoding="utf-8"))


def time_of(text: str) -> StatedTime:
    stated = stated_time(text, SAID)
    assert stated is not None
    return stated


@pytest.mark.parametrize("text", SENTENCES["back"])
def test_what_happened_lies_back(text: str) -> None:
    stated = time_of(text)
    edge = stated.window.start or stated.window.end
    assert edge is not None
    assert edge <= SAID
    assert stated.sure
    assert not stated.planned


@pytest.mark.parametrize("text", SENTENCES["ahead"])
def test_what_is_to_come_lies_ahead(text: str) -> None:
    stated = time_of(text)
    edge = stated.window.end or stated.window.start
    assert edge is not None
    assert edge > SAID
    assert stated.sure
    assert stated.planned


@pytest.mark.parametrize("text", SENTENCES["no_date"])
def test_habits_lengths_names_and_numbers_are_no_dates(text: str) -> None:
    stated = stated_time(text, SAID)
    assert stated is None or not stated.sure


@pytest.mark.parametrize("text", SENTENCES["unsure"])
def test_without_a_sign_the_nearest_date_is_taken_and_marked(text: str) -> None:
    stated = time_of(text)
    assert not stated.sure
    readings = [value.window.start for value in stated.span.values]
    distances = [abs(start - SAID) for start in readings if start is not None]
    assert stated.window.start is not None
    assert abs(stated.window.start - SAID) == min(distances)


QUESTIONS = {
    "When do I fly on Friday?": "2026-05-15",
    "What happened on Friday?": "2026-05-08",
    "Who did I meet in March?": "2026-03-01",
    "What is due in June?": "2026-06-01",
    "Who sat next to me in June?": "2025-06-01",
    "Anna in July": "2025-07-01",
}


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_a_question_is_read_by_its_sentence_and_back_where_that_says_nothing(question: str) -> None:
    (span,) = read_dates(question, SAID, prefer="sentence")
    assert span.window is not None
    assert span.window.start is not None
    assert f"{span.window.start:%Y-%m-%d}" == QUESTIONS[question]
