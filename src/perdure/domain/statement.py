"""Statements: how a fact that keeps what was said is shown, from its fields."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from perdure.domain.fact import Fact

_ISO = re.compile(r"\b(\d{4})-(\d\d)(?:-(\d\d))?\b")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAY, _HOUR, _MOMENT = timedelta(days=1), timedelta(hours=1), timedelta(microseconds=1)


def is_verbatim(fact: Fact) -> bool:
    """Return whether a fact's text is what its speaker said, word for word."""
    return bool(fact.speaker.strip()) and fact.text == fact.source_text


def render_statement(fact: Fact) -> str:
    """Return a fact as readers see it: when, who, the words, and the dates that they mean in brackets.

    `2026-05-03 Ann: "Jonas and I broke up on Sunday." [Sunday = 2026-05-03]`. A fact without a speaker, or
    worded by a caller or a language model, keeps its text.
    """
    said = iso_day(fact.mentioned_at)
    text = one_line(fact.text)
    if is_verbatim(fact):
        voice = f'{fact.speaker}, asked "{one_line(fact.asked)}"' if fact.asked else fact.speaker
        text = f'{voice}: "{text}"'
    brackets = [f"{words} = {date}" for words, date in fact.dates]
    happened = occurrence(fact)
    if happened and not brackets and happened.removeprefix("until ").split()[0] not in text:
        brackets = [happened]
    if fact.is_planned and happened:
        brackets.append("planned")
    return " ".join(filter(None, (said, text, f"[{'; '.join(brackets)}]" if brackets else "")))


def spell_dates(fact: Fact) -> str:
    """Return a fact's text with each resolved date spelled out behind its words: "on Sunday [3 May 2026]"."""
    pieces, position = [], 0
    for words, date in fact.dates:
        start = fact.text.find(words, position)
        if start >= 0:
            end = start + len(words)
            pieces += [fact.text[position:end], f" [{_ISO.sub(_spelled, date)}]"]
            position = end
    return "".join([*pieces, fact.text[position:]])


def occurrence(fact: Fact) -> str:
    """Return when it surely happened: 2026-04-16 (19:25), 2026-04-01 to 2026-04-30, until 2026-04-30."""
    if fact.has_unsure_date:
        return ""
    start, end = fact.occurred_start, fact.occurred_end
    if start is None:
        return "" if end is None else f"until {iso_day(end - _MOMENT)}"
    end = end or start
    if end - start > _DAY:
        return f"{iso_day(start)} to {iso_day(end - _MOMENT)}"
    is_clock_time = _MOMENT < end - start <= _HOUR
    return f"{start:%Y-%m-%d %H:%M}" if is_clock_time else iso_day(start)


def iso_day(moment: datetime | None) -> str:
    """Return 2024-03-02, or nothing."""
    return f"{moment:%Y-%m-%d}" if moment is not None else ""


def one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def _spelled(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    named = f"{_MONTHS[int(month) - 1]} {year}"
    return f"{int(day)} {named}" if day else named
